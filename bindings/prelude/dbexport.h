/* SPDX-License-Identifier: MIT */
/*
 * Database export: what perf tells scripts that set perf_db_export_mode. Events become rows of tables; each row is told once,
 * before another one refers to it, with an id of its own, counted from 1 in each table.
 *
 *	struct prelude_db_options opts = { .tables = bits, .row = call_handler, .ctx = me };
 *
 *	prelude_db_new(&db, session, &opts);
 *	prelude_db_begin(db);                    the rows that are always the same
 *	prelude_db_event(db, ev);                for each event
 *	prelude_db_end(db);                      what is open still
 *
 * What is remembered grows with the number of tasks, names, files, symbols and call paths, not with that of events.
 */
#ifndef SONDE_PRELUDE_DBEXPORT_H
#define SONDE_PRELUDE_DBEXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sonde/sonde.h"

enum prelude_table {
	PRELUDE_EVSELS,
	PRELUDE_MACHINES,
	PRELUDE_THREADS,
	PRELUDE_COMMS,
	PRELUDE_COMM_THREADS,
	PRELUDE_DSOS,
	PRELUDE_SYMBOLS,
	PRELUDE_BRANCH_TYPES,
	PRELUDE_SAMPLES,
	PRELUDE_CALL_PATHS,
	PRELUDE_CALL_RETURNS,
	PRELUDE_CONTEXT_SWITCHES,
	PRELUDE_SYNTH,
	PRELUDE_NR_TABLES
};

enum prelude_column_kind {
	PRELUDE_NUMBER, /* of 64 bits, signed as databases have them */
	PRELUDE_STRING,
	PRELUDE_BLOB
};
struct prelude_column {
	const char *name;
	enum prelude_column_kind kind;
};
#define PRELUDE_MAX_COLUMNS 28

struct prelude_table_form {
	const char *handler; /* "sample_table" */
	struct prelude_column columns[PRELUDE_MAX_COLUMNS];
	size_t nr_columns, nr_columns_6_1;
};
extern const struct prelude_table_form prelude_tables[PRELUDE_NR_TABLES];

struct prelude_blob {
	const void *bytes;
	size_t len;
};
union prelude_cell {
	int64_t number;
	const char *text; /* NUL-terminated, of any encoding; lent during the call */
	struct prelude_blob blob;
};

struct prelude_db_options {
	uint32_t tables;        /* bit per enum prelude_table: somebody takes its rows */
	bool calls, callchains; /* perf_db_export_calls, perf_db_export_callchains */
	/* Takes a row; what it returns below 0 ends the call that made the row, with that code. */
	int (*row)(void *ctx, enum prelude_table table, const union prelude_cell *cells, size_t nr);
	void *ctx;
};

struct prelude_db;

int prelude_db_new(struct prelude_db **ret, struct sonde_session *s,
		   const struct prelude_db_options *opts);
void prelude_db_free(struct prelude_db *db); /* NULL is fine */
int prelude_db_begin(struct prelude_db *db);
/* 1: the event was for the tables; 0: it is not (tracepoints, most records of state); <0 */
int prelude_db_event(struct prelude_db *db, const struct sonde_event *ev);
int prelude_db_end(struct prelude_db *db);

#endif
