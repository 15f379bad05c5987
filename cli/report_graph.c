/* SPDX-License-Identifier: MIT */
#include "report_graph.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MARGIN 12
#define CELL   11 /* columns of one level */

/* A list of siblings in the order of printing. */
struct siblings {
	const struct report_call **calls;
	size_t nr;
};

struct drawing {
	FILE *out;
	const struct report_graph *g;
	unsigned int margin;
	/*
	 * Bit i is set if level i has further siblings, so that its bar is drawn. perf has 32 bits,
	 * and deeper levels share the bits of the first ones.
	 */
	uint32_t open;
};

static uint32_t report_graph_bit(unsigned int level)
{
	return 1u << (level & 31);
}

static double report_graph_percent(uint64_t part, uint64_t total)
{
	return total ? (double)part * 100.0 / (double)total : 0.0;
}

void report_percent_print(FILE *out, bool in_color, int width, double percent)
{
	const char *color = percent >= 5.0 ? "\033[31m" : "\033[32m";

	if (!in_color || percent < 0.5)
		fprintf(out, "%*.2f%%", width, percent);
	else
		fprintf(out, "%s%*.2f%%%s", color, width, percent, "\033[m");
}

static void report_graph_put_value(const struct drawing *d, uint64_t period, uint64_t count,
				   uint64_t total)
{
	switch (d->g->value) {
	case REPORT_PERCENT:
		report_percent_print(d->out, d->g->in_color, 0,
				     report_graph_percent(period, total));
		break;
	case REPORT_PERIOD:
		fprintf(d->out, "%llu", (unsigned long long)period);
		break;
	case REPORT_COUNT:
		fprintf(d->out, "%llu", (unsigned long long)count);
		break;
	}
}

static int report_graph_compare(const void *a, const void *b)
{
	const struct report_call *x = *(const struct report_call *const *)a;
	const struct report_call *y = *(const struct report_call *const *)b;

	return x->cumul < y->cumul ? 1 : x->cumul > y->cumul ? -1 : 0;
}

/* Merge sort, because it keeps the order of ties. */
static void report_graph_sort(const struct report_call **v, const struct report_call **room,
			      size_t n, int (*compare)(const void *, const void *))
{
	const size_t half = n / 2;
	size_t i = 0, j = half, k = 0;

	if (n < 2)
		return;
	report_graph_sort(v, room, half, compare);
	report_graph_sort(v + half, room, n - half, compare);
	while (i < half && j < n)
		room[k++] = compare(&v[i], &v[j]) <= 0 ? v[i++] : v[j++];
	while (i < half)
		room[k++] = v[i++];
	while (j < n)
		room[k++] = v[j++];
	for (i = 0; i < n; i++)
		v[i] = room[i];
}

/* Lists the siblings from `first` on that reach min, largest first. Freed with free(ret->calls). */
static int report_graph_siblings(const struct report_call *first, uint64_t min,
				 struct siblings *ret)
{
	size_t n = 0;

	*ret = (struct siblings){ 0 };
	for (const struct report_call *c = first; c; c = c->next)
		n += c->cumul >= min;
	if (!n)
		return 0;
	ret->calls = calloc(2 * n, sizeof(*ret->calls));
	if (!ret->calls)
		return -ENOMEM;
	for (const struct report_call *c = first; c; c = c->next)
		if (c->cumul >= min)
			ret->calls[ret->nr++] = c;
	report_graph_sort(ret->calls, ret->calls + n, n, report_graph_compare);
	return 0;
}

static uint64_t report_graph_sum(const struct report_call *first)
{
	uint64_t sum = 0;

	for (const struct report_call *c = first; c; c = c->next)
		sum += c->cumul;
	return sum;
}

static uint64_t report_graph_count(const struct report_call *first)
{
	uint64_t sum = 0;

	for (const struct report_call *c = first; c; c = c->next)
		sum += c->cumul_count;
	return sum;
}

/* The smallest value that is shown among the children of a node whose children add up to `sum`. */
static uint64_t report_graph_min(const struct report_graph *g, uint64_t sum)
{
	const double share = g->min_percent / 100.0;

	if (g->kind == REPORT_FRACTAL)
		return (uint64_t)ceil((double)sum * share);
	return (uint64_t)((double)g->total * share);
}

static uint64_t report_graph_percent_total(const struct report_graph *g)
{
	return g->percent_total ? g->percent_total : g->total;
}

