/* SPDX-License-Identifier: MIT */
/*
 * What perf 6.1 learns from the addr2line of binutils where DWARF says nothing: the function of the symbol table that
 * begins last before an address, and the file name that a local symbol is under (STT_FILE). perf shows such functions as
 * inlined ones when its own table calls them otherwise.
 */
#ifndef SONDE_SYMBOLS_ELF_LINES_H
#define SONDE_SYMBOLS_ELF_LINES_H

#include "symbols/dso.h"
#include "symbols/line_place.h"

struct elf_lines;

int elf_lines_open(struct elf_lines **ret, struct dso *d);
void elf_lines_close(struct elf_lines *l); /* NULL is fine */
/* The function's symbol and where it begins; NULL: none begins before the address. Lent as long as l. */
const char *elf_lines_symbol(const struct elf_lines *l, uint64_t file_addr, uint64_t *ret_start);
/* Adds what the symbol table knows to places that DWARF left empty. */
void elf_lines_complete(struct elf_lines *l, uint64_t file_addr, struct line_places *places);

#endif
