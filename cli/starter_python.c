/* SPDX-License-Identifier: MIT */
/* The starter in Python: functions of the module sonde. */
#include "starter.h"

#include "generate_text.h"
#include "python_names.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const char opening[] =
	"#\n"
	"# A parameter behind the first is a field of the event: sonde list EVENT shows all.\n"
	"# help(sonde) in python3 describes on(), count() and the others.\n"
	"\n"
	"from sonde import count, end, on\n"
	"\n"
	"SHOWN = 5  # events of each kind that are printed\n"
	"seen = {}\n"
	"\n";

static const char show[] =
	"\n"
	"\n"
	"def show(e, **fields):\n"
	"    \"\"\"Prints the first events of each kind.\"\"\"\n"
	"    seen[e.name] = seen.get(e.name, 0) + 1\n"
	"    if seen[e.name] <= SHOWN:\n"
	"        values = \" \".join(\"%s=%s\" % f for f in fields.items())\n"
	"        print(\"%16s %7d  %s  %s\" % (e.comm, e.tid, e.name, values))\n";

static const char ending[] =
	"\n"
	"\n"
	"@end\n"
	"def done():\n"
	"    print(\"events: %d, kinds: %d\" % (sum(seen.values()), len(seen)))\n";
/* clang-format on */

/* A field that can be a parameter behind `e`. */
static bool starter_python_is_name(const char *name)
{
	const struct python_names none = { 0 };

	return strcmp(name, "e") && python_names_valid(&none, name);
}

static void starter_python_put_quoted(FILE *out, const char *text)
{
	struct wrapped w = { .out = out };

	fputc('"', out);
	wrapped_put_quoted(&w, text, "\"\\", false);
	fputc('"', out);
}

/*
 * A name for a handler: "sched_switch". Without "__", which the handlers of sonde script have.
 * Borrowed until `functions` are done; NULL if there is no memory.
 */
static const char *starter_python_function(const struct starter_event *e,
					   struct python_names *functions)
{
	const char *colon = e->sc ? strchr(e->name, ':') : NULL;
	char *name = strdup(colon ? colon + 1 : e->name);
	const char *ret;
	size_t n = 0;

	if (!name)
		return NULL;
	for (const char *p = name; *p; p++) {
		const bool is_plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
				      (*p >= '0' && *p <= '9');

		if (is_plain || (n && name[n - 1] != '_'))
			name[n++] = is_plain ? *p : '_';
	}
	while (n && name[n - 1] == '_')
		n--;
	name[n] = 0;
	ret = python_names_take(functions, n ? name : "event");
	free(name);
	return ret;
}

static int starter_python_put_handler(FILE *out, const struct starter_event *e,
				      struct python_names *functions)
{
	const struct sonde_field *fields[STARTER_FIELDS];
	const size_t nr = e->sc ? starter_fields(e->sc, fields, starter_python_is_name) : 0;
	const char *function = starter_python_function(e, functions);
	struct wrapped w = { .out = out, .indent = "        " };

	if (!function)
		return -1;
	fputs("\n\n@on(", out);
	starter_python_put_quoted(out, e->name);
	fputs(")\n", out);
	wrapped_put(&w, "def %s(e", function);
	for (size_t i = 0; i < nr; i++) {
		wrapped_put(&w, ",");
		wrapped_put_blank(&w, strlen(fields[i]->name) + 2);
		wrapped_put(&w, "%s", fields[i]->name);
	}
	fputs("):\n", out);
	w.column = 0;
	w.indent = "         ";
	wrapped_put(&w, "    show(e%s", strpbrk(e->name, "*?[") ? ", text=e.text" : "");
	for (size_t i = 0; i < nr; i++) {
		wrapped_put(&w, ",");
		wrapped_put_blank(&w, 2 * strlen(fields[i]->name) + 2);
		wrapped_put(&w, "%s=%s", fields[i]->name, fields[i]->name);
	}
	fputs(")\n", out);
	return 0;
}

static void starter_python_put_count(FILE *out, const struct starter *s)
{
	fputs("# Counts in C, without a call for each event, and prints itself at the end. Keys "
	      "are comm,\n# pid, tid, cpu, name, kstack, ustack and fields.\ncount(",
	      out);
	for (size_t i = 0; i < s->nr_events; i++) {
		fputs(i ? "\n       " : s->nr_events > 1 ? "[" : "", out);
		starter_python_put_quoted(out, s->events[i].name);
		fputs(i + 1 < s->nr_events ? "," : s->nr_events > 1 ? "]" : "", out);
	}
	fputs(s->nr_events > 1 ? ",\n      by=\"name,comm\")\n" : ", by=\"comm\")\n", out);
}

int starter_python(FILE *out, const struct starter *s)
{
	static const char *const taken[] = { "count", "end",  "on",  "SHOWN", "seen",
					     "show",  "done", "sum", "len",   "print" };
	struct python_names functions = { .functions = true };
	struct wrapped w = { .out = out };
	int r = 0;

	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken) && !r; i++)
		r = python_names_take(&functions, taken[i]) ? 0 : -1;
	fprintf(out,
		"# Shows and counts events. Written by sonde %s to be changed.\n#\n"
		"#   sonde run -a --for 5s ",
		sonde_version());
	wrapped_put_quoted(&w, s->file, "", false);
	fputs("\n#   sonde run ", out);
	wrapped_put_quoted(&w, s->file, "", false);
	fputs(" -- COMMAND\n#   sonde run -i RECORDING ", out);
	wrapped_put_quoted(&w, s->file, "", false);
	fputs("\n", out);
	fputs(opening, out);
	starter_python_put_count(out, s);
	fputs(show, out);
	for (size_t i = 0; i < s->nr_events && !r; i++)
		r = starter_python_put_handler(out, &s->events[i], &functions);
	fputs(ending, out);
	python_names_done(&functions);
	return r;
}
