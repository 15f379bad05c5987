/* SPDX-License-Identifier: MIT */
/* Lines of a skeleton, broken at blanks: "a, b,\n\t\tc". */
#ifndef SONDE_CLI_GENERATE_TEXT_H
#define SONDE_CLI_GENERATE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <sonde/sonde.h>

#define WRAPPED_COLUMNS 100

struct wrapped {
	FILE *out;
	size_t column;
	const char *indent; /* indent of continuation lines */
};

void wrapped_put(struct wrapped *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes a blank, or a newline if the next piece would not fit. */
void wrapped_put_blank(struct wrapped *w, size_t next);
/*
 * Writes foreign text inside quotes. Bytes in `escaped` get a backslash; with in_format '%' is
 * doubled.
 */
void wrapped_put_quoted(struct wrapped *w, const char *text, const char *escaped, bool in_format);
/* Writes the names of a field's values: "; flags: 0x1 A, 0x2 B". */
void wrapped_put_values(struct wrapped *w, const struct sonde_schema *sc,
			const struct sonde_define *names, const char *escaped);

#endif
