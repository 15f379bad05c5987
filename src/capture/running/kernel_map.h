/* SPDX-License-Identifier: MIT */
/* Where the running kernel's text lies, and its symbols for the recording, out of at most one reading of /proc/kallsyms. */
#ifndef SONDE_CAPTURE_RUNNING_KERNEL_MAP_H
#define SONDE_CAPTURE_RUNNING_KERNEL_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"

struct kernel_map {
	const char *reference;   /* "_text" or "_stext" */
	uint64_t reference_addr; /* 0: addresses are hidden from us (kptr_restrict) */
	uint64_t start, end;     /* runtime addresses of the text */
	struct outbuf
		symbols_zstd; /* kallsyms lines of functions, one zstd frame; owned, may be empty */
};

/* Without symbols reading stops where the text's end is known. */
int kernel_map_read(struct kernel_map *ret, bool with_symbols);
void kernel_map_done(struct kernel_map *k);

#endif
