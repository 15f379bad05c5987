/* SPDX-License-Identifier: MIT */
/* process_event(param_dict): samples of events that are no tracepoints. */
#include "pysonde.h"

int process_call(struct run *r, struct slot *slot)
{
	PyObject *func = PyDict_GetItemWithError(r->main, r->process_event), *dict, *result;

	if (!func || !PyCallable_Check(func)) {
		slot->unserved++;
		return PyErr_Occurred() ? -1 : 0;
	}
	Py_INCREF(func);
	dict = dict_sample(r);
	result = dict ? PyObject_CallFunctionObjArgs(func, dict, NULL) : NULL;
	Py_DECREF(func);
	if (result)
		dict_sample_done(r, slot, dict);
	else
		Py_XDECREF(dict);
	Py_XDECREF(result);
	return result ? 0 : -1;
}
