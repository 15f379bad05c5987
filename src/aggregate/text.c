/* SPDX-License-Identifier: MIT */
/*
 * The rows of an aggregation as text, in the form of the shipped analyses (scripts/analysis.py): a
 * title, then a table whose last column is a bar, or for each row a histogram.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/aggregate.h"
#include "base/err.h"
#include "columns/utf8.h"

enum {
	TEXT_TOP = 20,   /* rows, by default */
	TEXT_BAR = 50,   /* characters of the longest bar */
	TEXT_NARROW = 8, /* ends of buckets */
	TEXT_MAX_CELLS = AGGREGATE_MAX_KEYS + 8,
};

/* A column of the table. */
struct text_column {
	const char *name;
	bool is_right;
	unsigned width;
};

struct text {
	struct aggregate *a;
	struct outbuf *out;
	unsigned columns; /* of the screen; 0: no limit */
	bool is_time;     /* values are nanoseconds */
	struct text_column column[TEXT_MAX_CELLS];
	unsigned nr_columns, nr_keys; /* nr_keys: columns of keys, without call chains */
	struct outbuf cells;          /* texts, each with its NUL; of histograms one text */
	VEC(uint32_t) starts;         /* of the texts in cells */
	VEC(uint64_t) sizes;          /* by row: what bars show */
};

/* ---- values ---------------------------------------------------------------------------------- */

/* "1.23 ms": three digits and a unit, all of one width. */
static void text_put_time(struct outbuf *o, int64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", " s" };
	double v = ns < 0 ? -(double)ns : (double)ns;
	unsigned unit = 0;

	while (unit < 3 && v >= 999.5) {
		v /= 1000;
		unit++;
	}
	outbuf_fmt(o, "%s%.*f %s", ns < 0 ? "-" : "",
		   !unit || v >= 99.95 ? 0
		   : v >= 9.995        ? 1
				       : 2,
		   v, units[unit]);
}

static void text_put_number(const struct text *t, struct outbuf *o, int64_t v)
{
	if (t->is_time)
		text_put_time(o, v);
	else
		outbuf_i64(o, v);
}

static bool text_is_control(const uint8_t *p, size_t len)
{
	return *p < ' ' || *p == 0x7f || (*p == 0xc2 && len > 1 && p[1] >= 0x80 && p[1] < 0xa0);
}

/* Control characters, and bytes that are not UTF-8, cannot reach a terminal. */
static void text_put_words(struct outbuf *o, const char *text, size_t len)
{
	const uint8_t *p = (const uint8_t *)text, *end = p + len;

	while (p < end) {
		const uint8_t *from = p;

		while (p < end && !text_is_control(p, (size_t)(end - p)))
			p++;
		if (p > from)
			utf8_append(from, (size_t)(p - from), o);
		for (int n = p < end ? 1 + (*p == 0xc2) : 0; n; n--)
			outbuf_fmt(o, "\\x%02x", *p++);
	}
}

static void text_put_key(struct outbuf *o, const struct sonde_aggregate_value *v)
{
	switch (v->kind) {
	case SONDE_AGGREGATE_NUMBER:
		outbuf_i64(o, (int64_t)v->number);
		return;
	case SONDE_AGGREGATE_UNSIGNED:
		outbuf_u64(o, v->number);
		return;
	case SONDE_AGGREGATE_ADDRESS:
		outbuf_fmt(o, "%#" PRIx64, v->number);
		return;
	case SONDE_AGGREGATE_TEXT:
		text_put_words(o, v->text, strlen(v->text));
		return;
	default:
		outbuf_char(o, '-');
	}
}

