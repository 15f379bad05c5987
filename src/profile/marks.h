/* SPDX-License-Identifier: MIT */
/*
 * The samples that a profile marks as filtered, and the functions that its regular expressions
 * match.
 */
#ifndef SONDE_PROFILE_MARKS_H
#define SONDE_PROFILE_MARKS_H

#include "model/event.h"
#include "profile/types.h"

int marks_init(struct profile *p);
void marks_done(struct profile *p);
/* True if comms=, dsos= ... do not choose the sample. `place` is PROFILE_ROOT if unknown. */
bool marks_filtered(const struct profile *p, const struct event *ev, uint32_t place);
/* True if some filter depends on the place. */
bool marks_need_place(const struct profile *p);
/* Sets is_parent and is_ignored of a place by its symbol. */
void marks_match_place(const struct profile *p, struct profile_place *place);

#endif
