/* SPDX-License-Identifier: MIT */
/*
 * The results that perf 6.1 gets from binutils' addr2line if DWARF has no answer: the function in
 * the symbol table that begins last before an address, and the file name of a local symbol
 * (STT_FILE). perf prints such functions as inlined if its own table has another name for them.
 */
#ifndef SONDE_SYMBOLS_ELF_LINES_H
#define SONDE_SYMBOLS_ELF_LINES_H

#include "symbols/dso.h"
#include "symbols/line_place.h"

struct elf_lines;

int elf_lines_open(struct elf_lines **ret, struct dso *d);
void elf_lines_close(struct elf_lines *l); /* NULL is fine */
/*
 * The function's symbol and its start. NULL if none begins before the address. Borrowed as long as
 * l.
 */
const char *elf_lines_symbol(const struct elf_lines *l, uint64_t file_addr, uint64_t *ret_start);
/* Fills places that DWARF left empty from the symbol table. */
void elf_lines_complete(struct elf_lines *l, uint64_t file_addr, struct line_places *places);

#endif
