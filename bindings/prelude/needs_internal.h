/* SPDX-License-Identifier: MIT */
/* For the files of needs.h. */
#ifndef SONDE_PRELUDE_NEEDS_INTERNAL_H
#define SONDE_PRELUDE_NEEDS_INTERNAL_H

#include "needs.h"
#include "texts.h"

/* A handler or an aggregation. */
struct needs_user {
	char *place, *condition; /* owned; condition is NULL if there is none */
	struct texts events, fields, keys;
	bool is_handler, has_callchain;
};

/* An event type, and what its fields may be called. */
struct needs_type {
	char *name; /* owned */
	struct texts fields;
	uint64_t sampled; /* by bit of prelude_sampled */
	int code;         /* of a tracepoint of this machine: 0 or a negative errno */
	bool is_pair;
};

struct needs_types {
	struct needs_type **v; /* owned, and so are the types */
	size_t n;
};

struct prelude_needs {
	struct texts own, given;
	struct needs_user *users; /* owned */
	size_t nr_users;
	struct needs_types learnt, formats; /* formats: tracepoints and pairs that were asked for */
	char **tracepoints;                 /* owned; NULL if they were not needed so far */
	struct texts lines, left_out;       /* left_out: keys of what lines report */
	size_t next_line;                   /* of lines */
	char *text;                         /* owned */
	bool has_lost;
};

/* Values of every event in conditions, and keys of aggregations that are no fields. */
extern const char *const needs_values[], *const needs_own_keys[];

/* names ends with NULL. */
static inline bool needs_is_one_of(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

/* needs.c */

/* Fields that a handler or an aggregation asks events for. */
int needs_asked(const struct needs_user *u, struct texts *ret);
/* What the comparisons of a condition are about; nothing without one. */
int needs_condition_fields(const char *condition, struct texts *ret);

/* needs_types.c */

void needs_types_done(struct needs_types *types);
/* The type of a tracepoint of this machine; without fields if it has none. NULL: no memory. */
struct needs_type *needs_format(struct prelude_needs *n, const char *name);
/* The i-th event of a pair; NULL if there is none, or no memory. free() frees it. */
char *needs_part(const char *pair, size_t i);
/*
 * The types of a name or pattern, borrowed; none if their fields are unknown. free() frees the
 * array, also after a failure.
 */
int needs_types_of(struct prelude_needs *n, const char *pattern, struct needs_types *ret);
bool needs_has(const struct prelude_needs *n, const struct needs_type *t, const char *field);
/* Fills n->tracepoints. */
int needs_list_tracepoints(struct prelude_needs *n);

#endif
