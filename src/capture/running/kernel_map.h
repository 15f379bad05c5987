/* SPDX-License-Identifier: MIT */
/*
 * The address range of the running kernel's text, and its symbols for the recording, from at most
 * one read of /proc/kallsyms.
 */
#ifndef SONDE_CAPTURE_RUNNING_KERNEL_MAP_H
#define SONDE_CAPTURE_RUNNING_KERNEL_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"

struct kernel_map {
	const char *reference;   /* "_text" or "_stext" */
	uint64_t reference_addr; /* 0 if addresses are hidden from us (kptr_restrict) */
	uint64_t start, end;     /* runtime addresses of the text */
	/* kallsyms lines of functions, one zstd frame; owned; may be empty */
	struct outbuf symbols_zstd;
};

/* Without symbols reading stops as soon as the end of the text is known. */
int kernel_map_read(struct kernel_map *ret, bool with_symbols);
/* Appends the kallsyms lines. */
int kernel_map_unpack(const struct kernel_map *k, struct outbuf *to);
void kernel_map_done(struct kernel_map *k);

#endif
