/* SPDX-License-Identifier: MIT */
/* The order of rows: see sonde_profile_sort(). */

#include "profile/sort.h"

#include <string.h>

#include "base/err.h"
#include "profile/columns.h"
#include "profile/counts.h"
#include "profile/field_widths.h"
#include "profile/treesort.h"

enum sort_what {
	SORT_KEY,
	SORT_CHILDREN,
	SORT_CHILDREN_ONLY,
	SORT_PERIOD,
	SORT_SAMPLES,
	SORT_MODE,
	SORT_WEIGHT
};

struct sort_step {
	enum sort_what what;
	uint32_t at; /* KEY: number of the column; MODE: the cpumode; WEIGHT: its number */
};

struct sort_order {
	struct profile *p;
	const struct profile_table *table; /* the table that is being sorted */
	uint32_t member;
	bool measures; /* widths of columns depend on which rows are compared */
	VEC(struct sort_step) steps;
};

static const struct {
	const char *name;
	struct sort_step step;
} numeric[] = {
	{ "children", { SORT_CHILDREN, 0 } },
	{ "overhead_children", { SORT_CHILDREN, 0 } },
	{ "children_only", { SORT_CHILDREN_ONLY, 0 } },
	{ "period", { SORT_PERIOD, 0 } },
	{ "overhead", { SORT_PERIOD, 0 } },
	{ "samples", { SORT_SAMPLES, 0 } },
	{ "sample", { SORT_SAMPLES, 0 } },
	{ "period_sys", { SORT_MODE, 1 } },
	{ "overhead_sys", { SORT_MODE, 1 } },
	{ "period_us", { SORT_MODE, 2 } },
	{ "overhead_us", { SORT_MODE, 2 } },
	{ "period_guest_sys", { SORT_MODE, 4 } },
	{ "overhead_guest_sys", { SORT_MODE, 4 } },
	{ "period_guest_us", { SORT_MODE, 5 } },
	{ "overhead_guest_us", { SORT_MODE, 5 } },
	{ "weight1", { SORT_WEIGHT, 0 } },
	{ "weight2", { SORT_WEIGHT, 1 } },
	{ "weight3", { SORT_WEIGHT, 2 } },
	{ "weight4", { SORT_WEIGHT, 3 } },
};

static int sort_find_step(const struct profile *p, const char *word, size_t len,
			  struct sort_step *ret)
{
	for (size_t i = 0; i < sizeof(numeric) / sizeof(*numeric); i++) {
		if (strlen(numeric[i].name) == len && !memcmp(numeric[i].name, word, len)) {
			*ret = numeric[i].step;
			return 0;
		}
	}
	for (uint32_t i = 0; i < p->columns.n; i++) {
		const char *name = p->columns.v[i].name;

		if (strlen(name) == len && !memcmp(name, word, len)) {
			*ret = (struct sort_step){ SORT_KEY, i };
			return 0;
		}
	}
	return err_set(-EINVAL, "'%.*s' is neither a numeric column nor a key of the profile",
		       (int)len, word);
}

static int sort_default(struct sort_order *o)
{
	if (o->p->opts.children)
		TRY(vec_push(&o->steps, (struct sort_step){ SORT_CHILDREN, 0 }));
	TRY(vec_push(&o->steps, (struct sort_step){ SORT_PERIOD, 0 }));
	for (uint32_t i = 0; i < o->p->columns.n; i++)
		TRY(vec_push(&o->steps, (struct sort_step){ SORT_KEY, i }));
	return 0;
}

static int sort_parse(struct sort_order *o, const char *text)
{
	if (!*text)
		return sort_default(o);
	for (;;) {
		const size_t len = columns_word_length(text);
		struct sort_step step;

		TRY(sort_find_step(o->p, text, len, &step));
		TRY(vec_push(&o->steps, step));
		if (!text[len])
			return 0;
		text += len + 1;
	}
}

