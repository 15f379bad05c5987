/* SPDX-License-Identifier: MIT */
/* Distinct values of a tracepoint's field: their bytes, and their text as perf shows it. */
#ifndef SONDE_PROFILE_FIELDS_H
#define SONDE_PROFILE_FIELDS_H

#include "model/event.h"
#include "profile/types.h"

/*
 * Finds the index in profile.field_values of an event's value. Events without the field share one
 * index.
 */
int fields_find(struct profile *p, struct profile_column *c, const struct event *ev, uint64_t *ret);
/* The same for a value of another profile. */
int fields_copy(struct profile *p, struct profile_column *c, const struct profile_field_value *from,
		uint64_t *ret);

#endif
