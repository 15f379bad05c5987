/* SPDX-License-Identifier: MIT */
/*
 * Source lines and inlined functions, out of the DWARF of the file that a dso's debug path names (and of the file that it
 * shares its strings with, .gnu_debugaltlink). A file is opened when first asked for and kept as long as the table; what
 * was found at an address is kept, too.
 *
 * The functions at an address, innermost first:
 *
 *	inl    wl.c:6     is_inlined: the place executed inside inl()
 *	mid    wl.c:7     the place in mid() that inl() was inlined at; the last one is the function that was called
 *
 * Without DWARF, or in a build without libdw, there is no function and no line.
 */
#ifndef SONDE_SYMBOLS_LINES_H
#define SONDE_SYMBOLS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compat/rules.h"
#include "sonde/sonde.h"
#include "symbols/dso.h"
#include "symbols/line_place.h"

struct lines_table;

struct lines_table_options {
	const struct rules *rules;
	bool demangle;
	bool no_follow; /* no source is opened */
};

int lines_table_new(struct lines_table **ret, const struct lines_table_options *opts);
void lines_table_free(struct lines_table *t); /* NULL is fine */
/*
 * The places at a file address (see dso.h): how many; 0 unknown. *ret is lent as long as the table. For a frame of a
 * call chain that is not its innermost the address to ask for is that of the call: the return address - 1.
 */
size_t lines_at(struct lines_table *t, struct dso *d, uint64_t file_addr,
		const struct line_place **ret);
/*
 * Line `line` of a source file, without its newline; false when it cannot be had. Opens the file, which is done only for
 * those who ask for source code. *ret is lent until the next call.
 */
bool lines_source(struct lines_table *t, const char *file, uint32_t line, const char **ret,
		  size_t *ret_len);

#endif
