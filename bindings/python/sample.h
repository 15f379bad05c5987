/* SPDX-License-Identifier: MIT */
/* perf_sample_dict: new references, for the current event of the script's run, as in dicts.h. */
#ifndef SONDE_PY_SAMPLE_H
#define SONDE_PY_SAMPLE_H

#include "script.h"

PyObject *dict_sample(struct python_run *r);
PyObject *dict_sample_values(struct python_run *r); /* the dict under "sample" */
/* Like dict_field(). */
PyObject *dict_sample_value(struct python_run *r, PyObject *key, bool of_values);
bool dict_sample_by_key(const struct slot *slot);
/*
 * Called after the call of the handler: takes the reference that dict_sample_value() returned for
 * "sample". The dict may be reused.
 */
void dict_sample_values_done(struct slot *slot, PyObject *dict);
void dict_sample_done(struct python_run *r, struct slot *slot, PyObject *dict);
void shapes_free(struct slot *slot);

#endif
