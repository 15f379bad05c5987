/* SPDX-License-Identifier: MIT */
/* Functions of a file as named in the recording: its recorder read them from the file. */
#ifndef SONDE_MODEL_NAMED_FILE_H
#define SONDE_MODEL_NAMED_FILE_H

#include <stddef.h>
#include <stdint.h>

struct named_symbol {
	uint64_t addr; /* see enum named_addresses */
	uint32_t len;  /* bytes, > 0 */
	const char *name;
};

enum named_addresses {
	/*
	 * Addresses of the file: addr - first_addr + first_off is an offset in the file; for a
	 * kernel module, an offset in its memory.
	 */
	NAMED_BY_OFFSET,
	/* Addresses of the file: the mapping begins at first_addr. */
	NAMED_BY_MAP,
	/* Addresses in the address space of a process or of the kernel. */
	NAMED_BY_MEMORY
};

struct named_file {
	const char *path; /* as in its mappings */
	enum named_addresses addresses;
	uint64_t first_addr, first_off;
	const struct named_symbol *symbols; /* ascending */
	size_t nr;
};

/* The function that begins last at or before an address, if it contains it; else NULL. */
static inline const struct named_symbol *named_file_find(const struct named_file *f, uint64_t addr)
{
	size_t lo = 0, hi = f->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->symbols[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && addr - f->symbols[lo - 1].addr < f->symbols[lo - 1].len ? &f->symbols[lo - 1]
									     : NULL;
}

#endif
