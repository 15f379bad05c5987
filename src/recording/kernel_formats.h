/* SPDX-License-Identifier: MIT */
/*
 * The running kernel's descriptions of tracepoints, for recordings that have none of their own
 * (kernel-formats=1). The kernel assigns a tracepoint's number when it boots. So the number is
 * trusted only if the name in the recording matches, too. Without a recorded name it is trusted
 * unless the recorded kernel is known to have another release than the running one.
 */
#ifndef SONDE_KERNEL_FORMATS_H
#define SONDE_KERNEL_FORMATS_H

#include "base/bytes.h"
#include "capture/tracefs.h"
#include "sources/source.h"

struct kernel_formats {
	struct tracefs tracefs;
	bool is_open;
	const char *folder; /* read in place of tracefs; borrowed, NULL for the running kernel */
	char *text;         /* owned; the last format found */
	char system[256];   /* the system of the last format found */
};

/* ctx: struct kernel_formats; see source_options.find_format. */
int kernel_formats_find(void *ctx, const struct source_tracepoint *wanted, const char **ret_system,
			struct bytes *ret);
/* See source_options.find_event. The first system that has the event counts. */
int kernel_formats_find_event(void *ctx, const char *event, const char **ret_system,
			      struct bytes *ret);
void kernel_formats_done(struct kernel_formats *k);

#endif
