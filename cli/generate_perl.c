/* SPDX-License-Identifier: MIT */
/*
 * The skeleton in Perl: runs unchanged under sonde and perf. It loads Perf::Trace::Core, because
 * without it perf 6.1 dies at events with flags.
 */
#include "skeleton.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "generate_text.h"
#include "perl_names.h"

#define ESCAPED "\"\\$@"

/* clang-format off */
static const char opening[] =
	"use strict;\n"
	"use warnings;\n"
	"use lib \"$ENV{PERF_EXEC_PATH}/scripts/perl/Perf-Trace-Util/lib\";\n"
	"use Perf::Trace::Core;\n"
	"use Perf::Trace::Context;\n"
	"\n"
	"# Before the first event.\n"
	"sub trace_begin {\n"
	"}\n"
	"\n"
	"# After the last event.\n"
	"sub trace_end {\n"
	"}\n";

static const char common_help[] =
	"#\n"
	"# The first arguments of every sub:\n"
	"#\n"
	"#   $event_name         its own name: \"sched::sched_switch\"\n"
	"#   $context            for common_pc($context), common_flags($context), "
	"common_lock_depth($context)\n"
	"#   $common_cpu         number of the cpu\n"
	"#   $common_secs        time of the event: seconds ...\n"
	"#   $common_nsecs       ... and nanoseconds\n"
	"#   $common_pid         thread that ran\n"
	"#   $common_comm        its name\n"
	"#   $common_callchain   reference to the frames, innermost first; empty if none were "
	"recorded\n"
	"#\n"
	"# The fields of its event follow. Flags and symbols are printed as NAME(number). Subs "
	"that are not needed may be\n"
	"# deleted.\n"
	"\n";

static const char unhandled[] =
	"\n"
	"# Tracepoints that have no sub here; the fields are the further arguments.\n"
	"sub trace_unhandled {\n"
	"    my ($event_name, $context, $cpu, $secs, $nsecs, $tid, $comm, $chain, @fields) = @_;\n"
	"\n"
	"    show_event($event_name, $cpu, $secs, $nsecs, $tid, $comm);\n"
	"    show_chain($chain);\n"
	"}\n";

static const char process_event[] =
	"sub process_event {\n"
	"    my ($event, $attr, $sample, $raw_data) = @_;\n"
	"    my ($type, $misc, $size) = unpack 'LSS', $event;\n"
	"    my ($attr_type, $attr_size, $config) = unpack 'LLQ', $attr;\n"
	"    my ($ip, $pid, $tid, $time, $addr, $id, $stream_id, $period) = unpack 'QLLQQQQQ', "
	"$sample;\n"
	"\n"
	"    return if $attr_type == 2;    # tracepoints have their subs\n"
	"    printf \"%16s %7d %6d.%09d: ip=%x period=%d\\n\", '', $tid, $time / 1e9, $time % 1e9, "
	"$ip, $period;\n"
	"}\n";

static const char helpers[] =
	"\n"
	"# The line that each event begins with.\n"
	"sub show_event {\n"
	"    my ($event_name, $cpu, $secs, $nsecs, $tid, $comm) = @_;\n"
	"\n"
	"    printf \"%16s %7d [%03d] %6d.%09d: %s\\n\", $comm, $tid, $cpu, $secs, $nsecs, "
	"$event_name;\n"
	"}\n"
	"\n"
	"# The call chain, one line per frame.\n"
	"sub show_chain {\n"
	"    my ($chain) = @_;\n"
	"\n"
	"    for my $frame (@$chain) {\n"
	"        printf \"\\t%16x %s (%s)\\n\", $frame->{ip}, $frame->{sym} ? $frame->{sym}{name} "
	": '[unknown]',\n"
	"            $frame->{dso} // '[unknown]';\n"
	"    }\n"
	"}\n"
	"\n"
	"# A flag or symbol: NAME(number), or the number if it has no name.\n"
	"sub named {\n"
	"    my ($name, $value) = @_;\n"
	"\n"
	"    return defined $name && $name ne '' ? \"$name($value)\" : $value;\n"
	"}\n"
	"\n"
	"# An array of numbers: its bytes as hexadecimal digits (perf gives 0).\n"
	"sub plain {\n"
	"    my ($value) = @_;\n"
	"\n"
	"    return unpack 'H*', $value;\n"
	"}\n";
/* clang-format on */

/* ---- names ----------------------------------------------------------------------------------- */

/* Names of a sub's first arguments, and names that its text uses. */
static const char *const taken[] = {
	"event_name", "context",     "common_cpu",       "common_secs", "common_nsecs",
	"common_pid", "common_comm", "common_callchain", "a",           "b",
	"_"
};

static bool perl_is_taken(const char *name, char *const *before, size_t nr)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (!strcmp(taken[i], name))
			return true;
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(before[i], name))
			return true;
	return false;
}

