/* SPDX-License-Identifier: MIT */
/*
 * The skeleton in Python: runs unchanged under sonde and perf.
 *
 * Handlers are plain functions that name their parameters. If the user removes all uses of one
 * (call chain, sample dict), it is not built.
 */
#include "skeleton.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "generate_text.h"
#include "python_names.h"

#define COLUMNS WRAPPED_COLUMNS
#define INDENT  "    "

/* clang-format off */
static const char opening[] =
	"\n"
	"import os\n"
	"import sys\n"
	"\n"
	"sys.path.append(os.environ[\"PERF_EXEC_PATH\"] + "
	"\"/scripts/python/Perf-Trace-Util/lib/Perf/Trace\")\n"
	"\n"
	"from perf_trace_context import *\n"
	"from Core import *\n"
	"\n"
	"\n"
	"def trace_begin():\n"
	"    \"\"\"Before the first event.\"\"\"\n"
	"\n"
	"\n"
	"def trace_end():\n"
	"    \"\"\"After the last event.\"\"\"\n";

static const char common_help[] =
	"#\n"
	"# The first arguments of every handler:\n"
	"#\n"
	"#   event_name         name of the handler: \"sched__sched_switch\"\n"
	"#   context            for common_pc(context), common_flags(context), "
	"common_lock_depth(context)\n"
	"#   common_cpu         number of the cpu\n"
	"#   common_secs        time of the event: seconds ...\n"
	"#   common_nsecs       ... and nanoseconds\n"
	"#   common_pid         thread that ran\n"
	"#   common_comm        its name\n"
	"#   common_callchain   list of frames, innermost first; empty if none were recorded\n"
	"#\n"
	"# The fields of its event follow, and last perf_sample_dict, which is optional. perf "
	"fills parameters by\n"
	"# position, sonde by these names. A field name that has a meaning in Python gets a "
	"trailing \"_\": from_, id_.\n"
	"# Flags and symbols are printed as NAME(number). Handlers that are not needed may be "
	"deleted.\n";

static const char unhandled[] =
	"\n"
	"\n"
	"def trace_unhandled(event_name, context, event_fields_dict, perf_sample_dict):\n"
	"    \"\"\"Tracepoints that have no handler here.\"\"\"\n"
	"    fields = dict(event_fields_dict)\n"
	"    show_event(event_name, fields.pop(\"common_cpu\"), fields.pop(\"common_s\"), "
	"fields.pop(\"common_ns\"),\n"
	"        fields.pop(\"common_pid\"), fields.pop(\"common_comm\"))\n"
	"    chain = fields.pop(\"common_callchain\")\n"
	"    print(\"\\t\" + \" \".join(\"%s=%s\" % (name, plain(fields[name])) for name in "
	"sorted(fields)))\n"
	"    show_sample(perf_sample_dict, chain)\n";

static const char process_event[] =
	"    sample = param_dict[\"sample\"]\n"
	"    show_event(param_dict[\"ev_name\"], sample[\"cpu\"], sample[\"time\"] // 10**9, "
	"sample[\"time\"] % 10**9,\n"
	"        sample[\"tid\"], param_dict[\"comm\"])\n"
	"    show_place(sample[\"ip\"], param_dict.get(\"symbol\"), param_dict.get(\"symoff\"), "
	"param_dict.get(\"dso\"))\n"
	"    show_sample(param_dict, param_dict[\"callchain\"])\n";

static const char helpers[] =
	"\n"
	"\n"
	"def show_event(event_name, cpu, secs, nsecs, tid, comm):\n"
	"    \"\"\"The line that each event begins with.\"\"\"\n"
	"    print(\"%16s %7d [%03d] %6d.%09d: %s\" % (comm, tid, cpu, secs, nsecs, event_name))\n"
	"\n"
	"\n"
	"def show_sample(perf_sample_dict, chain):\n"
	"    \"\"\"Values recorded besides the event's own fields.\"\"\"\n"
	"    sample = perf_sample_dict[\"sample\"]\n"
	"    print(\"\\tsample: \" + \" \".join(\"%s=%s\" % (name, sample[name]) for name in "
	"sorted(sample) if name != \"values\"))\n"
	"    for frame in chain:\n"
	"        show_place(frame[\"ip\"], frame[\"sym\"][\"name\"] if \"sym\" in frame else None, "
	"frame.get(\"sym_off\"), frame.get(\"dso\"))\n"
	"\n"
	"\n"
	"def show_place(ip, symbol, offset, dso):\n"
	"    \"\"\"An address with its function and file, as far as they are known.\"\"\"\n"
	"    place = \"%s+0x%x\" % (symbol, offset or 0) if symbol else \"[unknown]\"\n"
	"    print(\"\\t%16x %s (%s)\" % (ip, place, dso or \"[unknown]\"))\n"
	"\n"
	"\n"
	"def named(name, value):\n"
	"    \"\"\"A flag or symbol: NAME(number), or the number if it has no name.\"\"\"\n"
	"    return \"%s(%d)\" % (name, value) if name else str(value)\n"
	"\n"
	"\n"
	"def plain(value):\n"
	"    \"\"\"A field's value; bytes as hexadecimal digits.\"\"\"\n"
	"    return value.hex() if isinstance(value, bytearray) else value\n";
