/* SPDX-License-Identifier: MIT */
/* Counters that the recording read for a thread (record -s), summed by thread and event type. */
#ifndef SONDE_PROFILE_READS_H
#define SONDE_PROFILE_READS_H

#include "model/event.h"
#include "profile/types.h"

/* Adds the counter that a record has; ignores other records. */
int reads_add(struct profile *p, const struct event *ev);
/* See sonde_profile_read_value(). False if there is no such thread or counter. */
bool reads_value(const struct profile *p, uint32_t thread, uint32_t counter,
		 struct sonde_profile_read *ret);
void reads_done(struct profile *p);

#endif
