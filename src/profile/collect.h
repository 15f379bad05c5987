/* SPDX-License-Identifier: MIT */
/* The pass: adds samples to the counts of cells. */
#ifndef SONDE_PROFILE_COLLECT_H
#define SONDE_PROFILE_COLLECT_H

#include "profile/types.h"
#include "model/event.h"

/* Adds a sample. Returns 1; 0 if the event is not a sample; negative errno on failure. */
int collect_add(struct profile *p, const struct event *ev);

#endif