/* clang-format on */

/* Quotes foreign text inside a string between double quotes, of one line or of three quotes. */
static void python_put_quoted(struct wrapped *w, const char *text, bool in_format)
{
	wrapped_put_quoted(w, text, "\"\\", in_format);
}

/* ---- a handler ------------------------------------------------------------------------------- */

static const char *python_value_type(const struct sonde_field *f)
{
	if (f->kind >= SONDE_FIELD_FLOAT)
		return f->kind == SONDE_FIELD_FLOAT    ? "float"
		       : f->kind == SONDE_FIELD_NESTED ? "dict"
						       : "int";
	if (f->is_array || f->is_dynamic)
		return f->is_text ? "str" : "bytearray";
	return "int";
}

static void python_put_field_help(FILE *out, const struct sonde_schema *sc,
				  const struct sonde_field *f, const char *name)
{
	struct wrapped w = { .out = out, .indent = INDENT INDENT };
	const struct sonde_define *names = skeleton_names(sc, f);

	w.column = strlen(INDENT);
	wrapped_put(&w, INDENT "%s: %s (", name, python_value_type(f));
	if (strcmp(name, f->name)) {
		python_put_quoted(&w, f->name, false);
		wrapped_put(&w, ": ");
	}
	python_put_quoted(&w, f->type, false);
	if (f->width)
		wrapped_put(&w, ", %u byte%s", f->width, f->width == 1 ? "" : "s");
	wrapped_put(&w, f->kind == SONDE_FIELD_INT && f->is_signed ? ", signed)" : ")");
	if (names)
		wrapped_put_values(&w, sc, names, "\"\\");
	wrapped_put(&w, "\n");
}

static void python_put_help(FILE *out, const struct sonde_schema *sc, const struct sonde_field *f,
			    const struct python_names *names)
{
	struct wrapped w = { .out = out };

	wrapped_put(&w, INDENT "\"\"\"");
	python_put_quoted(&w, sonde_schema_system(sc), false);
	wrapped_put(&w, ":");
	python_put_quoted(&w, sonde_schema_event(sc), false);
	wrapped_put(&w, names->nr ? "\n\n" : "");
	for (size_t i = 0; i < names->nr; i++)
		python_put_field_help(out, sc, &f[i], names->taken[i]);
	wrapped_put(&w, names->nr ? INDENT "\"\"\"\n" : "\"\"\"\n");
}

static void python_put_parameters(FILE *out, const char *function, const struct python_names *names)
{
	struct wrapped w = { .out = out, .indent = INDENT INDENT };

	wrapped_put(&w, "def %s(event_name, context, common_cpu,", function);
	fprintf(out,
		"\n        common_secs, common_nsecs, common_pid, common_comm, common_callchain,");
	w.column = COLUMNS;
	for (size_t i = 0; i < names->nr; i++) {
		wrapped_put_blank(&w, strlen(names->taken[i]) + 1);
		wrapped_put(&w, "%s,", names->taken[i]);
	}
	wrapped_put_blank(&w, strlen("perf_sample_dict):"));
	wrapped_put(&w, "perf_sample_dict):\n");
}

/*
 * `named(flag_str(event_name, "flags", flags), flags)`, `plain(args)`, `vec`; end is the text after
 * it.
 */
static void python_put_value(struct wrapped *w, const struct sonde_schema *sc,
			     const struct sonde_field *f, const char *name, const char *end)
{
	const struct sonde_define *names = skeleton_names(sc, f);
	size_t len = strlen(name), end_len = strlen(end);

	if (names) {
		wrapped_put_blank(w, strlen(f->name) + 2 * len + end_len + 35);
		wrapped_put(w, "named(%s(event_name, \"",
			    names->kind == SONDE_DEFINE_FLAG_FIELD ? "flag_str" : "symbol_str");
		python_put_quoted(w, f->name, false);
		wrapped_put(w, "\", %s), %s)%s", name, name, end);
	} else if (f->is_array || f->is_dynamic) {
		wrapped_put_blank(w, len + end_len + 7);
		wrapped_put(w, "plain(%s)%s", name, end);
	} else {
		wrapped_put_blank(w, len + end_len);
		wrapped_put(w, "%s%s", name, end);
	}
}

static void python_put_print(FILE *out, const struct sonde_schema *sc, const struct sonde_field *f,
			     const struct python_names *names)
{
	struct wrapped w = { .out = out, .indent = INDENT INDENT };
	size_t nr = names->nr;

	if (!nr)
		return;
	wrapped_put(&w, INDENT "print(\"\\t");
	for (size_t i = 0; i < nr; i++) {
		if (w.column + strlen(f[i].name) > COLUMNS - 10) {
			fprintf(out, "\"\n%s\"", w.indent);
			w.column = strlen(w.indent) + 1;
		}
		python_put_quoted(&w, f[i].name, true);
		wrapped_put(&w,
			    f[i].is_pointer && f[i].kind == SONDE_FIELD_INT ? "=0x%%x" : "=%%s");
		wrapped_put(&w, i + 1 < nr ? " " : "\" %% (");
	}
	w.column = COLUMNS; /* each value has its own line */
	for (size_t i = 0; i < nr; i++)
		python_put_value(&w, sc, &f[i], names->taken[i],
				 i + 1 < nr ? ","
				 : nr == 1  ? ",))\n"
					    : "))\n");
}

