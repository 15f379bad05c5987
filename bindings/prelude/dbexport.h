/* SPDX-License-Identifier: MIT */
/*
 * Database export, for scripts that set perf_db_export_mode. Events become rows of tables. A script
 * gets each row once, and before any row that refers to it. Ids count from 1 in each table.
 *
 *	struct prelude_db_options opts = { .tables = bits, .row = call_handler, .ctx = me };
 *
 *	prelude_db_new(&db, session, &opts);
 *	prelude_db_begin(db);                    rows that are always the same
 *	prelude_db_event(db, ev);                for each event
 *	prelude_db_end(db);                      rows of calls that are still open
 *
 * Memory grows with the number of tasks, names, files, symbols and call paths, not with the number
 * of events.
 */
#ifndef SONDE_PRELUDE_DBEXPORT_H
#define SONDE_PRELUDE_DBEXPORT_H

#include "db_tables.h"
#include "sonde/sonde.h"

struct prelude_db;

int prelude_db_new(struct prelude_db **ret, struct sonde_session *s,
		   const struct prelude_db_options *opts);
void prelude_db_free(struct prelude_db *db); /* NULL is allowed */
int prelude_db_begin(struct prelude_db *db);
/*
 * Returns 1 if the event belongs to the tables, 0 if not (tracepoints, most records of state), a
 * negative errno on failure.
 */
int prelude_db_event(struct prelude_db *db, const struct sonde_event *ev);
int prelude_db_end(struct prelude_db *db);

#endif
