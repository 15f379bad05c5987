/* SPDX-License-Identifier: MIT */
/* All about one tracepoint: what a user needs to record, filter and handle it. */
#include "list.h"

#include "generate_text.h"
#include "say.h"
#include "skeleton.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool list_tracepoint_is_named(const struct event_listing *l, const char *name)
{
	for (int i = 0; i < l->nr_words; i++)
		if (!strcmp(l->words[i], name))
			return true;
	return false;
}

/* ---- an example of a filter ------------------------------------------------------------------ */

static bool list_tracepoint_is_number(const struct sonde_field *f)
{
	return f->kind == SONDE_FIELD_INT && !f->is_array && !f->is_dynamic;
}

/* True if the kernel compares the field as text. */
static bool list_tracepoint_is_text(const struct sonde_field *f)
{
	return f->kind == SONDE_FIELD_STRING;
}

/* True for the values of the flags or symbols of one field. names: their first step. */
static bool list_tracepoint_is_value(const struct sonde_define *d, const struct sonde_define *names)
{
	const uint32_t kind = names->kind == SONDE_DEFINE_FLAG_FIELD ? SONDE_DEFINE_FLAG_VALUE
								     : SONDE_DEFINE_SYMBOLIC_VALUE;

	return d->kind == kind && !strcmp(d->field, names->field);
}

/*
 * False if the kernel's format has names of constants in place of numbers: the values of several
 * names are then 0.
 */
static bool list_tracepoint_knows_values(const struct sonde_schema *sc,
					 const struct sonde_define *names)
{
	size_t nr, zeros = 0;
	const struct sonde_define *d = sonde_schema_defines(sc, &nr);

	for (; nr; nr--, d++)
		zeros += list_tracepoint_is_value(d, names) && !d->value;
	return zeros < 2;
}

/* The first value of a field's flags or symbols for which a filter makes sense; NULL if none. */
static const struct sonde_define *list_tracepoint_value(const struct sonde_schema *sc,
							const struct sonde_define *names)
{
	const bool flags = names->kind == SONDE_DEFINE_FLAG_FIELD;
	const bool known = list_tracepoint_knows_values(sc, names);
	size_t nr;
	const struct sonde_define *d = sonde_schema_defines(sc, &nr);

	for (; nr && known; nr--, d++)
		if (list_tracepoint_is_value(d, names) && (d->value || !flags))
			return d;
	return NULL;
}

int list_tracepoint_rank(const struct sonde_schema *sc, const struct sonde_field *f)
{
	if (list_tracepoint_is_text(f))
		return strstr(f->name, "comm") ? LIST_TRACEPOINT_RANKS : 4;
	if (!list_tracepoint_is_number(f) || (f->is_pointer && strstr(f->type, "char")))
		return 0;
	if (skeleton_names(sc, f) && list_tracepoint_value(sc, skeleton_names(sc, f)))
		return 5;
	return f->is_pointer ? 1 : strstr(f->name, "pid") ? 3 : 2;
}

/* "prev_comm ~ \"sh*\""; every tracepoint has at least common_pid. */
static void list_tracepoint_filter(const struct sonde_schema *sc, char *buf, size_t size)
{
	const struct sonde_field *f, *best = NULL;
	const struct sonde_define *names, *value;
	size_t nr;
	int rank = 0;

	f = skeleton_fields(sc, &nr);
	for (; nr; nr--, f++)
		if (list_tracepoint_rank(sc, f) > rank) {
			rank = list_tracepoint_rank(sc, f);
			best = f;
		}
	if (!best) {
		snprintf(buf, size, "common_pid > 1");
		return;
	}
	if (list_tracepoint_is_text(best)) {
		snprintf(buf, size, "%s ~ \"%s\"", best->name,
			 strstr(best->name, "comm")   ? "sh*"
			 : strstr(best->name, "file") ? "/etc/*"
						      : "*a*");
		return;
	}
	names = skeleton_names(sc, best);
	value = names ? list_tracepoint_value(sc, names) : NULL;
	if (value && names->kind == SONDE_DEFINE_FLAG_FIELD)
		snprintf(buf, size, "%s & 0x%" PRIx64, best->name, value->value);
	else if (value && best->is_signed)
		snprintf(buf, size, "%s == %" PRId64, best->name, (int64_t)value->value);
	else if (value)
		snprintf(buf, size, "%s == %" PRIu64, best->name, value->value);
	else
		snprintf(buf, size, best->is_pointer ? "%s != 0" : "%s > 1", best->name);
}