/* A name for the handler's function; borrowed until names are done. NULL if there is no memory. */
static const char *python_function_name(const char *handler, const struct sonde_schema *sc,
					struct python_names *functions)
{
	char *other;
	const char *name;

	if (python_names_valid(functions, handler))
		return python_names_take(functions, handler);
	/* With a single '_', so that it does not look like the handler of another event. */
	if (asprintf(&other, "%s_%s", sonde_schema_system(sc), sonde_schema_event(sc)) < 0)
		return NULL;
	name = python_names_take(functions, other);
	free(other);
	return name;
}

/* The names of a handler: of its function and of its parameters. */
struct python_handler {
	char *name;           /* sonde and perf look it up: "sched__sched_switch" */
	const char *function; /* the same, or another name if that is not one in Python */
	const struct sonde_field *fields;
	struct python_names names; /* a name for each field */
};

static int python_handler_init(struct python_handler *h, const struct sonde_schema *sc,
			       struct python_names *functions)
{
	size_t nr;

	*h = (struct python_handler){ .fields = skeleton_fields(sc, &nr) };
	if (asprintf(&h->name, "%s__%s", sonde_schema_system(sc), sonde_schema_event(sc)) < 0) {
		h->name = NULL;
		return -1;
	}
	h->function = python_function_name(h->name, sc, functions);
	for (size_t i = 0; h->function && i < nr; i++)
		if (!python_names_take(&h->names, h->fields[i].name))
			return -1;
	return h->function ? 0 : -1;
}

static void python_handler_done(struct python_handler *h)
{
	python_names_done(&h->names);
	free(h->name);
}

/* sonde finds a function of another name by the event's name. */
static void python_put_name(FILE *out, const struct python_handler *h)
{
	struct wrapped w = { .out = out };

	if (!strcmp(h->function, h->name))
		return;
	fputs("\n\nglobals()[\"", out);
	python_put_quoted(&w, h->name, false);
	fprintf(out, "\"] = %s\n", h->function);
}

static int python_put_handler(FILE *out, const struct sonde_schema *sc,
			      struct python_names *functions)
{
	struct python_handler h;

	if (python_handler_init(&h, sc, functions) < 0) {
		python_handler_done(&h);
		return -1;
	}
	fputs("\n\n", out);
	python_put_parameters(out, h.function, &h.names);
	python_put_help(out, sc, h.fields, &h.names);
	fputs(INDENT "show_event(event_name, common_cpu, common_secs, common_nsecs, common_pid, "
		     "common_comm)\n",
	      out);
	python_put_print(out, sc, h.fields, &h.names);
	fputs(INDENT "show_sample(perf_sample_dict, common_callchain)\n", out);
	python_put_name(out, &h);
	python_handler_done(&h);
	return 0;
}

int generate_python_signature(FILE *out, const struct sonde_schema *sc)
{
	struct python_names functions = { .functions = true };
	struct python_handler h;
	const int r = python_handler_init(&h, sc, &functions);

	if (r == 0) {
		python_put_parameters(out, h.function, &h.names);
		python_put_name(out, &h);
	}
	python_handler_done(&h);
	python_names_done(&functions);
	return r;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void python_put_process_event(FILE *out, const struct skeleton *sk)
{
	struct wrapped w = { .out = out, .indent = INDENT };

	fputs("\n\ndef process_event(param_dict):\n", out);
	w.column = strlen(INDENT);
	wrapped_put(&w, INDENT "\"\"\"Every sample of:");
	for (size_t i = 0; i < sk->nr_samples; i++) {
		const char *name = sonde_schema_name(sk->samples[i]);

		wrapped_put_blank(&w, strlen(name) + 1);
		python_put_quoted(&w, name, false);
		wrapped_put(&w, i + 1 < sk->nr_samples ? "," : ".");
	}
	fputs("\"\"\"\n", out);
	fputs(process_event, out);
}

int generate_python(FILE *out, const struct skeleton *sk)
{
	struct python_names functions = { .functions = true };
	int r = 0;

	fprintf(out,
		"# A handler for each event of a recording, written by sonde %s to be changed.\n"
		"#\n"
		"#   sonde script -i RECORDING -s THIS_FILE     (perf runs it, too: perf script -i "
		"RECORDING -s THIS_FILE)\n",
		sonde_version());
	fputs(common_help, out);
	fputs(opening, out);
	for (size_t i = 0; i < sk->nr_tracepoints && !r; i++)
		r = python_put_handler(out, sk->tracepoints[i], &functions);
	python_names_done(&functions);
	if (sk->nr_samples)
		python_put_process_event(out, sk);
	fputs(unhandled, out);
	fputs(helpers, out);
	return r;
}
