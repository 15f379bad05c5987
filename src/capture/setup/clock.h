/* SPDX-License-Identifier: MIT */
/* -k: the clock of the time stamps in records. */
#ifndef SONDE_CAPTURE_SETUP_CLOCK_H
#define SONDE_CAPTURE_SETUP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct capture_clock {
	bool is_chosen; /* otherwise perf's own clock */
	int32_t id;
};

/*
 * A name such as "monotonic", "CLOCK_TAI" or "boot", or a number. -EBADR if there is no such clock,
 * or the kernel's error.
 */
int capture_clock_parse(struct capture_clock *ret, const char *text);

#endif
