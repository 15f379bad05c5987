/* SPDX-License-Identifier: MIT */
/* The size of the parts of a recording: 1G, 512M, 60s, 5m. */
#ifndef SONDE_SINKS_PERF_PART_SIZE_H
#define SONDE_SINKS_PERF_PART_SIZE_H

#include <stdbool.h>
#include <stdint.h>

struct part_size {
	uint64_t bytes, ns; /* one is set; the other is 0 */
};

/* -EINVAL with a message. */
int part_size_parse(const char *text, struct part_size *ret);

#endif
