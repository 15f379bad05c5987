/* SPDX-License-Identifier: MIT */
/* The last names of threads. */
#ifndef SONDE_PROFILE_LAST_COMMS_H
#define SONDE_PROFILE_LAST_COMMS_H

#include <stdint.h>

struct profile;
struct recordings;

/* Called when a session has been read completely. */
int last_comms_note(struct profile *p, const struct recordings *all);
/*
 * The width that a row gives to the column of comm: under perf's rule the length of its thread's
 * last name, even if the row's own name is longer. 0 if there is no such rule.
 */
uint32_t last_comms_width(const struct profile *p, uint32_t row);

#endif
