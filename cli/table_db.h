/* SPDX-License-Identifier: MIT */
/*
 * Writes tables into one SQLite database. docs/formats/tables.md describes it.
 *
 * SQLite is loaded on first use (docs/decisions/063-libraries-on-first-use.md). The database has no
 * journal and no locks, because nothing else uses it before it is complete and has its name.
 */
#ifndef SONDE_CLI_TABLE_DB_H
#define SONDE_CLI_TABLE_DB_H

#include "table_fact.h"

#include <sonde/sonde.h>

#include <stddef.h>

struct table_db;

/* The version of SQLite that this was built with; NULL for a build without it. */
const char *table_db_version(void);
/*
 * Loads SQLite. Returns 0 and *ret, which table_db_free() frees, or a negative errno after
 * reporting which package is missing. The functions below return 0 or a negative errno, with a
 * message in table_db_error().
 */
int table_db_new(struct table_db **ret);
/* Opens an empty file. */
int table_db_open(struct table_db *db, const char *path);
/*
 * Adds a table, the next number from 0 on. name is not yet used, and schema is borrowed until
 * table_db_free().
 */
int table_db_add(struct table_db *db, const char *name, const struct ArrowSchema *schema);
/* Adds the rows of a batch. */
int table_db_batch(struct table_db *db, size_t table, const struct ArrowArray *batch);
/* Writes the facts and closes the file. */
int table_db_finish(struct table_db *db, const struct table_fact *facts);
/* The reason for the last failure; "" if it is that of the errno. */
const char *table_db_error(const struct table_db *db);
void table_db_free(struct table_db *db); /* NULL is allowed */

#endif
