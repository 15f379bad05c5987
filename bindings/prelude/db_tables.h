/* SPDX-License-Identifier: MIT */
/* The tables of database export: their columns, the cells of a row, and the receiver of rows. */
#ifndef SONDE_PRELUDE_DB_TABLES_H
#define SONDE_PRELUDE_DB_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	PRELUDE_NUMBER, /* 64 bits, signed as in databases */
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
	/* nr_without_ids: number of columns with db_samples_without_ids */
	size_t nr_columns, nr_without_ids;
};
extern const struct prelude_table_form prelude_tables[PRELUDE_NR_TABLES];

struct prelude_blob {
	const void *bytes;
	size_t len;
};
union prelude_cell {
	int64_t number;
	const char *text; /* NUL-terminated, of any encoding; borrowed for the call */
	struct prelude_blob blob;
};

struct prelude_db_options {
	/* one bit per enum prelude_table: the caller takes the table's rows */
	uint32_t tables;
	bool calls, callchains; /* perf_db_export_calls, perf_db_export_callchains */
	/*
	 * Takes a row. If the result is negative, the call that made the row ends and returns it.
	 */
	int (*row)(void *ctx, enum prelude_table table, const union prelude_cell *cells, size_t nr);
	void *ctx;
};

#endif
