/* SPDX-License-Identifier: MIT */
/* The starter in Perl: functions of the module Sonde. */
#include "starter.h"

#include "generate_text.h"
#include "perl_names.h"

#include <string.h>

/* clang-format off */
static const char opening[] =
	"#\n"
	"# Values of fields are the further arguments of a sub: sonde list EVENT shows all.\n"
	"# perldoc Sonde describes on, count and the others.\n"
	"\n"
	"use strict;\n"
	"use warnings;\n"
	"use Sonde qw(at_end count on);\n"
	"\n"
	"my $shown = 5;    # events of each kind that are printed\n"
	"my %seen;\n"
	"\n";

static const char show[] =
	"\n"
	"# Prints the first events of each kind.\n"
	"sub show {\n"
	"    my ($e, @fields) = @_;\n"
	"    my @values;\n"
	"\n"
	"    return if ++$seen{ $e->name } > $shown;\n"
	"    while (my ($name, $value) = splice @fields, 0, 2) {\n"
	"        push @values, \"$name=$value\";\n"
	"    }\n"
	"    printf \"%16s %7d  %s  %s\\n\", $e->comm, $e->tid, $e->name, join \" \", @values;\n"
	"}\n";

static const char ending[] =
	"\n"
	"at_end {\n"
	"    my $events = 0;\n"
	"\n"
	"    $events += $_ for values %seen;\n"
	"    printf \"events: %d, kinds: %d\\n\", $events, scalar keys %seen;\n"
	"};\n";
/* clang-format on */

/* A field whose value can have a variable of its name beside $e. */
static bool starter_perl_is_name(const char *name)
{
	return perl_names_valid(name) && strcmp(name, "e") && strcmp(name, "a") &&
	       strcmp(name, "b") && strcmp(name, "_");
}

static void starter_perl_put_quoted(FILE *out, const char *text)
{
	struct wrapped w = { .out = out };

	fputc('"', out);
	wrapped_put_quoted(&w, text, "\"\\$@", false);
	fputc('"', out);
}

static void starter_perl_put_variables(FILE *out, const struct sonde_field *const *fields,
				       size_t nr)
{
	struct wrapped w = { .out = out, .indent = "        " };

	wrapped_put(&w, "    my ($e");
	for (size_t i = 0; i < nr; i++) {
		wrapped_put(&w, ",");
		wrapped_put_blank(&w, strlen(fields[i]->name) + 8);
		wrapped_put(&w, "$%s", fields[i]->name);
	}
	wrapped_put(&w, ") = @_;\n\n");
}

static void starter_perl_put_handler(FILE *out, const struct starter_event *e)
{
	const struct sonde_field *fields[STARTER_FIELDS];
	const size_t nr = e->sc ? starter_fields(e->sc, fields, starter_perl_is_name) : 0;
	struct wrapped w = { .out = out, .indent = "    ", .column = strlen(e->name) + 6 };

	fputs("\non ", out);
	starter_perl_put_quoted(out, e->name);
	fputs(",", out);
	if (nr) {
		wrapped_put_blank(&w, strlen(fields[0]->name) + 16);
		wrapped_put(&w, "fields => [qw(");
	}
	for (size_t i = 0; i < nr; i++) {
		if (i)
			wrapped_put_blank(&w, strlen(fields[i]->name) + 10);
		wrapped_put(&w, "%s%s", fields[i]->name, i + 1 < nr ? "" : ")],");
	}
	fputs(" sub {\n", out);
	starter_perl_put_variables(out, fields, nr);
	w.column = 0;
	w.indent = "        ";
	wrapped_put(&w, "    show($e%s", strpbrk(e->name, "*?[") ? ", text => $e->text" : "");
	for (size_t i = 0; i < nr; i++) {
		wrapped_put(&w, ",");
		wrapped_put_blank(&w, 2 * strlen(fields[i]->name) + 7);
		wrapped_put(&w, "%s => $%s", fields[i]->name, fields[i]->name);
	}
	fputs(");\n};\n", out);
}

static void starter_perl_put_count(FILE *out, const struct starter *s)
{
	fputs("# Counts in C, without a call for each event, and prints itself at the end. Keys "
	      "are comm,\n# pid, tid, cpu, name, kstack, ustack and fields.\ncount ",
	      out);
	for (size_t i = 0; i < s->nr_events; i++) {
		fputs(i ? ",\n       " : s->nr_events > 1 ? "[" : "", out);
		starter_perl_put_quoted(out, s->events[i].name);
	}
	fputs(s->nr_events > 1 ? "],\n      by => \"name,comm\";\n" : ", by => \"comm\";\n", out);
}

int starter_perl(FILE *out, const struct starter *s)
{
	struct wrapped w = { .out = out };

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
	starter_perl_put_count(out, s);
	fputs(show, out);
	for (size_t i = 0; i < s->nr_events; i++)
		starter_perl_put_handler(out, &s->events[i]);
	fputs(ending, out);
	return 0;
}
