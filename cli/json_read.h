/* SPDX-License-Identifier: MIT */
/*
 * Reads JSON text value by value, without building a tree:
 *
 *	struct json_reader r = { .at = text, .end = text + len };
 *	if (json_enter(&r, '{'))
 *		while (json_next_member(&r, key, sizeof(key)))
 *			if (!strcmp(key, "version"))
 *				json_read_number(&r, &version);
 *			else
 *				json_skip(&r);
 *
 * After a mistake each call fails; `mistake` says what was expected, `at` is its place.
 */
#ifndef SONDE_CLI_JSON_READ_H
#define SONDE_CLI_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

struct json_reader {
	const char *at, *end;
	const char *mistake; /* NULL while the text is well formed */
	bool is_first;       /* the next value is the first one of its object or array */
	int depth;           /* of the value that is being skipped */
};

/* Enters an object or an array; open is '{' or '['. False if the value is another one. */
bool json_enter(struct json_reader *r, char open);
/* The next member of an object: its key, truncated to size. False at the end of the object. */
bool json_next_member(struct json_reader *r, char *key, size_t size);
/* Moves to the next element of an array. False at the end of the array. */
bool json_next_element(struct json_reader *r);
/* null is NAN. */
bool json_read_number(struct json_reader *r, double *ret);
/* null is ""; the text is truncated to size. */
bool json_read_string(struct json_reader *r, char *buf, size_t size);
bool json_skip(struct json_reader *r);
/* True if nothing follows. */
bool json_end(struct json_reader *r);

#endif
