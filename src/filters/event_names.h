/* SPDX-License-Identifier: MIT */
/*
 * A comma-separated list of event names; commas inside slashes, and inside the brackets of a
 * pair, belong to a name. A name may be a pattern (*, ?, []). A tracepoint may be named without its
 * system, another event without its modifiers:
 *
 *	sched_switch,irq:*,cycles,cpu/event=0x3c,umask=0x0/,pair(sys_enter,sys_exit)
 */
#ifndef SONDE_FILTERS_EVENT_NAMES_H
#define SONDE_FILTERS_EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct event_names {
	/* owned, NULL-terminated; NULL if no list was given: it contains everything */
	char **names;
	size_t nr;
};

/* The length of the first name of a list; 0 if it is empty. */
size_t event_names_length(const char *list);
/* -ENOMEM. -EINVAL for a name without a letter. */
int event_names_parse(const char *text, struct event_names *ret);
void event_names_done(struct event_names *l);
/* True if a name in the list matches an event of this name. */
bool event_names_match(const char *listed, const char *name, bool is_tracepoint);
bool event_names_hold(const struct event_names *l, const char *name, bool is_tracepoint);

#endif
