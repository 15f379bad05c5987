/* SPDX-License-Identifier: MIT */
/*
 * Handlers of records of state (context_switch, throttle, ...), of counts (stat__*) and of defects.
 */
#ifndef SONDE_PY_RECORDS_H
#define SONDE_PY_RECORDS_H

#include "script.h"

/* Calls the script's function. Returns 0, or -1 with an exception. */
int records_call(struct python_run *r, const struct prelude_callback *cb, PyObject *func,
		 const struct prelude_record_value *values);
void records_free(struct records *c);

#endif