uint64_t report_graph_least(const struct report_graph *g)
{
	return g->kind == REPORT_FRACTAL ? 0 : report_graph_min(g, 0);
}

/* True if the frame and its only child are printed as one branch. */
static bool report_graph_continues(const struct report_call *c)
{
	return !c->hit_count && c->children && !c->children->next;
}

static void report_graph_put_margin(const struct drawing *d)
{
	fprintf(d->out, "%*s", (int)(MARGIN + d->margin), "");
}

static void report_graph_put_bars(const struct drawing *d, unsigned int levels)
{
	report_graph_put_margin(d);
	for (unsigned int i = 0; i < levels; i++)
		fprintf(d->out, "%c%*s", d->open & report_graph_bit(i) ? '|' : ' ', CELL - 1, "");
}

static void report_graph_put_name(FILE *out, const struct report_call *c)
{
	fprintf(out, "%s%s\n", c->name, c->note ? c->note : "");
}

static void report_graph_put_frame(const struct drawing *d, const struct report_call *c,
				   bool has_value, uint64_t period, uint64_t count, uint64_t total,
				   unsigned int depth)
{
	report_graph_put_bars(d, depth - has_value);
	if (has_value) {
		fprintf(d->out, "%c--", d->open & report_graph_bit(depth - 1) ? '|' : ' ');
		report_graph_put_value(d, period, count, total);
		fputs("--", d->out);
	}
	report_graph_put_name(d->out, c);
}

/* Draws the siblings from `first` on. total is 100 % of their values. */
static int report_graph_draw(struct drawing *d, const struct report_call *first, uint64_t total,
			     unsigned int depth)
{
	const struct report_call rest = { .name = "[...]" };
	const bool is_fractal = d->g->kind == REPORT_FRACTAL;
	uint64_t remaining = total, count = 0;
	struct siblings s;
	size_t shown = 0;
	int r = report_graph_siblings(first, report_graph_min(d->g, report_graph_sum(first)), &s);

	for (size_t i = 0; !r && i < s.nr; i++) {
		const struct report_call *c = s.calls[i];
		const uint32_t before = d->open;

		remaining -= c->cumul;
		count += c->cumul_count;
		report_graph_put_bars(d, depth);
		fputc('\n', d->out);
		/* The bar ends at the last sibling, unless a remainder follows. */
		if (i + 1 == s.nr && (!is_fractal || !remaining))
			d->open &= ~report_graph_bit(depth - 1);
		report_graph_put_frame(d, c, true, c->cumul, c->cumul_count, total, depth);
		while (report_graph_continues(c)) {
			c = c->children;
			report_graph_put_frame(d, c, false, 0, 0, 0, depth);
		}
		d->open |= report_graph_bit(depth);
		r = report_graph_draw(d, c->children,
				      is_fractal ? report_graph_sum(c->children) : total,
				      depth + 1);
		d->open = before & ~(i + 1 == s.nr ? report_graph_bit(depth - 1) : 0);
		if (++shown == d->g->print_limit)
			break;
	}
	/* The remainder has no line of bars before it. */
	if (!r && is_fractal && shown && remaining && remaining != total) {
		const uint64_t all = report_graph_count(first);

		d->open &= ~report_graph_bit(depth - 1);
		if (d->g->value != REPORT_COUNT || all > count)
			report_graph_put_frame(d, &rest, true, remaining, all - count, total,
					       depth);
	}
	free(s.calls);
	return r;
}

/* ---- graph, fractal -------------------------------------------------------------------------- */

/* Draws the only root as the trunk; *ret is its last frame, or NULL if there are several roots. */
static int report_graph_draw_trunk(struct drawing *d, const struct report_graph_row *row,
				   const struct report_call **ret, bool *ret_printed)
{
	struct siblings s;
	int r = report_graph_siblings(row->roots,
				      report_graph_min(d->g, report_graph_sum(row->roots)), &s);
	const struct report_call *c = s.nr ? s.calls[0] : NULL;
	uint32_t entries = 0;

	*ret = NULL;
	*ret_printed = s.nr > 0;
	if (r || s.nr != 1 || c->cumul != row->value) {
		free(s.calls);
		return r;
	}
	free(s.calls);
	*ret_printed = false;
	for (bool is_first = true, is_cut = false;; is_first = false) {
		if (!is_cut && !(is_first && row->omits_first)) {
			if (!*ret_printed) {
				report_graph_put_margin(d);
				fputs("|\n", d->out);
				report_graph_put_margin(d);
				fputs("---", d->out);
				d->margin += 3;
				*ret_printed = true;
			} else {
				report_graph_put_margin(d);
			}
			report_graph_put_name(d->out, c);
			is_cut = ++entries == d->g->print_limit;
		}
		if (!report_graph_continues(c))
			break;
		c = c->children;
	}
	*ret = c;
	return 0;
}

