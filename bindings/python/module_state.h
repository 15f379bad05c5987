/* SPDX-License-Identifier: MIT */
/* The types and exceptions of one import of the module. */
#ifndef SONDE_PY_MODULE_STATE_H
#define SONDE_PY_MODULE_STATE_H

#include "cpython.h"

/* X(member, name in the module, other bases, doc). All are subclasses of Error, the first one. */
#define MODULE_ERRORS(X)                                                                           \
	X(error, "Error", NULL,                                                                    \
	  "A recording cannot be read, or a call is wrong. Its text is the causes, one per line; " \
	  "errno\nis a number of the module errno or 0, advice a sentence or ''.")                 \
	X(format_error, "FormatError", NULL,                                                       \
	  "Nothing in the input can be read: it is damaged, "                                      \
	  "or no recording.")                                                                      \
	X(access_error, "AccessError", "PermissionError", "Rights are missing.")                   \
	X(input_error, "InputError", "OSError", "The input cannot be opened or read.")             \
	X(missing_error, "InputNotFoundError", "FileNotFoundError", "The input does not exist.")   \
	X(option_error, "OptionError", "ValueError",                                               \
	  "A key does not exist, or has a wrong value.")                                           \
	X(unknown_event, "UnknownEvent", "LookupError",                                            \
	  "No event type of the recording has the name. name: the name; near: tuple of the "       \
	  "nearest names.")                                                                        \
	X(unknown_field, "UnknownField", "AttributeError",                                         \
	  "An event type has no such field. name: the name; near: tuple of the nearest names; "    \
	  "event:\nthe event type's name.")                                                        \
	X(loss_error, "LossError", NULL,                                                           \
	  "Events were lost, and on_loss='raise'. lost: the number of lost events, as far as it "  \
	  "is known.")

struct module_state {
#define X(member, name, base, doc) PyObject *member;
	MODULE_ERRORS(X)
#undef X
	PyTypeObject *session, *event, *fields, *frame, *stack, *schema, *run, *profile, *lazy_dict,
		*lazy_list;
	PyTypeObject *columns, *batch, *column, *live, *filter, *aggregate;
	PyTypeObject *field, *sample, *defect, *pair; /* struct sequences */
	size_t lazy_dict_off, lazy_list_off;          /* offset of struct lazy in their instances */
};

/* Makes the classes of exceptions. Returns 0, or -1 with an exception. */
int module_make_errors(PyObject *module, struct module_state *m);
/* Raises the exception of a negative errno, with the library's causes; returns NULL. */
PyObject *module_error(struct module_state *m, int code);
/*
 * Raises UnknownEvent, or UnknownField if event is not NULL. names: NULL, or a list or tuple of str
 * that has the nearest name. Returns NULL.
 */
PyObject *module_unknown(struct module_state *m, PyObject *name, PyObject *event, PyObject *names);
/* Raises LossError; returns NULL. */
PyObject *module_loss(struct module_state *m, uint64_t lost, const char *line);
/* tp_new of all types: their objects belong to a recording, and only the module can make them. */
PyObject *module_refuse_new(PyTypeObject *type, PyObject *args, PyObject *kw);

#endif
