/* SPDX-License-Identifier: MIT */
#include "module_state.h"

#include <errno.h>

#include "sonde/sonde.h"
#include "values.h"

PyObject *module_error(struct module_state *m, int code)
{
	PyObject *text, *args;

	if (code == -ENOMEM)
		return PyErr_NoMemory();
	text = text_object(sonde_error_text(), strlen(sonde_error_text()));
	args = text ? Py_BuildValue("(iN)", -code, text) : NULL;
	if (args)
		PyErr_SetObject(m->error, args);
	Py_XDECREF(args);
	return NULL;
}
