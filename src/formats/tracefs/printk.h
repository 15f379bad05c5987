/* SPDX-License-Identifier: MIT */
/*
 * The text of printk_formats: lines `0xADDRESS : "text"`, which give the format string at an
 * address of the kernel.
 */
#ifndef SONDE_FORMATS_TRACEFS_PRINTK_H
#define SONDE_FORMATS_TRACEFS_PRINTK_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

struct printk_format {
	uint64_t addr;
	const char *text; /* escapes resolved */
};

struct printk_formats {
	struct arena arena;
	VEC(struct printk_format) formats; /* ascending */
};

/* Malformed lines are skipped. Fails with -ENOMEM only. */
int printk_formats_read(struct printk_formats *ret, const char *text, size_t len);
/* The format string at an address; NULL if none. */
const char *printk_formats_find(const struct printk_formats *p, uint64_t addr);
void printk_formats_done(struct printk_formats *p);

#endif
