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
/*
 * Calls visit for each of these events, by the name that perf lists, even if the machine does not
 * have it. alias is NULL if it has none. A negative result of visit ends the loop.
 */
int capture_names_each(int (*visit)(void *ctx, uint32_t type, uint64_t config, const char *name,
				    const char *alias),
		       void *ctx);

#endif
