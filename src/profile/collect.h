/* SPDX-License-Identifier: MIT */
/* The pass: samples become counts of cells. */
#ifndef SONDE_PROFILE_COLLECT_H
#define SONDE_PROFILE_COLLECT_H

#include "profile/types.h"
#include "model/event.h"

/* Adds a sample. 1; 0 the event is none. */
int collect_add(struct profile *p, const struct event *ev);

#endif
