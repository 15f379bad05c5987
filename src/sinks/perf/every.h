/* SPDX-License-Identifier: MIT */
/* How large the parts of a recording are: 1G, 512M, 60s, 5m. */
#ifndef SONDE_SINKS_PERF_EVERY_H
#define SONDE_SINKS_PERF_EVERY_H

#include <stdbool.h>
#include <stdint.h>

struct every {
	uint64_t bytes, ns; /* one of them; 0: the other */
};

/* -EINVAL with a message. */
int every_parse(const char *text, struct every *ret);

#endif