static int report_graph_print_tree(FILE *out, const struct report_graph *g,
				   const struct report_graph_row *row)
{
	struct drawing d = { .out = out, .g = g, .margin = row->margin, .open = 1 };
	const struct report_call *trunk, *first = row->roots;
	uint64_t total = g->kind == REPORT_FRACTAL ? row->value : report_graph_percent_total(g);
	struct siblings s;
	bool printed;
	int r = report_graph_draw_trunk(&d, row, &trunk, &printed);

	if (r)
		return r;
	if (trunk) {
		first = trunk->children;
		r = report_graph_siblings(first, report_graph_min(g, report_graph_sum(first)), &s);
		if (r)
			return r;
		printed |= s.nr > 0;
		free(s.calls);
	}
	r = report_graph_draw(&d, first, total, 1);
	if (!r && printed)
		fputc('\n', out);
	return r;
}

/* ---- flat, folded ---------------------------------------------------------------------------- */

static int report_graph_compare_hits(const void *a, const void *b)
{
	const struct report_call *x = *(const struct report_call *const *)a;
	const struct report_call *y = *(const struct report_call *const *)b;

	return x->hit < y->hit ? 1 : x->hit > y->hit ? -1 : 0;
}

/*
 * Returns the number of nodes in which chains of at least `min` end. Stores the nodes if ret is not
 * NULL.
 */
static size_t report_graph_ends(const struct report_call *first, uint64_t min,
				const struct report_call **ret)
{
	size_t n = 0;

	for (const struct report_call *c = first; c; c = c->next) {
		n += report_graph_ends(c->children, min, ret ? ret + n : NULL);
		if (!c->hit || c->hit < min)
			continue;
		if (ret)
			ret[n] = c;
		n++;
	}
	return n;
}

static void report_graph_put_chain(FILE *out, const struct report_call *c)
{
	if (c->parent)
		report_graph_put_chain(out, c->parent);
	if (!c->is_marker)
		fprintf(out, "%16s%s\n", "", c->name);
}

static void report_graph_put_folded(FILE *out, const struct report_call *c, const char *separator)
{
	if (c->parent) {
		report_graph_put_folded(out, c->parent, separator);
		fputs(separator, out);
	}
	fputs(c->name, out);
}

static int report_graph_print_chains(FILE *out, const struct report_graph *g,
				     const struct report_graph_row *row)
{
	const struct drawing d = { .out = out, .g = g };
	const uint64_t min = report_graph_min(g, 0);
	const size_t n = report_graph_ends(row->roots, min, NULL);
	const struct report_call **calls = calloc(2 * n + 1, sizeof(*calls));

	if (!calls)
		return -ENOMEM;
	report_graph_ends(row->roots, min, calls);
	report_graph_sort(calls, calls + n, n, report_graph_compare_hits);
	for (size_t i = 0; i < n && !(g->print_limit && i == g->print_limit); i++) {
		const struct report_call *c = calls[i];

		if (g->kind == REPORT_FOLDED) {
			report_graph_put_value(&d, c->hit, c->hit_count,
					       report_graph_percent_total(g));
			fputc(' ', out);
			report_graph_put_folded(out, c, g->separator ? g->separator : ";");
			fputc('\n', out);
			continue;
		}
		fprintf(out, "%11s", "");
		report_graph_put_value(&d, c->cumul, c->cumul_count, report_graph_percent_total(g));
		fputc('\n', out);
		report_graph_put_chain(out, c);
		fputc('\n', out);
	}
	free(calls);
	return 0;
}

int report_graph_print(FILE *out, const struct report_graph *g, const struct report_graph_row *row)
{
	switch (g->kind) {
	case REPORT_GRAPH:
	case REPORT_FRACTAL:
		return report_graph_print_tree(out, g, row);
	case REPORT_FLAT:
	case REPORT_FOLDED:
		return report_graph_print_chains(out, g, row);
	case REPORT_NO_GRAPH:
		break;
	}
	return 0;
}
