/* SPDX-License-Identifier: MIT */
/* -k: the clock that the kernel stamps records with, and what readers need to make times of day of its times. */
#ifndef SONDE_RECORD_CLOCK_H
#define SONDE_RECORD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "record/features.h"

struct record_clock {
	bool is_chosen; /* else it is perf's own clock */
	int32_t id;
};

/* A name as "monotonic", "CLOCK_TAI" or "boot", or a number. -EBADR: there is no such clock; else what the kernel says. */
int record_clock_parse(struct record_clock *ret, const char *text);
/* CLOCKID, the clock's resolution, and CLOCK_DATA, one moment told by it and by the clock of the day. */
int record_clock_add_features(const struct record_clock *c, struct features *f);

#endif
