/* SPDX-License-Identifier: MIT */
/*
 * Tables written as files: one file, or a folder with a file for each table. They are written under
 * other names next to their place and get their names when all of them are complete.
 *
 *	struct table_files *t;
 *
 *	table_files_new(&t, &options);
 *	table_files_open(t, 2);
 *	table_files_add(t, "sched:sched_switch", &schema);
 *	table_files_add(t, "sched:sched_wakeup", &other);
 *	table_files_batch(t, 0, &batch);
 *	table_files_finish(t, facts);
 *	table_files_free(t);
 *
 * A function that fails reports it on stderr and returns a negative errno. table_files_free() then
 * removes what was written.
 */
#ifndef SONDE_CLI_TABLE_FILES_H
#define SONDE_CLI_TABLE_FILES_H

#include "table_fact.h"

#include <sonde/sonde.h>

#include <stdbool.h>
#include <stddef.h>

enum table_files_format {
	TABLE_FILES_ARROW,
	TABLE_FILES_ARROW_FILE,
	TABLE_FILES_CSV,
	TABLE_FILES_SQLITE
};

struct table_files_options {
	enum table_files_format format;
	const char *output; /* "-": standard output */
	bool replace;       /* an existing output */
};

struct table_files;

/* Returns false if there is no format of that name. */
bool table_files_format_find(const char *name, enum table_files_format *ret);
/* Checks the output, without making it, and loads what the format needs. */
int table_files_new(struct table_files **ret, const struct table_files_options *o);
/* Makes the output for nr tables. */
int table_files_open(struct table_files *t, size_t nr);
/* Begins the next table, numbered from 0 on. Takes the schema over. */
int table_files_add(struct table_files *t, const char *event, struct ArrowSchema *schema);
/* Writes a batch of a table, which it takes over. */
int table_files_batch(struct table_files *t, size_t table, struct ArrowArray *batch);
int table_files_finish(struct table_files *t, const struct table_fact *facts);
void table_files_free(struct table_files *t); /* NULL is allowed */

#endif
