/* SPDX-License-Identifier: MIT */
/*
 * Tables of typed columns, filled with events.
 *
 *	struct tables		the tables of a session; which events go where (tables.c)
 *	  struct table		events of one family of schemas
 *	    struct column	type (choose.c), and the rows of the batch being filled (fill.c)
 *	    struct plan		for one schema: where the value of each column is (choose.c)
 *	    struct frames	what the positions in a column of stacks mean (frames.c)
 *
 * Events are collected ("pending") until one has another plan. Then each column takes its values in
 * a loop of its own. A batch that is complete becomes an Arrow array (batch.c).
 */
#ifndef SONDE_COLUMNS_TABLE_H
#define SONDE_COLUMNS_TABLE_H

#include "base/hash.h"
#include "base/vec.h"
#include "columns/dictionary.h"
#include "model/event.h"
#include "recording/recording.h"

enum {
	TABLE_PENDING = RECORDING_EVENTS, /* events of one plan that are added at once */
	TABLE_DEFAULT_ROWS = 65536,
	TABLE_MAX_ROWS = 1 << 28,
	/* A batch with so many bytes of lists is complete. */
	TABLE_LIST_BYTES = 64 << 20,
};

/* What the values of a column are. */
enum column_from {
	COLUMN_TIME,
	COLUMN_CPU,
	COLUMN_PID,
	COLUMN_TID,
	COLUMN_COMM,
	COLUMN_STACK,
	COLUMN_FIELD,
	COLUMN_SAMPLE,
	NR_OWN_COLUMNS = COLUMN_FIELD
};

/* How they are stored. */
enum column_form {
	COLUMN_INT,   /* values: numbers of `format` */
	COLUMN_FLOAT, /* the same */
	COLUMN_DICT,  /* values: int32 codes of `dict` */
	COLUMN_LIST,  /* values: int32 offsets into elems, which are numbers of `format` */
	COLUMN_BYTES, /* the same; elements are bytes */
};

struct column {
	char *name;        /* owned */
	const char *field; /* the name without "f_"; points into name */
	const char *type;  /* its declaration, borrowed; NULL if there is none */
	enum column_from from;
	enum column_form form;
	uint32_t member; /* COLUMN_SAMPLE: index of sample_values */
	/* The type of a number, or of the elements of a list. */
	char format;
	uint8_t width;
	bool is_signed;
	bool is_names;  /* a dictionary of the names of flags and symbols */
	bool is_binary; /* a dictionary of bytes, not of text */

	/* The batch. Bits of validity are 1 up to the room that the batch has. */
	struct shared *values;
	struct shared *validity; /* NULL if no value is null */
	int64_t nulls;
	struct shared *elems;
	size_t nr_elems;
	/* The memory of the last batch, used again if its arrays were released. */
	struct shared *spare_values, *spare_elems;
	struct dictionary dict;
	struct hash64 by_value; /* is_names: number -> code, in events of by_schema */
	const struct sonde_schema *by_schema;
	VEC(int32_t) by_comm; /* COLUMN_COMM: code by text id; -1 if there is none yet */
};

/* The place of a column's value in events of a schema. */
struct plan_field {
	const struct sonde_field *field; /* NULL: all values are null */
	bool is_unfit;                   /* the field has a kind that the column cannot hold */
	bool is_same;                    /* its bytes are the column's, but for their order */
};

struct plan {
	const struct sonde_schema *schema;
	struct table *table;
	struct plan *next;         /* of the same schema, for another table */
	struct plan_field *fields; /* owned; one for each column */
};

struct frames;

struct table {
	const char *name; /* of the schema */
	uint32_t family, flags, schema;
	uint32_t max_rows;
	struct column *columns; /* owned */
	size_t nr_columns;
	bool has_samples, has_lists;
	struct frames *frames; /* owned; NULL: stacks are lists of addresses */

	size_t rows, room; /* of the batch */
	uint64_t all_rows; /* in complete batches */
	uint64_t unfit;

	/* Events that are not yet in the columns; all of pending_plan. */
	const struct plan *pending_plan;
	const struct sonde_event *pending[TABLE_PENDING];
	size_t nr_pending;
};

struct table_batch {
	uint32_t table;
	struct ArrowArray array;
};

struct tables {
	struct recordings *all;
	VEC(struct table *) tables; /* owned */
	/* By schema id: plans, owned; NULL if no table has the schema's events. */
	VEC(struct plan *) plans;
	VEC(struct table_batch) ready; /* complete batches; those before ready_at are taken */
	size_t ready_at;
	struct outbuf scratch; /* text with replaced bytes; addresses of a stack */
	struct outbuf words;   /* names of flags */
};

/* The values of a sample that may be columns. */
struct sample_value {
	const char *name;
	uint64_t bits; /* SAMPLED_*: one of them says that samples have it */
	uint64_t read; /* SAMPLED_READ: the bit of read_format that says so */
	size_t offset; /* in struct sonde_sample */
};
extern const struct sample_value sample_values[];
extern const size_t nr_sample_values;

/* tables.c */
void tables_done(struct tables *t);
void table_done(struct table *t);
/* See sonde_columns_add(). */
int tables_add(struct tables *t, const char *event, const char *fields, uint32_t flags,
	       uint32_t rows);
/* Plans for the schemas that have appeared since the last call. */
int tables_plan(struct tables *t);
/* True if a table has events of the schema. tables_plan() knows it. */
bool tables_need(const struct tables *t, uint32_t schema);
/*
 * Adds events to the tables that need them. They need to be valid only during the call. Complete
 * batches become ready.
 */
int tables_take(struct tables *t, const struct sonde_event *const *events, size_t nr);
/* Makes the rest of each table ready. */
int tables_finish(struct tables *t);
/* Gives the next ready batch. Returns 1, 0 if there is none. */
int tables_next(struct tables *t, uint32_t *ret_table, struct ArrowArray *ret);

/* choose.c */
int choose_columns(struct tables *t, struct table *table, const char *fields);
int choose_plan(struct table *table, const struct sonde_schema *sc, struct plan **ret);
void choose_plan_done(struct plan *p);

/* fill.c: adds the pending events to the columns; the batch has room for it. */
int fill_pending(struct tables *t, struct table *table);

/* batch.c */
int batch_reserve(struct table *table, size_t more);
int batch_flush(struct tables *t, struct table *table, uint32_t nr);
int batch_schema(const struct table *table, const char *clock, struct ArrowSchema *ret);
/* The rows so far, of a table that is never flushed: later rows are not in the array. */
int batch_so_far(struct table *table, struct ArrowArray *ret);
/* Null from now on: makes the bitmap at the first one. Returns 0, -ENOMEM. */
int batch_set_null(struct table *table, struct column *c, size_t row);

#endif
