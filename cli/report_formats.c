/* SPDX-License-Identifier: MIT */
#include "report_formats.h"

#include "json.h"
#include "report_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- json ------------------------------------------------------------------------------------ */

struct formats_json {
	struct report_view *v;
	const struct sonde_profile_table *table;
	bool is_first; /* no row of the table is printed */
};

static int report_formats_put_string(FILE *out, const char *text)
{
	char *quoted = sonde_json_string(text, strlen(text));

	if (!quoted)
		return -ENOMEM;
	fputs(quoted, out);
	free(quoted);
	return 0;
}

static int report_formats_put_calls(FILE *out, const struct report_call *first)
{
	int r = 0;

	fputs(",\"calls\":[", out);
	for (const struct report_call *c = first; c && !r; c = c->next) {
		fprintf(out, "%s{\"name\":", c == first ? "" : ",");
		r = report_formats_put_string(out, c->name);
		fprintf(out, ",\"samples\":%" PRIu64 ",\"period\":%" PRIu64, c->cumul_count,
			c->cumul);
		if (!r && c->children)
			r = report_formats_put_calls(out, c->children);
		fputc('}', out);
	}
	fputc(']', out);
	return r;
}

static int report_formats_json_row(struct formats_json *j, FILE *out, const struct report_table *t,
				   const struct report_row *row)
{
	int r = 0;

	fputs(j->is_first ? "\n{" : ",\n{", out);
	j->is_first = false;
	for (size_t i = 0; i < t->nr_columns && !r; i++) {
		const struct report_column *c = &t->columns[i];

		if (c->is_number)
			continue;
		r = report_formats_put_string(out, c->name);
		fputc(':', out);
		if (!r)
			r = report_formats_put_string(out, row->texts[c->index]);
		fputc(',', out);
	}
	if (!r && row->unknown) {
		fputs("\"unresolved\":", out);
		r = report_formats_put_string(out, sonde_unknown_text(row->unknown));
		fputc(',', out);
	}
	fprintf(out, "\"samples\":%" PRIu64 ",\"period\":%" PRIu64, row->numbers[REPORT_SAMPLES],
		row->numbers[REPORT_PERIOD_SUM]);
	if (j->v->children)
		fprintf(out, ",\"children_period\":%" PRIu64, row->numbers[REPORT_CHILDREN]);
	if (!r && t->draw)
		r = t->draw(t->draw_ctx, out, row);
	fputc('}', out);
	return r;
}

static int report_formats_json_table(void *ctx, FILE *out, const struct report_table *t)
{
	struct formats_json *j = ctx;
	int r = 0;

	for (size_t i = 0; i < t->nr_rows && !r; i++)
		if (!report_row_is_small(t, &t->rows[i]))
			r = report_formats_json_row(j, out, t, &t->rows[i]);
	return r;
}

int report_formats_json(FILE *out, struct report_view *v, uint32_t nr_tables)
{
	bool is_first = true;
	int r = 0;

	v->put_calls = report_formats_put_calls;
	json_begin("report");
	fputs(",\"events\":[", out);
	for (uint32_t i = 0; i < nr_tables && !r; i++) {
		struct sonde_profile_table table = { .size = sizeof(table) };
		struct formats_json j = { v, &table, true };

		if (sonde_profile_table(v->profile, i, &table) != 1 || !table.samples)
			continue;
		fputs(is_first ? "\n{\"name\":" : ",\n{\"name\":", out);
		is_first = false;
		r = report_formats_put_string(out, table.name);
		fprintf(out, ",\"samples\":%" PRIu64 ",\"period\":%" PRIu64 ",\"rows\":[",
			table.samples, table.period);
		if (!r)
			r = report_view_make(v, i, report_formats_json_table, &j, out);
		fputs("]}", out);
	}
	fputs("]}\n", out);
	return r;
}

/* ---- csv ------------------------------------------------------------------------------------- */

struct formats_csv {
	struct report_view *v;
	const char *event;
	bool has_titles; /* printed */
};

/* As RFC 4180: quoted if there is a comma, a quote or an end of line in it. */
static void report_formats_put_csv(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static int report_formats_csv_table(void *ctx, FILE *out, const struct report_table *t)
{
	struct formats_csv *csv = ctx;

	if (!csv->has_titles) {
		fputs("event", out);
		for (size_t i = 0; i < t->nr_columns; i++) {
			if (t->columns[i].is_number)
				continue;
			fputc(',', out);
			report_formats_put_csv(out, t->columns[i].name);
		}
		fprintf(out, ",samples,period%s\n", csv->v->children ? ",children_period" : "");
		csv->has_titles = true;
	}
	for (size_t i = 0; i < t->nr_rows; i++) {
		const struct report_row *row = &t->rows[i];

		if (report_row_is_small(t, row))
			continue;
		report_formats_put_csv(out, csv->event);
		for (size_t k = 0; k < t->nr_columns; k++) {
			if (t->columns[k].is_number)
				continue;
			fputc(',', out);
			report_formats_put_csv(out, row->texts[t->columns[k].index]);
		}
		fprintf(out, ",%" PRIu64 ",%" PRIu64, row->numbers[REPORT_SAMPLES],
			row->numbers[REPORT_PERIOD_SUM]);
		if (csv->v->children)
			fprintf(out, ",%" PRIu64, row->numbers[REPORT_CHILDREN]);
		fputc('\n', out);
	}
	return 0;
}

int report_formats_csv(FILE *out, struct report_view *v, uint32_t nr_tables)
{
	struct formats_csv csv = { .v = v };
	int r = 0;

	for (uint32_t i = 0; i < nr_tables && !r; i++) {
		struct sonde_profile_table table = { .size = sizeof(table) };

		if (sonde_profile_table(v->profile, i, &table) != 1 || !table.samples)
			continue;
		csv.event = table.name;
		r = report_view_make(v, i, report_formats_csv_table, &csv, out);
	}
	return r;
}
