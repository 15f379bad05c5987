/* SPDX-License-Identifier: MIT */
/*
 * Symbols of ELF files, as offsets of the mapped file. perf's rules decide what is a symbol:
 * functions, data, and labels in sections of code or data.
 */
#ifndef SONDE_SYMBOLS_ELF_SYMBOLS_H
#define SONDE_SYMBOLS_ELF_SYMBOLS_H

#include "formats/elf/file.h"
#include "symbols/symbol_set.h"

enum plt_style {
	/* Section .plt only, even if calls go to .plt.sec; no functions chosen at run time. */
	PLT_BY_RELOCATIONS,
	PLT_ALL /* .plt, .plt.sec and .plt.got, as in perf 6.12 */
};

bool elf_symbols_has_table(const struct elf_file *f);   /* .symtab with contents */
bool elf_symbols_has_dynamic(const struct elf_file *f); /* .dynsym with contents */
/*
 * Adds all symbols of `file`. `code` is the mapped file, or the same file. Segments are taken from
 * `code`, because debug files keep only their addresses.
 */
int elf_symbols_add(struct symbol_set *s, const struct elf_file *file, const struct elf_file *code);
/* Adds names for the PLT entries, which call functions of other files. */
int elf_symbols_add_plt(struct symbol_set *s, const struct elf_file *code, enum plt_style style);
/* The symbol table in .gnu_debugdata, unpacked, as a file of its own. -ENODATA if there is none. */
int elf_symbols_unpack(struct elf_file **ret, const struct elf_file *f);

#endif