/* Sorts the larger number first. */
static int sort_numbers(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

/* perf's rule for rows with children and equal sums. */
static int sort_depth(const struct profile *p, const struct profile_row *a,
		      const struct profile_row *b)
{
	int r;

	if (!p->opts.children || a->all.task != b->all.task)
		return 0;
	r = sort_numbers(a->max_depth, b->max_depth);
	return p->opts.callgraph == CALLGRAPH_CALLER ? r : -r;
}

static uint32_t sort_rank(const struct profile *p, const struct profile_column *c, uint32_t row,
			  uint32_t column)
{
	const uint64_t id = wordset_key(&p->row_values, row)[1 + column];

	return c->values.v[c->by_id.v[id]].rank;
}

static uint64_t sort_number(struct profile *p, const struct sort_step *s, struct profile_row *row,
			    uint32_t member)
{
	const bool all = s->what == SORT_CHILDREN || s->what == SORT_CHILDREN_ONLY;
	const struct profile_counts *c = row_counts(p, row, member, all);

	if (s->what == SORT_SAMPLES)
		return counts_order(p, c->samples);
	if (s->what == SORT_WEIGHT)
		return counts_order(p, c->weights[s->at]);
	return counts_order(p, s->what == SORT_MODE ? c->period[s->at] : counts_period(c));
}

/*
 * Compares the leader's numbers first, or those of the requested member, then the members' in their
 * order. As in perf, numbers with children are those of the leader only.
 */
static int sort_columns(const struct sort_order *o, const struct sort_step *s,
			struct profile_row *x, struct profile_row *y)
{
	const uint32_t nr = o->table->nr_members, first = o->member < nr ? o->member : 0;
	int r;

	if (s->what == SORT_CHILDREN || s->what == SORT_CHILDREN_ONLY) {
		r = sort_numbers(sort_number(o->p, s, x, 0), sort_number(o->p, s, y, 0));
		return r || s->what == SORT_CHILDREN_ONLY ? r : sort_depth(o->p, x, y);
	}
	r = sort_numbers(sort_number(o->p, s, x, first), sort_number(o->p, s, y, first));
	if (o->member >= nr) /* there is no such member: perf compares the leader only */
		return r;
	for (uint32_t m = 1; !r && m < nr; m++)
		r = m == first
			    ? 0
			    : sort_numbers(sort_number(o->p, s, x, m), sort_number(o->p, s, y, m));
	return r;
}

static int sort_step(const struct sort_order *o, const struct sort_step *s, uint32_t a, uint32_t b)
{
	struct profile *p = o->p;

	if (s->what != SORT_KEY)
		return sort_columns(o, s, &p->rows.v[a], &p->rows.v[b]);
	if (o->measures)
		field_widths_note(p, a, s->at);
	return sort_numbers(sort_rank(p, &p->columns.v[s->at], b, s->at),
			    sort_rank(p, &p->columns.v[s->at], a, s->at));
}

static int sort_merged(const void *a, const void *b, void *ctx)
{
	const struct profile *p = ctx;
	const uint64_t x = p->rows.v[*(const uint32_t *)a].merged;
	const uint64_t y = p->rows.v[*(const uint32_t *)b].merged;

	return (x > y) - (x < y);
}

static int sort_compare(const void *a, const void *b, void *ctx)
{
	const struct sort_order *o = ctx;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	for (size_t i = 0; i < o->steps.n; i++) {
		int r = sort_step(o, &o->steps.v[i], x, y);

		if (r)
			return r;
	}
	return sort_merged(a, b, (void *)o->p);
}

/* The comparison is not transitive if call paths decide: sort_depth(). */
static int sort_table(struct sort_order *o, const struct profile_table *t)
{
	const struct profile *p = o->p;

	if (!p->opts.children && !o->measures) {
		qsort_r(t->order, t->nr_rows, sizeof(*t->order), sort_compare, o);
		return 0;
	}
	qsort_r(t->order, t->nr_rows, sizeof(*t->order), sort_merged, (void *)p);
	return treesort(t->order, t->nr_rows, sort_compare, o);
}

int sort_rows(struct profile *p, const char *order, uint32_t member)
{
	struct sort_order o = {
		.p = p,
		.member = member,
		.measures = field_widths_are_measured(p),
	};
	int r;

	if (!p->is_finished)
		return err_set(-EINVAL, "the profile is not finished");
	r = sort_parse(&o, order);
	for (size_t i = 0; r >= 0 && i < p->tables.n; i++) {
		o.table = &p->tables.v[i];
		r = sort_table(&o, &p->tables.v[i]);
	}
	vec_done(&o.steps);
	return r;
}
