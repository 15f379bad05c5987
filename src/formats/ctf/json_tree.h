/* SPDX-License-Identifier: MIT */
/* A JSON text as a tree in an arena, for metadata of CTF 2, whose members come in any order. */
#ifndef SONDE_FORMATS_CTF_JSON_TREE_H
#define SONDE_FORMATS_CTF_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { JSON_MOST_DEPTH = 256, JSON_MOST_VALUES = 1 << 22 };

enum json_kind {
	JSON_NULL,
	JSON_BOOL,
	JSON_INTEGER,
	JSON_REAL, /* a number that is no integer of 64 bits */
	JSON_TEXT,
	JSON_ARRAY,
	JSON_OBJECT
};

struct json_value {
	enum json_kind kind;
	bool is_true, is_negative;
	uint64_t number;                 /* INTEGER: the two's complement if negative */
	const char *text;                /* TEXT */
	const char *name;                /* of a member */
	const char *at;                  /* its place in the text */
	struct json_value *first, *next; /* elements or members */
	uint32_t nr;
};

struct json_tree {
	struct arena *arena;
	const char *at, *end;
	const char *mistake; /* what was expected at `at` */
	unsigned depth;
	uint32_t nr_values;
};

/* Reads one value. NULL with a mistake, or without one if memory ran out. */
struct json_value *json_tree_read(struct json_tree *t);
/* A member of an object; NULL if there is none. */
const struct json_value *json_member(const struct json_value *v, const char *name);

#endif
