/* SPDX-License-Identifier: MIT */
/* The options that request output for programs. docs/formats/lists-json.md describes the format. */
#ifndef SONDE_CLI_OUTPUT_FORMAT_H
#define SONDE_CLI_OUTPUT_FORMAT_H

#include "cli.h"

struct output_format {
	const char *format; /* NULL for text */
	bool json;
};

/*
 * Options of a command whose values are a struct s with a member m of type struct output_format.
 * page is the manual page of the command's JSON.
 */
/* clang-format off */
#define FORMAT_OPTIONS(s, m, page) \
	OPT_OUR_TEXT(0, "format", "text|json", s, m.format, \
		"text: the default; json: one JSON object, for programs: " page), \
	OPT_OUR_FLAG('j', "json", s, m.json, "the same as --format json")
/* clang-format on */

/* Returns 0 and sets *ret_json, or returns a status after reporting an unknown format. */
int output_format_check(const struct cli *cli, const char *command, const struct output_format *f,
			bool *ret_json);

#endif
