/* SPDX-License-Identifier: MIT */
/* Further sums over samples: weight=NAME. */
#ifndef SONDE_PROFILE_WEIGHTS_H
#define SONDE_PROFILE_WEIGHTS_H

#include "model/event.h"
#include "profile/types.h"

/* Reads the names in the options. -EINVAL if there are too many. */
int weights_init(struct profile *p);
void weights_done(struct profile *p);
/* To be called before the events of another session. */
void weights_begin(struct profile *p);
/* Adds a sample's values. */
int weights_add(struct profile *p, const struct event *ev, struct profile_counts *to);

#endif
