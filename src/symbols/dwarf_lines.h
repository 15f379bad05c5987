/* SPDX-License-Identifier: MIT */
/*
 * What one file's DWARF says of addresses: source lines, functions, functions inlined into them. Made for being asked for
 * a few addresses of a large file: the ranges of all units are read once, a unit's functions and lines when it is first
 * met, what is inlined into a function when that is first met.
 */
#ifndef SONDE_SYMBOLS_DWARF_LINES_H
#define SONDE_SYMBOLS_DWARF_LINES_H

#include "symbols/dso.h"
#include "symbols/line_place.h"

struct dwarf_lines;

struct elf_lines;

/*
 * -ENODATA, -ENOENT: there is no DWARF. With as_addr2line (the file's symbol table, lent as long as l) the places are those
 * that the addr2line of binutils 2.40 tells, and perf with it:
 *
 * - where DWARF 5 means its file number 1 by not naming any, number 0 (most compilers write the first name twice);
 * - the innermost function, if its language mangles names and DWARF has none that is mangled, is called as the symbol at
 *   the address; from then on always if the symbol begins with it.
 */
int dwarf_lines_open(struct dwarf_lines **ret, struct dso *d, struct elf_lines *as_addr2line);
void dwarf_lines_close(struct dwarf_lines *l); /* NULL is fine */

/*
 * The places at an address, innermost first; none: nothing known. Functions are named as the linker calls them
 * (mangled) where DWARF says how. Names and files are lent as long as l. -ENOMEM only.
 */
int dwarf_lines_find(struct dwarf_lines *l, uint64_t file_addr, struct line_places *ret);

#endif
