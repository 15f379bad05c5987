/* SPDX-License-Identifier: MIT */
/*
 * Database export, for scripts that set perf_db_export_mode. Events become rows of tables. A script
 * gets each row once, before another row refers to it. Ids count from 1 in each table.
 *
 *	struct prelude_db_options opts = { .tables = bits, .row = call_handler, .ctx = me };
 *
 *	prelude_db_new(&db, session, &opts);
 *	prelude_db_begin(db);                    the rows that are always the same
 *	prelude_db_event(db, ev);                for each event
 *	prelude_db_end(db);                      what is open still
 *
 * What is remembered grows with the number of tasks, names, files, symbols and call paths, not with
 * that of events.
 */
#ifndef SONDE_PRELUDE_DBEXPORT_H
#define SONDE_PRELUDE_DBEXPORT_H

#include "db_tables.h"
#include "sonde/sonde.h"

struct prelude_db;

int prelude_db_new(struct prelude_db **ret, struct sonde_session *s,
		   const struct prelude_db_options *opts);
void prelude_db_free(struct prelude_db *db); /* NULL is fine */
int prelude_db_begin(struct prelude_db *db);
/* 1: the event was for the tables; 0: it is not (tracepoints, most records of state); <0 */
int prelude_db_event(struct prelude_db *db, const struct sonde_event *ev);
int prelude_db_end(struct prelude_db *db);

#endif
