/* SPDX-License-Identifier: MIT */
/* perf_db_export_mode: rows of tables become calls of the script's handlers. */
#ifndef SONDE_PY_DBEXPORT_H
#define SONDE_PY_DBEXPORT_H

#include "script.h"

/* Begun behind trace_begin(); NULL without an exception: the script wants none. */
struct dbexport *dbexport_begin(struct run *r);
void dbexport_free(struct dbexport *d); /* NULL is fine */
/* 1: the event was for the tables alone, 0: handlers come next, -1 with an exception. */
int dbexport_event(struct dbexport *d, const struct sonde_event *ev);
/* Behind the last event: rows of what was open; -1 with an exception. */
int dbexport_end(struct dbexport *d);

#endif
