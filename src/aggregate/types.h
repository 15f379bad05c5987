/* SPDX-License-Identifier: MIT */
/*
 * An aggregation: events counted by keys, with a sum of one of their values, or a histogram.
 *
 *	struct aggregate
 *	  struct aggregate_plan		of one schema: where the value and the keys are (choose.c)
 *	  struct aggregate_store	what was added: keys, sums, buckets (store.c)
 *	    struct aggregate_stacks	distinct call chains (stacks.c)
 *
 *	event --plan--> value, one word for each key (collect.c) --> row of the store
 *	rows.c: the rows in their order; text.c, json.c: the rows as text
 *
 * The pass works on numbers: texts have ids, and call chains are resolved when the rows are asked
 * for.
 */
#ifndef SONDE_AGGREGATE_TYPES_H
#define SONDE_AGGREGATE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/outbuf.h"
#include "base/strpool.h"
#include "base/vec.h"
#include "base/wordset.h"
#include "columns/dictionary.h"
#include "filters/event_names.h"
#include "filters/where/where.h"
#include "model/event.h"
#include "sonde/sonde.h"

struct recordings;

enum {
	AGGREGATE_MAX_KEYS = 8,
	AGGREGATE_DEFAULT_LIMIT = 100000,
	AGGREGATE_MAX_LIMIT = 1 << 28,
	AGGREGATE_MAX_STEPS = 65536, /* buckets of lhist */
	AGGREGATE_SLACK = 1024,      /* further keys in memory, at least */
	AGGREGATE_MIN_CELLS = 1 << 16,
	AGGREGATE_CELLS_PER_KEY = 16,
};

enum aggregate_kind {
	AGGREGATE_COUNT,
	AGGREGATE_SUM,
	AGGREGATE_STATS,
	AGGREGATE_HIST,
	AGGREGATE_LHIST,
	NR_AGGREGATE_KINDS
};

enum aggregate_key_kind {
	KEY_NAME,
	KEY_COMM,
	KEY_PID,
	KEY_TID,
	KEY_CPU,
	KEY_CGROUP,
	KEY_INDEX,
	KEY_KSTACK,
	KEY_USTACK,
	KEY_STACK,
	KEY_FIELD, /* also a value of a sample */
	NR_OWN_KEYS = KEY_FIELD
};

/* The word of a key that was not recorded. For KEY_FIELD every word is a value. */
#define AGGREGATE_NONE ((uint64_t)UINT32_MAX)
/* The row of the keys that were merged. */
#define AGGREGATE_OTHER UINT32_MAX

/* A column of keys. */
struct aggregate_key {
	enum aggregate_key_kind kind;
	char *name; /* owned; as it was given */
	/* KEY_FIELD: the first schema decides whether it is text. */
	bool has_form, is_text, is_unsigned, is_pointer;
};

/* The origin of a number or text: a field, or else a value of a sample. */
struct aggregate_source {
	const struct sonde_field *field; /* NULL: a value of a sample */
	uint32_t member;                 /* index of sample_values */
};

struct aggregate_plan {
	bool is_known, is_chosen;
	bool needs_sample;
	struct where_program *where; /* owned; NULL if there is no expression */
	struct aggregate_source value;
	struct aggregate_source *keys; /* owned; one for each key */
};

struct aggregate_sum {
	uint64_t count;
	int64_t sum, min, max; /* sum: the low 64 bits; the exact one is carry * 2^64 + sum */
	int64_t carry : 56;    /* not 0: the sum is out of range */
	bool has_left : 1;     /* it has been out of range */
};

/* The sum as it is shown: out of range it is at its end. */
static inline int64_t aggregate_shown_sum(const struct aggregate_sum *s)
{
	return !s->carry ? s->sum : s->carry > 0 ? INT64_MAX : INT64_MIN;
}

/* ---- stacks.c -------------------------------------------------------------------------------- */

/* A distinct call chain, or the part of it in the kernel or in user space. */
struct aggregate_stack {
	struct event *event; /* owned; a copy of an event with the chain */
	char *text;          /* owned; "main;leaf"; NULL if it is not resolved */
	uint32_t frames_at, nr_frames;
	uint32_t same; /* the first chain with the same text; valid if there is a text */
};

struct aggregate_stacks {
	struct dictionary dict;          /* stamps of the mappings, and addresses */
	VEC(struct aggregate_stack) all; /* by code of dict */
	VEC(struct sonde_frame) frames;
	VEC(uint64_t) scratch;
	struct hash64 by_text; /* hash of a text -> first chain */
};

/* A zeroed struct is an empty set. */
void stacks_done(struct aggregate_stacks *s);
/* The code of an event's chain; AGGREGATE_NONE if it has none. kind: KSTACK, USTACK or STACK. */
int stacks_put(struct aggregate_stacks *s, const struct event *ev, enum aggregate_key_kind kind,
	       uint64_t *ret);
