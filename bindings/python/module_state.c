/* SPDX-License-Identifier: MIT */
/* The exceptions of the module: which one an errno or an unknown name raises. */
#include "module_state.h"

#include <errno.h>

#include "sonde/sonde.h"
#include "values.h"

/* ---- classes --------------------------------------------------------------------------------- */

/* Attributes that every instance has. */
static PyObject *module_error_defaults(void)
{
	return Py_BuildValue("{s:i,s:s,s:s}", "errno", 0, "advice", "", "__module__", "sonde");
}

static PyObject *module_new_error(PyObject *error, const char *name, const char *base,
				  const char *doc)
{
	PyObject *builtins = PyImport_ImportModule("builtins"), *bases = NULL, *class = NULL;
	PyObject *other = builtins && base ? PyObject_GetAttrString(builtins, base) : NULL;
	PyObject *dict = error ? NULL : module_error_defaults();
	char full[64];

	PyOS_snprintf(full, sizeof(full), "sonde.%s", name);
	if (builtins && (other || !base) && (dict || error)) {
		bases = !error  ? Py_BuildValue("(O)", PyExc_Exception)
			: other ? Py_BuildValue("(OO)", error, other)
				: Py_BuildValue("(O)", error);
		if (bases)
			class = PyErr_NewExceptionWithDoc(full, doc, bases, dict);
	}
	Py_XDECREF(dict);
	Py_XDECREF(bases);
	Py_XDECREF(other);
	Py_XDECREF(builtins);
	return class;
}

int module_make_errors(PyObject *module, struct module_state *m)
{
#define X(member, name, base, doc)                               \
	m->member = module_new_error(m->error, name, base, doc); \
	if (!m->member)                                          \
		return -1;                                       \
	Py_INCREF(m->member);                                    \
	if (PyModule_AddObject(module, name, m->member) < 0) {   \
		Py_DECREF(m->member);                            \
		return -1;                                       \
	}
	MODULE_ERRORS(X)
#undef X
	return 0;
}

static const char see_schemas[] = "schemas has the names of all event types";

/* ---- raising --------------------------------------------------------------------------------- */

/* Sets an attribute to a new reference, or does nothing for NULL. */
static int module_set(PyObject *o, const char *name, PyObject *take)
{
	int r = take ? PyObject_SetAttrString(o, name, take) : -1;

	Py_XDECREF(take);
	return r;
}

/* Raises an instance with these attributes; takes the reference of exception, which may be NULL. */
static PyObject *module_raise(PyObject *exception, int code, const char *advice)
{
	if (exception && module_set(exception, "errno", PyLong_FromLong(code)) >= 0 &&
	    module_set(exception, "advice", PyUnicode_FromString(advice)) >= 0)
		PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
	Py_XDECREF(exception);
	return NULL;
}

/* Adds the words of a list "A, B or C?". */
static int module_add_words(PyObject *list, const char *p)
{
	while (*p) {
		const char *comma = strstr(p, ", "), * or = strstr(p, " or "), *end;
		PyObject *word;
		int r;

		end = comma && (! or || comma < or) ? comma : or ? or : p + strcspn(p, "?");
		word = text_object(p, (size_t)(end - p));
		r = word ? PyList_Append(list, word) : -1;
		Py_XDECREF(word);
		if (r < 0)
			return -1;
		p = end + (end == comma ? 2 : end == or ? 4 : strlen(end));
	}
	return 0;
}

/*
 * Raises UnknownEvent with a text of the library, which has the names:
 *
 *	... has no event 'NAME'; did you mean A, B or C?
 */
static PyObject *module_no_event(struct module_state *m, const char *text)
{
	static const char before[] = "has no event '", guess[] = "'; did you mean ";
	const char *name = strstr(text, before), *meant = strstr(text, guess), *end;
	PyObject *exception = NULL, *message = text_object(text, strlen(text));
	PyObject *list = PyList_New(0);

	name = name ? name + strlen(before) : text;
	end = meant && meant >= name ? meant : strrchr(name, '\'');
	if (!end)
		end = name + strlen(name);
	if (message && list && (!meant || module_add_words(list, meant + strlen(guess)) >= 0))
		exception = PyObject_CallFunctionObjArgs(m->unknown_event, message, NULL);
	if (exception &&
	    (module_set(exception, "name", text_object(name, (size_t)(end - name))) < 0 ||
	     module_set(exception, "near", PyList_AsTuple(list)) < 0))
		Py_CLEAR(exception);
	Py_XDECREF(message);
	Py_XDECREF(list);
	return module_raise(exception, ENOENT, see_schemas);
}

