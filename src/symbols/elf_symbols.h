/* SPDX-License-Identifier: MIT */
/*
 * Symbols out of ELF files, as offsets of the mapped file, by perf's rules of what counts as one: functions, data, and
 * labels in sections of code or data.
 */
#ifndef SONDE_SYMBOLS_ELF_SYMBOLS_H
#define SONDE_SYMBOLS_ELF_SYMBOLS_H

#include "formats/elf/file.h"
#include "symbols/symbol_set.h"

enum plt_style {
	/* Section .plt only, even if calls go to .plt.sec; no functions chosen at run time. */
	PLT_BY_RELOCATIONS,
	PLT_ALL /* .plt, .plt.sec, .plt.got, as perf 6.12 */
};

bool elf_symbols_has_table(const struct elf_file *f);   /* .symtab with bytes */
bool elf_symbols_has_dynamic(const struct elf_file *f); /* .dynsym with bytes */
/*
 * Adds all symbols of `file`. `code` is the file that was mapped, or the same one: where segments lie is told by it, because
 * files of debug information keep the addresses only.
 */
int elf_symbols_add(struct symbol_set *s, const struct elf_file *file, const struct elf_file *code);
/* Adds names for the entries by which functions of other files are called. */
int elf_symbols_add_plt(struct symbol_set *s, const struct elf_file *code, enum plt_style style);
/* The symbol table that is packed into .gnu_debugdata, as a file of its own; -ENODATA: none. */
int elf_symbols_unpack(struct elf_file **ret, const struct elf_file *f);

#endif