/* Columns on a terminal: bytes that begin a character. */
static unsigned text_width(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static bool text_is_stack(const struct aggregate_key *k)
{
	return k->kind >= KEY_KSTACK && k->kind <= KEY_STACK;
}

static void text_put_field(struct outbuf *o, const char *s, unsigned width, bool is_right)
{
	const unsigned len = text_width(s), pad = len < width ? width - len : 0;

	if (is_right)
		outbuf_pad(o, ' ', pad);
	outbuf_str(o, s);
	if (!is_right)
		outbuf_pad(o, ' ', pad);
}

/* Removes the blanks at the end of a line, and ends it. */
static void text_end_line(struct outbuf *o)
{
	while (o->len && o->data[o->len - 1] == ' ')
		o->len--;
	outbuf_char(o, '\n');
}

/* At least one character for a size that is not 0. */
static void text_put_bar(struct outbuf *o, uint64_t size, uint64_t most, unsigned longest)
{
	if (size && most)
		outbuf_pad(o, '#', (size_t)((double)size / (double)most * longest + 0.999999));
}

/* ---- the table ------------------------------------------------------------------------------- */

static void text_add_column(struct text *t, const char *name, bool is_right)
{
	t->column[t->nr_columns++] = (struct text_column){ name, is_right, text_width(name) };
}

static int text_begin_cell(struct text *t)
{
	return vec_push(&t->starts, (uint32_t)t->cells.len);
}

static int text_add_number(struct text *t, int64_t v)
{
	TRY(text_begin_cell(t));
	text_put_number(t, &t->cells, v);
	outbuf_char(&t->cells, '\0');
	return 0;
}

static int text_add_count(struct text *t, uint64_t v)
{
	TRY(text_begin_cell(t));
	outbuf_u64(&t->cells, v);
	outbuf_char(&t->cells, '\0');
	return 0;
}

static int text_add_keys(struct text *t, const struct sonde_aggregate_row *row)
{
	bool is_first = true;

	for (unsigned i = 0; i < t->a->nr_keys; i++) {
		if (text_is_stack(&t->a->keys[i]))
			continue;
		TRY(text_begin_cell(t));
		if (row->nr_keys)
			text_put_key(&t->cells, &row->keys[i]);
		else if (is_first)
			outbuf_str(&t->cells, "(other)");
		outbuf_char(&t->cells, '\0');
		is_first = false;
	}
	return 0;
}

static uint64_t text_size(const struct aggregate *a, const struct sonde_aggregate_row *row)
{
	if (a->kind == AGGREGATE_COUNT)
		return row->count;
	return a->kind == AGGREGATE_SUM && row->sum > 0 ? (uint64_t)row->sum : 0;
}

static int text_add_row(struct text *t, const struct sonde_aggregate_row *row)
{
	const enum aggregate_kind kind = t->a->kind;
	const int64_t stats[] = { row->sum, row->mean, row->min, row->p50,
				  row->p90, row->p95,  row->p99, row->max };

	TRY(text_add_keys(t, row));
	if (kind != AGGREGATE_SUM)
		TRY(text_add_count(t, row->count));
	if (kind == AGGREGATE_SUM)
		TRY(text_add_number(t, row->sum));
	for (unsigned i = 0; kind == AGGREGATE_STATS && i < sizeof(stats) / sizeof(*stats); i++)
		TRY(text_add_number(t, stats[i]));
	return vec_push(&t->sizes, text_size(t->a, row));
}

static void text_add_columns(struct text *t)
{
	static const char *const stats[] = {
		"sum", "mean", "min", "p50", "p90", "p95", "p99", "max"
	};
	const struct aggregate *a = t->a;

	for (unsigned i = 0; i < a->nr_keys; i++) {
		const struct aggregate_key *k = &a->keys[i];
		const bool is_text = k->kind == KEY_NAME || k->kind == KEY_COMM ||
				     k->kind == KEY_CGROUP || (k->kind == KEY_FIELD && k->is_text);

		if (!text_is_stack(k))
			text_add_column(t, k->name, !is_text);
	}
	t->nr_keys = t->nr_columns;
	text_add_column(t, a->kind == AGGREGATE_SUM ? "sum" : "count", true);
	for (unsigned i = 0; a->kind == AGGREGATE_STATS && i < sizeof(stats) / sizeof(*stats); i++)
		text_add_column(t, stats[i], true);
}

static unsigned text_measure(struct text *t)
{
	unsigned all = 0;

	for (size_t i = 0; i < t->starts.n; i++) {
		struct text_column *c = &t->column[i % t->nr_columns];
		const unsigned width = text_width(t->cells.data + t->starts.v[i]);

		c->width = width > c->width ? width : c->width;
	}
	for (unsigned i = 0; i < t->nr_columns; i++)
		all += t->column[i].width + 2;
	return all;
}

/* Frames of a call chain, a line each, the innermost first. */
static void text_put_frames(struct outbuf *o, const struct sonde_aggregate_value *v)
{
	const char *end = v->text ? v->text + strlen(v->text) : NULL;

	if (v->kind != SONDE_AGGREGATE_STACK) {
		outbuf_str(o, "    (no call chain)\n");
		return;
	}
	while (end > v->text) {
		const char *begin = end;

		while (begin > v->text && begin[-1] != ';')
			begin--;
		outbuf_str(o, "    ");
		text_put_words(o, begin, (size_t)(end - begin));
		outbuf_char(o, '\n');
		end = begin > v->text ? begin - 1 : begin;
	}
}

static void text_put_stacks(struct text *t, size_t i)
{
	struct sonde_aggregate_row row;
	unsigned nr = 0;

	for (unsigned k = 0; k < t->a->nr_keys; k++)
		nr += text_is_stack(&t->a->keys[k]);
	if (!nr || aggregate_row_at(t->a, i, &row) <= 0)
		return;
	if (!row.nr_keys)
		outbuf_str(t->out, "    (other)\n");
	for (unsigned k = 0; k < row.nr_keys; k++) {
		if (!text_is_stack(&t->a->keys[k]))
			continue;
		if (nr > 1)
			outbuf_fmt(t->out, "  %s\n", t->a->keys[k].name);
		text_put_frames(t->out, &row.keys[k]);
	}
}

static void text_put_line(struct text *t, const char *const *cells, uint64_t size, uint64_t most,
			  unsigned longest)
{
	for (unsigned i = 0; i < t->nr_columns; i++) {
		if (i)
			outbuf_str(t->out, "  ");
		text_put_field(t->out, cells[i], t->column[i].width, t->column[i].is_right);
	}
	if (size) {
		outbuf_str(t->out, "  ");
		text_put_bar(t->out, size, most, longest);
	}
	text_end_line(t->out);
}

static unsigned text_longest(const struct text *t, unsigned used)
{
	if (!t->columns || used + TEXT_BAR <= t->columns)
		return TEXT_BAR;
	return used + 1 < t->columns ? t->columns - used : 1;
}

/* places: of the rows that are shown. */
static int text_put_table(struct text *t, const uint32_t *places, size_t nr)
{
	const char *cells[TEXT_MAX_CELLS];
	uint64_t most = 0;
	unsigned longest;

	text_add_columns(t);
	for (size_t i = 0; i < nr; i++) {
		struct sonde_aggregate_row row;

		TRY(aggregate_row_at(t->a, places[i], &row));
		TRY(text_add_row(t, &row));
		most = t->sizes.v[i] > most ? t->sizes.v[i] : most;
	}
	if (t->cells.failed)
		return err_nomem();
	longest = text_longest(t, text_measure(t));
	for (unsigned i = 0; i < t->nr_columns; i++)
		cells[i] = t->column[i].name;
	text_put_line(t, cells, 0, 0, 0);
	for (size_t i = 0; i < nr; i++) {
		for (unsigned k = 0; k < t->nr_columns; k++)
			cells[k] = t->cells.data + t->starts.v[i * t->nr_columns + k];
		text_put_line(t, cells, nr > 1 ? t->sizes.v[i] : 0, most, longest);
		text_put_stacks(t, places[i]);
	}
	return 0;
}

/* ---- histograms ------------------------------------------------------------------------------ */

static void text_put_end(struct text *t, unsigned width, bool is_open, int64_t v)
{
	struct outbuf *end = &t->cells;

	end->len = 0;
	if (is_open)
		outbuf_str(end, "...");
	else
		text_put_number(t, end, v);
	outbuf_char(end, '\0');
	if (end->failed)
		t->out->failed = true;
	else
		text_put_field(t->out, end->data, width, true);
}

static unsigned text_digits(uint64_t v)
{
	unsigned n = 1;

	for (; v >= 10; v /= 10)
		n++;
	return n;
}

static void text_put_buckets(struct text *t, const struct sonde_aggregate_row *row)
{
	unsigned digits = 1, width = TEXT_NARROW, longest;
	uint64_t most = 0;

	for (uint32_t i = 0; i < row->nr_buckets; i++) {
		const struct sonde_aggregate_bucket *b = &row->buckets[i];
		const int64_t ends[2] = { b->low == INT64_MIN ? 0 : b->low,
					  b->high == INT64_MAX ? 0 : b->high };

		most = b->count > most ? b->count : most;
		for (unsigned k = 0; k < 2 && !t->is_time; k++) {
			const uint64_t v = ends[k] < 0 ? -(uint64_t)ends[k] : (uint64_t)ends[k] + 1;
			const unsigned need = text_digits(v) + (ends[k] < 0);

			width = need > width ? need : width;
		}
	}
	digits = text_digits(most);
	longest = text_longest(t, 2 * width + 7 + digits);
	for (uint32_t i = 0; i < row->nr_buckets; i++) {
		const struct sonde_aggregate_bucket *b = &row->buckets[i];

		text_put_end(t, width, b->low == INT64_MIN, b->low);
		outbuf_str(t->out, " .. ");
		text_put_end(t, width, b->high == INT64_MAX,
			     b->high == INT64_MAX ? 0 : b->high + 1);
		outbuf_str(t->out, "  ");
		outbuf_u64_width(t->out, b->count, digits, ' ');
		outbuf_char(t->out, ' ');
		text_put_bar(t->out, b->count, most, longest);
		text_end_line(t->out);
	}
}

/* "comm dd, cpu 3: 1234 events" */
static void text_put_subject(struct text *t, const struct sonde_aggregate_row *row)
{
	const char *separator = "";

	if (!row->nr_keys && t->a->nr_keys)
		outbuf_str(t->out, "(other)");
	for (unsigned i = 0; i < row->nr_keys; i++) {
		if (text_is_stack(&t->a->keys[i]))
			continue;
		outbuf_fmt(t->out, "%s%s ", separator, t->a->keys[i].name);
		text_put_key(t->out, &row->keys[i]);
		separator = ", ";
	}
	if (t->a->nr_keys && (*separator || !row->nr_keys))
		outbuf_str(t->out, ": ");
	outbuf_fmt(t->out, "%" PRIu64 " event%s\n", row->count, row->count == 1 ? "" : "s");
}

static int text_put_histograms(struct text *t, const uint32_t *places, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct sonde_aggregate_row row;

		TRY(aggregate_row_at(t->a, places[i], &row));
		if (i)
			outbuf_char(t->out, '\n');
		text_put_subject(t, &row);
		if (row.nr_keys)
			text_put_stacks(t, places[i]);
		text_put_buckets(t, &row);
	}
	return 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

static void text_put_notes(struct text *t, size_t left_out)
{
	const struct aggregate *a = t->a;

	if (left_out)
		outbuf_fmt(t->out, "... %zu more\n", left_out);
	if (a->merged_shown)
		outbuf_fmt(t->out,
			   "%" PRIu64 " key%s beyond the limit of %u %s merged into (other)\n",
			   a->merged_shown, a->merged_shown == 1 ? "" : "s", a->limit,
			   a->merged_shown == 1 ? "was" : "were");
	if (a->unfit)
		outbuf_fmt(t->out, "%" PRIu64 " event%s without a value %s left out\n", a->unfit,
			   a->unfit == 1 ? "" : "s", a->unfit == 1 ? "was" : "were");
	if (a->saturated)
		outbuf_str(t->out, "a sum left the range of 64 bits and stays at its end\n");
}

static int text_put_rows(struct text *t, uint32_t top)
{
	VEC(uint32_t) places = { 0 };
	const size_t nr = t->a->order.n;
	const bool has_other = nr && t->a->order.v[nr - 1] == AGGREGATE_OTHER;
	const size_t own = nr - has_other, shown = top && top < own ? top : own;
	int r = vec_reserve(&places, shown + 1);

	for (uint32_t i = 0; i < shown && r >= 0; i++)
		places.v[places.n++] = i;
	if (has_other && r >= 0)
		places.v[places.n++] = (uint32_t)(nr - 1);
	if (!nr)
		outbuf_str(t->out, "(none)\n");
	else if (r >= 0)
		r = t->a->kind >= AGGREGATE_HIST ? text_put_histograms(t, places.v, places.n)
						 : text_put_table(t, places.v, places.n);
	text_put_notes(t, own - shown);
	vec_done(&places);
	return r;
}

static bool text_is_time(const char *field)
{
	const size_t len = field ? strlen(field) : 0;

	return (len == 2 && !strcmp(field, "ns")) || (len > 3 && !strcmp(field + len - 3, "_ns"));
}

/* ", 1.000 to 2.000 s"; microseconds for short periods. */
static void text_put_period(struct outbuf *out, const struct sonde_aggregate_print_options *o)
{
	const uint64_t ns[] = { o->from_ns, o->to_ns };
	const bool is_short = o->to_ns - o->from_ns < 10000000;

	for (int i = 0; i < 2 && o->to_ns; i++) {
		outbuf_fmt(out, "%s%" PRIu64, i ? " to " : ", ", ns[i] / 1000000000);
		if (is_short)
			outbuf_fmt(out, ".%06u", (unsigned)(ns[i] % 1000000000 / 1000));
		else
			outbuf_fmt(out, ".%03u", (unsigned)(ns[i] % 1000000000 / 1000000));
	}
	if (o->to_ns)
		outbuf_str(out, " s");
}

int aggregate_put_text(struct aggregate *a, const struct sonde_aggregate_print_options *o,
		       struct outbuf *out)
{
	struct text t = {
		.a = a,
		.out = out,
		.columns = o->columns,
		.is_time = text_is_time(a->field),
	};
	int r = aggregate_sort(a);

	if (r < 0)
		return r;
	text_put_words(out, a->title, strlen(a->title));
	text_put_period(out, o);
	outbuf_char(out, '\n');
	r = text_put_rows(&t, o->top ? o->top : TEXT_TOP);
	outbuf_done(&t.cells);
	vec_done(&t.starts);
	vec_done(&t.sizes);
	return out->failed ? err_nomem() : r < 0 ? r : 0;
}
