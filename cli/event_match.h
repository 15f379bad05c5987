/* SPDX-License-Identifier: MIT */
/* Lists of events in options, with the rules of the session's key `event`. */
#ifndef SONDE_CLI_EVENT_MATCH_H
#define SONDE_CLI_EVENT_MATCH_H

#include <sonde/sonde.h>

#include <stdbool.h>
#include <stddef.h>

/* The length of the first name of a comma-separated list; commas inside slashes belong to a name.
 */
size_t event_name_length(const char *list);
/*
 * True if a name, which may be a pattern, means an event type. A tracepoint may be named without
 * its system, another event without its modifiers.
 */
bool event_match(const char *name, size_t len, const struct sonde_schema *sc);
/*
 * The first name of a list that matches no event type of the session, with its length; NULL if all
 * do.
 */
const char *event_match_none(const struct sonde_session *s, const char *list, size_t *ret_len);
/* True if a list is NULL or has a name that matches. */
bool event_match_any(const char *list, const struct sonde_schema *sc);

#endif
