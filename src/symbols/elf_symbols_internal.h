/* SPDX-License-Identifier: MIT */
/* A table of symbols with its names, in memory. */
#ifndef SONDE_SYMBOLS_ELF_SYMBOLS_INTERNAL_H
#define SONDE_SYMBOLS_ELF_SYMBOLS_INTERNAL_H

#include "symbols/elf_symbols.h"

struct symbol_table {
	uint8_t *entries; /* malloc'd; owned by the caller */
	size_t n, entry_bytes;
	const char *names; /* owned by the set; NUL-terminated */
	uint64_t names_len;
};

int elf_symbols_load(struct symbol_set *set, const struct elf_file *f, const struct elf_section *s,
		     struct symbol_table *ret);
Elf64_Sym elf_symbols_at(const struct elf_file *f, const struct symbol_table *t, size_t i);

#endif