/* ---- texts that both forms print ------------------------------------------------------------- */

struct list_about {
	char filter[256], *record, *python, *perl; /* owned; NULL if there is no memory */
};

static char *list_tracepoint_signature(int (*generate)(FILE *out, const struct sonde_schema *sc),
				       const struct sonde_schema *sc)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	const bool failed = !out || generate(out, sc) < 0;

	if ((out && fclose(out)) || failed) {
		free(text);
		return NULL;
	}
	return text;
}

static struct list_about list_tracepoint_about(const struct sonde_schema *sc)
{
	struct list_about a = { 0 };

	list_tracepoint_filter(sc, a.filter, sizeof(a.filter));
	a.python = list_tracepoint_signature(generate_python_signature, sc);
	a.perl = list_tracepoint_signature(generate_perl_signature, sc);
	if (asprintf(&a.record, "sonde record -e %s -a -- sleep 1", sonde_schema_name(sc)) < 0)
		a.record = NULL;
	return a;
}

static void list_tracepoint_about_done(struct list_about *a)
{
	free(a->record);
	free(a->python);
	free(a->perl);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void list_tracepoint_put_values(const struct sonde_schema *sc,
				       const struct sonde_define *names)
{
	struct wrapped w = { .out = stdout, .indent = LIST_INDENT LIST_INDENT "    " };
	const bool flags = names->kind == SONDE_DEFINE_FLAG_FIELD;
	const bool known = list_tracepoint_knows_values(sc, names);
	size_t nr;
	const struct sonde_define *d = sonde_schema_defines(sc, &nr);
	const char *comma = "";

	wrapped_put(&w, LIST_INDENT LIST_INDENT "%s%s:", flags ? "flags" : "symbols",
		    known ? "" : " (the kernel's format does not have their values)");
	w.column += 2 * strlen(LIST_INDENT);
	for (; nr; nr--, d++) {
		if (!list_tracepoint_is_value(d, names))
			continue;
		wrapped_put(&w, "%s", comma);
		wrapped_put_blank(&w, strlen(d->text) + 12);
		if (known)
			wrapped_put(&w, "0x%" PRIx64 " ", d->value);
		wrapped_put_quoted(&w, d->text, "", false);
		comma = ",";
	}
	wrapped_put(&w, "\n");
}

static const char *list_tracepoint_shape(const struct sonde_field *f)
{
	if (f->is_dynamic)
		return list_tracepoint_is_text(f) ? "text of any length" : "array of any length";
	return list_tracepoint_is_text(f)      ? "text"
	       : f->kind == SONDE_FIELD_ARRAY  ? "array"
	       : f->kind == SONDE_FIELD_STRUCT ? "bytes"
	       : f->is_pointer                 ? "address"
	       : f->is_signed                  ? "signed"
					       : "unsigned";
}

static void list_tracepoint_put_fields(const struct sonde_schema *sc)
{
	size_t nr;
	const struct sonde_field *f = sonde_schema_fields(sc, &nr);

	printf("\n" LIST_INDENT "%6s %5s  %-28s %s\n", "offset", "bytes", "field", "type");
	for (; nr; nr--, f++) {
		const struct sonde_define *names = skeleton_names(sc, f);

		printf(LIST_INDENT "%6u %5u  %-28s %s, %s\n", f->offset, f->width, f->name, f->type,
		       list_tracepoint_shape(f));
		if (names)
			list_tracepoint_put_values(sc, names);
	}
}

/* Prints lines behind an indent. */
static void list_tracepoint_put_lines(const char *head, const char *text)
{
	if (!text)
		return;
	printf("\n" LIST_INDENT "%s:\n", head);
	while (*text) {
		const size_t len = strcspn(text, "\n");

		if (len)
			printf(LIST_INDENT "    %.*s\n", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

void list_put_tracepoint(struct event_listing *l, const char *name)
{
	struct sonde_tracepoint *t;
	const struct sonde_schema *sc;
	struct list_about a;

	if (sonde_tracepoint_open(&t, name) < 0) {
		cli_say("list: %s", sonde_error_text());
		return;
	}
	sc = sonde_tracepoint_schema(t);
	a = list_tracepoint_about(sc);
	list_tracepoint_put_fields(sc);
	list_tracepoint_put_lines("to record it", a.record);
	printf("\n" LIST_INDENT "with a filter of the kernel:\n" LIST_INDENT
	       "    sonde record -e %s --filter '%s' -a -- sleep 1\n",
	       name, a.filter);
	list_tracepoint_put_lines("to handle it in Python", a.python);
	list_tracepoint_put_lines("to handle it in Perl", a.perl);
	list_tracepoint_about_done(&a);
	sonde_tracepoint_close(t);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void list_tracepoint_put_values_json(const struct sonde_schema *sc,
					    const struct sonde_define *names)
{
	const bool flags = names->kind == SONDE_DEFINE_FLAG_FIELD;
	const bool known = list_tracepoint_knows_values(sc, names);
	size_t nr, n = 0;
	const struct sonde_define *d = sonde_schema_defines(sc, &nr);

	printf(",\"%s\":[", flags ? "flags" : "symbols");
	for (; nr; nr--, d++) {
		if (!list_tracepoint_is_value(d, names))
			continue;
		fputs(n++ ? ",{\"name\":" : "{\"name\":", stdout);
		json_put_string(d->text);
		if (known)
			printf(",\"value\":%" PRIu64, d->value);
		putchar('}');
	}
	putchar(']');
}

static void list_tracepoint_put_field_json(const struct sonde_schema *sc,
					   const struct sonde_field *f)
{
	const struct sonde_define *names = skeleton_names(sc, f);

	fputs("{\"name\":", stdout);
	json_put_string(f->name);
	json_put_member("type", f->type);
	printf(",\"offset\":%u,\"size\":%u,\"signed\":%s,\"common\":%s", f->offset, f->width,
	       f->is_signed ? "true" : "false", f->is_common ? "true" : "false");
	json_put_member("shape", list_tracepoint_shape(f));
	if (names)
		list_tracepoint_put_values_json(sc, names);
	putchar('}');
}

void list_put_tracepoint_json(struct event_listing *l, const char *name)
{
	struct sonde_tracepoint *t;
	const struct sonde_schema *sc;
	const struct sonde_field *f;
	struct list_about a;
	size_t nr;

	if (sonde_tracepoint_open(&t, name) < 0) {
		cli_say("list: %s", sonde_error_text());
		return;
	}
	sc = sonde_tracepoint_schema(t);
	a = list_tracepoint_about(sc);
	f = sonde_schema_fields(sc, &nr);
	fputs(",\"fields\":[", stdout);
	for (size_t i = 0; i < nr; i++) {
		if (i)
			putchar(',');
		list_tracepoint_put_field_json(sc, &f[i]);
	}
	putchar(']');
	json_put_member("record", a.record);
	json_put_member("filter", a.filter);
	json_put_member("python", a.python);
	json_put_member("perl", a.perl);
	list_tracepoint_about_done(&a);
	sonde_tracepoint_close(t);
}
