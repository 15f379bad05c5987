/* SPDX-License-Identifier: MIT */
/*
 * Source lines and inlined functions, from the DWARF of the file at a dso's debug path (and of the
 * file that shares its strings, .gnu_debugaltlink). A file is opened on first use and kept as long
 * as the table. Results are also kept.
 *
 * The functions at an address, innermost first:
 *
 *	inl    wl.c:6     is_inlined: the place executed inside inl()
 *	mid    wl.c:7     the place in mid() where inl() was inlined
 *
 * The last one is the function that was called.
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
	bool no_follow; /* opens no source file */
};

int lines_table_new(struct lines_table **ret, const struct lines_table_options *opts);
void lines_table_free(struct lines_table *t); /* NULL is fine */
/*
 * The places at a file address (see dso.h). Returns their number; 0 if unknown. *ret is borrowed as
 * long as the table. For a frame that is not the innermost of its call chain, pass the address of
 * the call: the return address - 1.
 */
size_t lines_at(struct lines_table *t, struct dso *d, uint64_t file_addr,
		const struct line_place **ret);
/*
 * Line `line` of a source file, without its newline; false if it is not available. Opens the file,
 * so call it only if the user wants source code. *ret is borrowed until the next call.
 */
bool lines_source(struct lines_table *t, const char *file, uint32_t line, const char **ret,
		  size_t *ret_len);

#endif
