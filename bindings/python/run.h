/* SPDX-License-Identifier: MIT */
/* A run of a perf script: the loop over the events (prelude/loop.h) with Python's functions. */
#ifndef SONDE_PY_RUN_H
#define SONDE_PY_RUN_H

#include "script.h"

/* Calls the handlers in __main__ for all events. Returns 0, or -1 with an exception. */
int run_events(struct python_run *r);
/* Frees what the loop made. */
void run_done(struct python_run *r);

#endif
