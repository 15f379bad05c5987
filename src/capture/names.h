/* SPDX-License-Identifier: MIT */
/* Events that the kernel numbers itself: software, hardware, caches, raw. */
#ifndef SONDE_CAPTURE_NAMES_H
#define SONDE_CAPTURE_NAMES_H

#include <stdint.h>

#include "base/near.h"

/* Type and config of "cs", "L1-dcache-load-misses", "r1a8"; -ENOENT (no message) for a name of another kind. */
int capture_name_lookup(const char *name, uint32_t *ret_type, uint64_t *ret_config);
/* Offers all those names. */
void capture_names_near(struct near *near);
/* Calls visit for each of those events, there or not, by the name that perf lists; alias NULL: has none. visit <0 ends it. */
int capture_names_each(int (*visit)(void *ctx, uint32_t type, uint64_t config, const char *name,
				    const char *alias),
		       void *ctx);

#endif
