/* SPDX-License-Identifier: MIT */
/* How large the parts of a recording are: 1G, 512M, 60s, 5m. */
#ifndef SONDE_SINKS_PERF_PART_SIZE_H
#define SONDE_SINKS_PERF_PART_SIZE_H

#include <stdbool.h>
#include <stdint.h>

struct part_size {
	uint64_t bytes, ns; /* one of them; 0: the other */
};

/* -EINVAL with a message. */
int part_size_parse(const char *text, struct part_size *ret);

#endif
