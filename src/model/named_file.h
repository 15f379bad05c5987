/* SPDX-License-Identifier: MIT */
/* Functions of a file as the recording names them: what its recorder found in the recorded file. */
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
	 * The file's own: addr - first_addr + first_off is an offset of the file; in a kernel
	 * module's file, an offset of its memory.
	 */
	NAMED_BY_OFFSET,
	/* The file's own: first_addr is where the mapping begins. */
	NAMED_BY_MAP,
	/* The address space: a process's, or the kernel's. */
	NAMED_BY_MEMORY
};

struct named_file {
	const char *path; /* as its mappings have it */
	enum named_addresses addresses;
	uint64_t first_addr, first_off;
	const struct named_symbol *symbols; /* ascending */
	size_t nr;
};

/* The function that holds an address, the one that begins last; NULL if none does. */
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
