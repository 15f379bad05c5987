/* SPDX-License-Identifier: MIT */
/*
 * TERM[=VALUE],... between the slashes of an event. Terms about the attr's numbers are applied
 * here. Terms about sampling are kept for capture/setup/, which applies them after the options.
 *
 *	config= config1= config2=   the numbers themselves; numbers are decimal or 0x
 *	period= freq=               like -c and -F, for this event
 *	time=0|1 inherit no-inherit overwrite no-overwrite (=0|1 each)
 *	call-graph= stack-size= max-stack=   "no", or like --call-graph; bytes of the stack; frames
 *	branch_type=                like -j
 *	name=                       the event's name
 *	and the terms that an event source defines in its folders format/ and events/
 */
#ifndef SONDE_CAPTURE_TERMS_H
#define SONDE_CAPTURE_TERMS_H

#include "capture/events.h"

struct pmu;

/*
 * terms: without the slashes. text: the complete event, for messages. pmu: the event source,
 * otherwise NULL. Tracepoints accept fewer terms. Texts that e borrows belong to the list. -EBADR
 * on a mistake.
 */
int event_terms_parse(struct capture_events *l, struct capture_event *e, const struct pmu *pmu,
		      const char *text, const char *terms);

#endif
