/* SPDX-License-Identifier: MIT */
/* prelude/needs.h for Python: what a program of handlers needs. */
#ifndef SONDE_PY_NEEDS_H
#define SONDE_PY_NEEDS_H

#include "cpython.h"

/* _tracepoints(): list of str, as far as this user may read them. */
PyObject *needs_tracepoints(PyObject *module, PyObject *unused);
PyObject *needs_is_glob(PyObject *module, PyObject *name);
PyObject *needs_is_tracepoint(PyObject *module, PyObject *name);
/* _words(list) -> list of str: its names, and '' where there is none */
PyObject *needs_words(PyObject *module, PyObject *list);
/* _names(pattern, name): True if a pattern of a handler names an event type. */
PyObject *needs_names(PyObject *module, PyObject *args);
/* _each_occurrence(name), _clocked(name): str */
PyObject *needs_each_occurrence(PyObject *module, PyObject *name);
PyObject *needs_clocked(PyObject *module, PyObject *name);

/* _needs(list of (what, text)) -> a capsule, for the functions below */
PyObject *needs_new(PyObject *module, PyObject *words);
PyObject *needs_learn(PyObject *module, PyObject *args);
PyObject *needs_wants(PyObject *module, PyObject *needs);
PyObject *needs_settings(PyObject *module, PyObject *needs);
PyObject *needs_lines(PyObject *module, PyObject *needs);
PyObject *needs_check_events(PyObject *module, PyObject *needs);
PyObject *needs_check_users(PyObject *module, PyObject *needs);

#define NEEDS_FUNCTIONS                                                                          \
	{ "_tracepoints", needs_tracepoints, METH_NOARGS,                                        \
	  "_tracepoints() -> list of str: those of the kernel, if this user may read them." },   \
		{ "_is_glob", needs_is_glob, METH_O,                                             \
		  "_is_glob(name): a pattern of tracepoints?" },                                 \
		{ "_is_tracepoint", needs_is_tracepoint, METH_O,                                 \
		  "_is_tracepoint(name): the name of a tracepoint, or a pattern of some?" },     \
		{ "_words", needs_words, METH_O, "_words(list) -> list of str: its names." },    \
		{ "_names", needs_names, METH_VARARGS,                                           \
		  "_names(pattern, name): does a pattern of on() name an event type?" },         \
		{ "_each_occurrence", needs_each_occurrence, METH_O,                             \
		  "_each_occurrence(name) -> str: the event for the recorder." },                \
		{ "_clocked", needs_clocked, METH_O,                                             \
		  "_clocked(name) -> str: cpu-clock if it stands for cycles here." },            \
		{ "_needs", needs_new, METH_O, "_needs(list of (what, text)) -> needs" },        \
		{ "_needs_learn", needs_learn, METH_VARARGS,                                     \
		  "_needs_learn(needs, session): takes its event types." },                      \
		{ "_needs_wants", needs_wants, METH_O,                                           \
		  "_needs_wants(needs) -> list of (name, condition or None): what to record." }, \
		{ "_needs_settings", needs_settings, METH_O,                                     \
		  "_needs_settings(needs) -> str: settings of the recorder." },                  \
		{ "_needs_lines", needs_lines, METH_O,                                           \
		  "_needs_lines(needs) -> str: what the session's text has for them." },         \
		{ "_needs_check_events", needs_check_events, METH_O,                             \
		  "_needs_check_events(needs) -> (what is wrong or None, may this user read "    \
		  "tracepoints?)" },                                                             \
	{                                                                                        \
		"_needs_check_users", needs_check_users, METH_O,                                 \
			"_needs_check_users(needs) -> (what is wrong or None, lines)"            \
	}

#endif
