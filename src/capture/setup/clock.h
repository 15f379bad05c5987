/* SPDX-License-Identifier: MIT */
/* -k: the clock that the kernel stamps records with. */
#ifndef SONDE_CAPTURE_SETUP_CLOCK_H
#define SONDE_CAPTURE_SETUP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct capture_clock {
	bool is_chosen; /* else it is perf's own clock */
	int32_t id;
};

/* A name as "monotonic", "CLOCK_TAI" or "boot", or a number. -EBADR: there is no such clock; else what the kernel says. */
int capture_clock_parse(struct capture_clock *ret, const char *text);

#endif