/*
 * NAME, or else NAME_, NAME__, ...; bytes that are not allowed in names become '_'. NULL if there
 * is no memory.
 */
static char *perl_variable(const char *field, char *const *before, size_t nr)
{
	size_t len = strlen(field);
	char *name = calloc(1, len + nr + 16);

	if (!name)
		return NULL;
	memcpy(name, field, len);
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]))
			name[i] = '_';
	if (!len || isdigit((unsigned char)*name)) {
		memmove(name + 1, name, len++);
		*name = '_';
	}
	while (perl_is_taken(name, before, nr))
		name[len++] = '_';
	return name;
}

/* ---- a sub ----------------------------------------------------------------------------------- */

static const char *perl_value_type(const struct sonde_field *f)
{
	if (f->kind == SONDE_FIELD_NESTED)
		return "reference to a hash";
	if (f->is_array || f->is_dynamic)
		return f->is_text ? "text" : "bytes, for unpack";
	return "number";
}

static void perl_put_help(FILE *out, const struct sonde_schema *sc, const struct sonde_field *f,
			  char *const *names, size_t nr)
{
	struct wrapped w = { .out = out, .indent = "#       " };

	wrapped_put(&w, "\n# ");
	wrapped_put_quoted(&w, sonde_schema_name(sc), "", false);
	wrapped_put(&w, "\n");
	for (size_t i = 0; i < nr; i++) {
		const struct sonde_define *values = skeleton_names(sc, &f[i]);

		w.column = 0;
		wrapped_put(&w, "#   $%s: %s (", names[i], perl_value_type(&f[i]));
		wrapped_put_quoted(&w, f[i].type, "", false);
		if (f[i].width)
			wrapped_put(&w, ", %u byte%s", f[i].width, f[i].width == 1 ? "" : "s");
		wrapped_put(&w, f[i].kind == SONDE_FIELD_INT && f[i].is_signed ? ", signed)" : ")");
		if (values)
			wrapped_put_values(&w, sc, values, "");
		wrapped_put(&w, "\n");
	}
}

static void perl_put_parameters(FILE *out, char *const *names, size_t nr)
{
	struct wrapped w = { .out = out, .indent = "        ", .column = WRAPPED_COLUMNS };

	wrapped_put(&w,
		    "    my ($event_name, $context, $common_cpu, $common_secs, $common_nsecs, "
		    "$common_pid,\n"
		    "        $common_comm, $common_callchain%s",
		    nr ? "," : "");
	w.column = WRAPPED_COLUMNS;
	for (size_t i = 0; i < nr; i++) {
		wrapped_put_blank(&w, strlen(names[i]) + 8);
		wrapped_put(&w, "$%s%s", names[i], i + 1 < nr ? "," : "");
	}
	wrapped_put(&w, ") = @_;\n");
}

static void perl_put_value(struct wrapped *w, const struct sonde_schema *sc,
			   const struct sonde_field *f, const char *name)
{
	const struct sonde_define *values = skeleton_names(sc, f);

	if (values) {
		wrapped_put_blank(w, strlen(f->name) + 2 * strlen(name) + 40);
		wrapped_put(w, "named(%s($event_name, \"",
			    values->kind == SONDE_DEFINE_FLAG_FIELD ? "flag_str" : "symbol_str");
		wrapped_put_quoted(w, f->name, ESCAPED, false);
		wrapped_put(w, "\", $%s), $%s)", name, name);
	} else if (f->kind == SONDE_FIELD_NESTED) {
		wrapped_put_blank(w, 3 * strlen(name) + 46);
		wrapped_put(w, "join(\" \", map { \"$_=$%s->{$_}\" } sort keys %%$%s)", name, name);
	} else {
		const bool is_bytes = (f->is_array || f->is_dynamic) && !f->is_text;

		wrapped_put_blank(w, strlen(name) + 8);
		wrapped_put(w, is_bytes ? "plain($%s)" : "$%s", name);
	}
}

static void perl_put_print(FILE *out, const struct sonde_schema *sc, const struct sonde_field *f,
			   char *const *names, size_t nr)
{
	struct wrapped w = { .out = out, .indent = "        " };

	if (!nr)
		return;
	wrapped_put(&w, "    printf \"\\t");
	for (size_t i = 0; i < nr; i++) {
		if (w.column + strlen(f[i].name) > WRAPPED_COLUMNS - 10) {
			fprintf(out, "\" .\n%s\"", w.indent);
			w.column = strlen(w.indent) + 1;
		}
		wrapped_put_quoted(&w, f[i].name, ESCAPED, true);
		wrapped_put(&w,
			    f[i].is_pointer && f[i].kind == SONDE_FIELD_INT ? "=0x%%x" : "=%%s");
		wrapped_put(&w, i + 1 < nr ? " " : "\\n\",");
	}
	w.column = WRAPPED_COLUMNS; /* each value has its own line */
	for (size_t i = 0; i < nr; i++) {
		perl_put_value(&w, sc, &f[i], names[i]);
		wrapped_put(&w, i + 1 < nr ? "," : ";\n");
	}
}

