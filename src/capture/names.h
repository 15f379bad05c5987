/* SPDX-License-Identifier: MIT */
/* Events that need no event source in sysfs: software, hardware, caches, raw. */
#ifndef SONDE_CAPTURE_NAMES_H
#define SONDE_CAPTURE_NAMES_H

#include <stdint.h>

#include "base/near.h"

/*
 * Type and config of "cs", "L1-dcache-load-misses", "r1a8". -ENOENT (no message) for a name of
 * another kind.
 */
int capture_name_lookup(const char *name, uint32_t *ret_type, uint64_t *ret_config);
/* Offers all these names to `near`. */
void capture_names_near(struct near *near);
/* One of these events, by the name that perf lists. */
struct capture_name {
	uint32_t type;
	uint64_t config;
	const char *name, *alias; /* alias is NULL if it has none */
	const char *description;  /* a sentence */
};

/*
 * Calls visit for each of these events, even if the machine does not have it. Texts are borrowed
 * for the call. A negative result of visit ends the loop.
 */
int capture_names_each(int (*visit)(void *ctx, const struct capture_name *name), void *ctx);

#endif
