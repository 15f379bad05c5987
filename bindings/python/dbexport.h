/* SPDX-License-Identifier: MIT */
/* perf_db_export_mode: rows of tables become calls of the script's handlers. */
#ifndef SONDE_PY_DBEXPORT_H
#define SONDE_PY_DBEXPORT_H

#include "script.h"

/* Called after trace_begin(). NULL without an exception if the script wants no export. */
struct dbexport *dbexport_begin(struct python_run *r);
void dbexport_free(struct dbexport *d); /* NULL is allowed */
/*
 * Returns 1 if the event belongs only to the tables, 0 if handlers are called too, -1 with an
 * exception.
 */
int dbexport_event(struct dbexport *d, const struct sonde_event *ev);
/*
 * Called after the last event: passes on the rows of calls that are still open. -1 with an
 * exception.
 */
int dbexport_end(struct dbexport *d);

#endif