/* The names of a sub's variables for the fields of its event. */
struct perl_names {
	const struct sonde_field *fields;
	char **names;
	size_t nr;
};

static void perl_names_done(struct perl_names *n)
{
	for (size_t i = 0; n->names && i < n->nr; i++)
		free(n->names[i]);
	free(n->names);
}

static int perl_names_init(struct perl_names *n, const struct sonde_schema *sc)
{
	size_t nr;

	*n = (struct perl_names){ .fields = skeleton_fields(sc, &nr) };
	n->names = calloc(nr + 1, sizeof(*n->names));
	for (; n->names && n->nr < nr; n->nr++) {
		n->names[n->nr] = perl_variable(n->fields[n->nr].name, n->names, n->nr);
		if (!n->names[n->nr])
			break;
	}
	if (n->names && n->nr == nr)
		return 0;
	perl_names_done(n);
	return -1;
}

/* The beginning of a sub. Returns the text that ends it. */
static const char *perl_put_head(FILE *out, const struct sonde_schema *sc)
{
	struct wrapped w = { .out = out };

	if (perl_names_valid(sonde_schema_system(sc)) && perl_names_valid(sonde_schema_event(sc))) {
		fprintf(out, "sub %s::%s {\n", sonde_schema_system(sc), sonde_schema_event(sc));
		return "}\n";
	}
	/* sonde still finds it by the event's name */
	wrapped_put(&w, "{\n    no strict 'refs';\n    *{\"");
	wrapped_put_quoted(&w, sonde_schema_system(sc), ESCAPED, false);
	wrapped_put(&w, "::");
	wrapped_put_quoted(&w, sonde_schema_event(sc), ESCAPED, false);
	wrapped_put(&w, "\"} = sub {\n");
	return "    };\n}\n";
}

static int perl_put_sub(FILE *out, const struct sonde_schema *sc)
{
	struct perl_names n;
	const char *end;

	if (perl_names_init(&n, sc) < 0)
		return -1;
	perl_put_help(out, sc, n.fields, n.names, n.nr);
	end = perl_put_head(out, sc);
	perl_put_parameters(out, n.names, n.nr);
	fputs("\n    show_event($event_name, $common_cpu, $common_secs, $common_nsecs, "
	      "$common_pid, "
	      "$common_comm);\n",
	      out);
	perl_put_print(out, sc, n.fields, n.names, n.nr);
	fputs("    show_chain($common_callchain);\n", out);
	fputs(end, out);
	perl_names_done(&n);
	return 0;
}

int generate_perl_signature(FILE *out, const struct sonde_schema *sc)
{
	struct perl_names n;
	const char *end;

	if (perl_names_init(&n, sc) < 0)
		return -1;
	end = perl_put_head(out, sc);
	perl_put_parameters(out, n.names, n.nr);
	fputs(end, out);
	perl_names_done(&n);
	return 0;
}

static void perl_put_process_event(FILE *out, const struct skeleton *sk)
{
	struct wrapped w = { .out = out, .indent = "#     " };

	wrapped_put(&w, "\n# Every sample (tracepoints, too), as strings of bytes; here those of:");
	for (size_t i = 0; i < sk->nr_samples; i++) {
		const char *name = sonde_schema_name(sk->samples[i]);

		wrapped_put_blank(&w, strlen(name) + 1);
		wrapped_put_quoted(&w, name, "", false);
		wrapped_put(&w, i + 1 < sk->nr_samples ? "," : ".");
	}
	fputs("\n#   $event: the record; $attr: struct perf_event_attr; $sample: its values, "
	      "beginning as unpacked here;\n"
	      "#   $raw_data: the payload\n",
	      out);
	fputs(process_event, out);
}

int generate_perl(FILE *out, const struct skeleton *sk)
{
	int r = 0;

	fprintf(out,
		"# A sub for each event of a recording, written by sonde %s to be changed.\n"
		"#\n"
		"#   sonde script -i RECORDING -s THIS_FILE     (perf runs it, too: perf script -i "
		"RECORDING -s THIS_FILE)\n",
		sonde_version());
	fputs(common_help, out);
	fputs(opening, out);
	for (size_t i = 0; i < sk->nr_tracepoints && !r; i++)
		r = perl_put_sub(out, sk->tracepoints[i]);
	if (sk->nr_samples)
		perl_put_process_event(out, sk);
	fputs(unhandled, out);
	fputs(helpers, out);
	return r;
}
