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
/* Reads a sample's values. They are kept until the next call. */
int weights_read(struct profile *p, const struct event *ev);
/* Adds the values that were read last. */
void weights_add(struct profile *p, uint64_t *to);

#endif
