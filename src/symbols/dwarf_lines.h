/* SPDX-License-Identifier: MIT */
/*
 * Looks up addresses in one file's DWARF: source lines, functions, functions inlined into them. It
 * is made for a few addresses of a large file. The ranges of all units are read once, a unit's
 * functions and lines on its first use, the functions inlined into a function on its first use.
 */
#ifndef SONDE_SYMBOLS_DWARF_LINES_H
#define SONDE_SYMBOLS_DWARF_LINES_H

#include "symbols/dso.h"
#include "symbols/line_place.h"

struct dwarf_lines;

struct elf_lines;

/*
 * -ENODATA, -ENOENT: there is no DWARF. With as_addr2line (the file's symbol table, borrowed as
 * long as l) the places are those of binutils 2.40's addr2line, which perf reports:
 *
 * - If a line program of DWARF 5 names no file, its file is number 0, not 1 (most compilers write
 *   the first name twice).
 * - If the innermost function's language mangles names and DWARF has no mangled name for it, it
 *   gets the name of the symbol at the address. If that symbol begins at the function's start, the
 *   function keeps the name from then on.
 */
int dwarf_lines_open(struct dwarf_lines **ret, struct dso *d, struct elf_lines *as_addr2line);
void dwarf_lines_close(struct dwarf_lines *l); /* NULL is fine */

/*
 * Finds the places at an address, innermost first; none if nothing is known. Functions have their
 * linker names (mangled) if DWARF contains them. Names and files are borrowed as long as l. Fails
 * with -ENOMEM only.
 */
int dwarf_lines_find(struct dwarf_lines *l, uint64_t file_addr, struct line_places *ret);

#endif