/* Adds a chain of another set. */
int stacks_move(struct aggregate_stacks *s, struct aggregate_stacks *from, uint32_t code,
		uint64_t *ret);
/* Finds the texts of all chains. Returns 1 if two have the same text, 0 if not, -ENOMEM. */
int stacks_resolve(struct aggregate_stacks *s);

/* ---- store.c --------------------------------------------------------------------------------- */

struct aggregate_store {
	struct wordset keys;
	VEC(struct aggregate_sum) sums; /* by number of a key */
	struct aggregate_sum other;     /* of keys that were merged */
	struct hash64 cells;            /* row << 32 | bucket -> count */
	struct strpool texts;
	struct aggregate_stacks stacks;
};

struct aggregate {
	struct recordings *all; /* borrowed */
	enum aggregate_kind kind;
	uint32_t limit;
	int64_t low, high, step;
	char *events, *field, *by, *where_text; /* owned; NULL if not given */
	char *title;                            /* owned */
	bool is_complete;                       /* all schemas were known at the beginning */
	struct event_names names;
	struct where where;
	bool is_met[WHERE_MAX_TESTS]; /* by test of where: a schema has a value for it */
	struct aggregate_key keys[AGGREGATE_MAX_KEYS];
	unsigned nr_keys;
	VEC(struct aggregate_plan) plans; /* by schema id */

	struct aggregate_store store;
	uint64_t last_words[AGGREGATE_MAX_KEYS];
	uint32_t last_row; /* of last_words; AGGREGATE_OTHER if there is none */
	uint64_t count, unfit, merged;
	uint64_t saturated;         /* sums */
	VEC(struct hash64) cgroups; /* by recording: id -> id of a text */

	/* Made by rows.c. */
	bool is_sorted;
	VEC(uint32_t) order; /* rows of the store; AGGREGATE_OTHER is the last one */
	struct aggregate_sum other;
	uint64_t merged_shown;
	VEC(struct aggregate_cell) shown_cells; /* by row, then by bucket */
	VEC(uint32_t) first_cells; /* by place in order, and one more: index in shown_cells */
	struct sonde_aggregate_value values[AGGREGATE_MAX_KEYS];
	VEC(struct sonde_aggregate_bucket) buckets;
};

struct aggregate_cell {
	uint32_t place; /* in the order of rows */
	int32_t bucket;
	uint64_t count;
};

static inline bool aggregate_has_cells(const struct aggregate *a)
{
	return a->kind >= AGGREGATE_STATS;
}

int store_init(struct aggregate_store *s, unsigned nr_keys);
void store_done(struct aggregate_store *s);
/* Adds a value to a row; AGGREGATE_OTHER is the row of merged keys. */
int store_add_cell(struct aggregate_store *s, uint32_t row, int32_t bucket, uint64_t count);
/* Adds the sums of `from`. Returns true if the sum left its range. */
bool store_merge_sum(struct aggregate_sum *to, const struct aggregate_sum *from);
/* <0, 0, >0: the order of rows by size, the largest first. */
int store_compare_sizes(const struct aggregate *a, const struct aggregate_sum *x,
			const struct aggregate_sum *y);
/* Merges the smallest keys if there are too many keys or buckets. */
int store_shrink(struct aggregate *a);
/* Merges keys whose call chains have the same text. */
int store_join_stacks(struct aggregate *a);

/* ---- buckets.c ------------------------------------------------------------------------------- */

/* The bucket of a value, and the values of a bucket; both ends are inclusive. */
int32_t bucket_of(const struct aggregate *a, int64_t v);
void bucket_range(const struct aggregate *a, int32_t bucket, int64_t *ret_low, int64_t *ret_high);

/* ---- choose.c -------------------------------------------------------------------------------- */

/* Makes the plan of a schema if there is none; fails if an event that was named has no such field.
 */
int choose_plan_schema(struct aggregate *a, const struct sonde_schema *sc);
/* Plans for all schemas; fails if no event can be added. For inputs that know all schemas. */
int choose_all(struct aggregate *a);
void choose_done(struct aggregate *a);

/* ---- collect.c, rows.c ----------------------------------------------------------------------- */

int aggregate_collect(struct aggregate *a, const struct sonde_event *const *events, size_t nr);
/* Sorts the rows if something was added since the last call. Returns their number, <0 on failure.
 */
int aggregate_sort(struct aggregate *a);
/* Returns 1, 0 if there is no such row, <0 on failure. Borrowed until the next call. */
int aggregate_row_at(struct aggregate *a, size_t i, struct sonde_aggregate_row *ret);

/* ---- text.c, json.c -------------------------------------------------------------------------- */

int aggregate_put_text(struct aggregate *a, const struct sonde_aggregate_print_options *o,
		       struct outbuf *out);
int aggregate_put_json(struct aggregate *a, const struct sonde_aggregate_print_options *o,
		       struct outbuf *out);

#endif
