/* SPDX-License-Identifier: MIT */
#include "python_names.h"

#include <stdlib.h>
#include <string.h>

/* Keywords of Python 2 (which old versions of perf use) and 3. */
static const char *const keywords[] = {
	"False",  "None",   "True",    "__debug__", "and",  "as",     "assert", "async",
	"await",  "break",  "class",   "continue",  "def",  "del",    "elif",   "else",
	"except", "exec",   "finally", "for",       "from", "global", "if",     "import",
	"in",     "is",     "lambda",  "nonlocal",  "not",  "or",     "pass",   "print",
	"raise",  "return", "try",     "while",     "with", "yield",
};

/* Builtins that a handler's code may want to call. */
static const char *const builtins[] = {
	"Ellipsis",   "NotImplemented",
	"abs",        "aiter",
	"all",        "anext",
	"any",        "ascii",
	"bin",        "bool",
	"breakpoint", "bytearray",
	"bytes",      "callable",
	"chr",        "classmethod",
	"compile",    "complex",
	"copyright",  "credits",
	"delattr",    "dict",
	"dir",        "divmod",
	"enumerate",  "eval",
	"exit",       "filter",
	"float",      "format",
	"frozenset",  "getattr",
	"globals",    "hasattr",
	"hash",       "help",
	"hex",        "id",
	"input",      "int",
	"isinstance", "issubclass",
	"iter",       "len",
	"license",    "list",
	"locals",     "map",
	"max",        "memoryview",
	"min",        "next",
	"object",     "oct",
	"open",       "ord",
	"pow",        "property",
	"quit",       "range",
	"repr",       "reversed",
	"round",      "set",
	"setattr",    "slice",
	"sorted",     "staticmethod",
	"str",        "sum",
	"super",      "tuple",
	"type",       "unicode",
	"vars",       "zip",
};

/* Parameters of every handler, and names that the generated file and its imports define. */
static const char *const ours[] = {
	"event_name",
	"context",
	"common_cpu",
	"common_secs",
	"common_nsecs",
	"common_pid",
	"common_comm",
	"common_callchain",
	"perf_sample_dict",
	"param_dict",
	"os",
	"sys",
	"trace_begin",
	"trace_end",
	"trace_unhandled",
	"process_event",
	"show_event",
	"show_sample",
	"show_place",
	"named",
	"plain",
	"flag_str",
	"symbol_str",
	"trace_flag_str",
	"taskState",
	"autodict",
	"flag_fields",
	"symbolic_fields",
	"EventHeaders",
	"common_pc",
	"common_flags",
	"common_lock_depth",
	"perf_script_context",
	"define_flag_field",
	"define_flag_value",
	"define_symbolic_field",
	"define_symbolic_value",
	"self",
};

#define is_any_of(list, name) names_is_in(list, sizeof(list) / sizeof(*(list)), name)

static bool names_is_in(const char *const *list, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

static bool names_is_free(const struct python_names *n, const char *name)
{
	if (names_is_in((const char *const *)n->taken, n->nr, name) || is_any_of(keywords, name))
		return false;
	return n->functions || (!is_any_of(builtins, name) && !is_any_of(ours, name));
}

static bool names_is_identifier_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

bool python_names_valid(const struct python_names *n, const char *wanted)
{
	if (!*wanted || (*wanted >= '0' && *wanted <= '9'))
		return false;
	for (const char *p = wanted; *p; p++)
		if (!names_is_identifier_char(*p))
			return false;
	return names_is_free(n, wanted);
}

const char *python_names_take(struct python_names *n, const char *wanted)
{
	/* Each taken name needs at most one more '_'. */
	size_t len = strlen(wanted), most = len + n->nr + 3;
	char **more = realloc(n->taken, (n->nr + 1) * sizeof(*more));
	char *name = more ? calloc(1, most + 1) : NULL, *p = name;

	if (more)
		n->taken = more;
	if (!name)
		return NULL;
	if (!len || (*wanted >= '0' && *wanted <= '9'))
		*p++ = '_';
	for (size_t i = 0; i < len; i++)
		*p++ = names_is_identifier_char(wanted[i]) ? wanted[i] : '_';
	while (!names_is_free(n, name))
		*p++ = '_';
	n->taken[n->nr++] = name;
	return name;
}

void python_names_done(struct python_names *n)
{
	for (size_t i = 0; i < n->nr; i++)
		free(n->taken[i]);
	free(n->taken);
	n->taken = NULL;
	n->nr = 0;
}
