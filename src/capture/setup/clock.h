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
 * Reads a name such as "monotonic", "CLOCK_TAI" or "boot", or a number. Returns 0 on success,
 * -EBADR if there is no such clock, or the negative errno with which the kernel refused it.
 */
int capture_clock_parse(struct capture_clock *ret, const char *text);

#endif