PyObject *module_error(struct module_state *m, int code)
{
	static const char see_record[] = "`sonde record -a sleep 1` makes the recording perf.data";
	static const char see_rights[] = "ask for the right to read the file, or for a copy";
	static const char see_info[] = "`sonde info FILE` reports what a file is";
	PyObject *class = m->error, *text, *exception = NULL;
	const char *advice = "";
	bool has_errno = false; /* the class is an OSError */

	switch (-code) {
	case ENOMEM:
		return PyErr_NoMemory();
	case ESRCH:
		return module_no_event(m, sonde_error_text());
	case EBADMSG:
		class = m->format_error;
		advice = see_info;
		break;
	case EINVAL:
	case ETIME: /* the recording has no times to choose by */
		class = m->option_error;
		break;
	case EACCES:
	case EPERM:
		class = m->access_error;
		advice = see_rights;
		has_errno = true;
		break;
	case ENOENT:
		class = m->missing_error;
		advice = see_record;
		has_errno = true;
		break;
	case EIO:
	case EISDIR:
	case ENOTDIR:
	case ELOOP:
	case EMFILE:
	case ENFILE:
	case ENAMETOOLONG:
	case ESPIPE:
	case ENXIO:
	case EBADF:
	case ENOSPC:
		class = m->input_error;
		has_errno = true;
		break;
	default:
		break;
	}
	text = text_object(sonde_error_text(), strlen(sonde_error_text()));
	if (text)
		exception = has_errno ? PyObject_CallFunction(class, "iO", -code, text)
				      : PyObject_CallFunctionObjArgs(class, text, NULL);
	Py_XDECREF(text);
	return module_raise(exception, -code, advice);
}

/* The name of names that was probably meant: a tuple of one str, or an empty one. */
static PyObject *module_near(PyObject *name, PyObject *names)
{
	struct sonde_nearest n = { .size = sizeof(n) };
	PyObject *kept = PyList_New(0); /* the bytes that n refers to */
	PyObject *wanted = PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape"), *r = NULL;
	const char *meant = NULL;

	n.wanted = wanted ? PyBytes_AsString(wanted) : NULL;
	for (Py_ssize_t i = 0; kept && n.wanted && names && i < PySequence_Size(names); i++) {
		PyObject *item = PySequence_GetItem(names, i);
		PyObject *bytes =
			item ? PyUnicode_AsEncodedString(item, "utf-8", "surrogateescape") : NULL;

		if (bytes && PyList_Append(kept, bytes) >= 0)
			sonde_nearest_offer(&n, PyBytes_AsString(bytes));
		Py_XDECREF(bytes);
		Py_XDECREF(item);
	}
	if (!PyErr_Occurred())
		meant = prelude_meant(&n);
	if (meant)
		r = Py_BuildValue("(N)", text_object(meant, strlen(meant)));
	else if (!PyErr_Occurred())
		r = PyTuple_New(0);
	Py_XDECREF(wanted);
	Py_XDECREF(kept);
	return r;
}

PyObject *module_unknown(struct module_state *m, PyObject *name, PyObject *event, PyObject *names)
{
	PyObject *near = module_near(name, names), *text = NULL, *exception = NULL, *meant = NULL;

	if (near && PyTuple_Size(near))
		meant = PyTuple_GetItem(near, 0);
	if (near && event)
		text = meant ? PyUnicode_FromFormat("%U has no field '%U'; did you mean '%U'?",
						    event, name, meant)
			     : PyUnicode_FromFormat("%U has no field '%U'", event, name);
	else if (near)
		text = meant ? PyUnicode_FromFormat("the recording has no event '%U'; did you mean "
						    "'%U'?",
						    name, meant)
			     : PyUnicode_FromFormat("the recording has no event '%U'", name);
	if (text)
		exception = PyObject_CallFunctionObjArgs(
			event ? m->unknown_field : m->unknown_event, text, NULL);
	if (exception && (PyObject_SetAttrString(exception, "name", name) < 0 ||
			  PyObject_SetAttrString(exception, "near", near) < 0 ||
			  (event && PyObject_SetAttrString(exception, "event", event) < 0)))
		Py_CLEAR(exception);
	Py_XDECREF(text);
	Py_XDECREF(near);
	return module_raise(exception, ENOENT,
			    event ? "schema.fields has the names of all fields" : see_schemas);
}

PyObject *module_loss(struct module_state *m, uint64_t lost, const char *line)
{
	PyObject *text = text_object(line, strlen(line));
	PyObject *exception = text ? PyObject_CallFunctionObjArgs(m->loss_error, text, NULL) : NULL;

	if (exception && module_set(exception, "lost", u64_object(lost)) < 0)
		Py_CLEAR(exception);
	Py_XDECREF(text);
	return module_raise(exception, ENODATA,
			    "record fewer events, or with larger buffers (sonde record -m)");
}

PyObject *module_refuse_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
	(void)args, (void)kw;
	return PyErr_Format(PyExc_TypeError,
			    "cannot create instances of %R: functions of the module make them",
			    (PyObject *)type);
}
