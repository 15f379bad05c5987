/* SPDX-License-Identifier: MIT */
/*
 * The running kernel's descriptions of tracepoints, for recordings that have none of their own
 * (kernel-formats=1). A tracepoint's number is made when a kernel boots: it counts only together
 * with the name that the recording gives, or, where it gives none, if the recorded kernel is of the
 * running one's release. Never another event's fields.
 */
#ifndef SONDE_KERNEL_FORMATS_H
#define SONDE_KERNEL_FORMATS_H

#include "base/bytes.h"
#include "capture/tracefs.h"
#include "sources/source.h"

struct kernel_formats {
	struct tracefs tracefs;
	bool is_open;
	char *text;       /* owned: of the last format found */
	char system[256]; /* the same */
};

/* ctx: struct kernel_formats; see source_options.find_format. */
int kernel_formats_find(void *ctx, const struct source_tracepoint *wanted, const char **ret_system,
			struct bytes *ret);
void kernel_formats_done(struct kernel_formats *k);

#endif
