/* SPDX-License-Identifier: MIT */
/*
 * Adds events. Hot: an event costs its value, a word for each key, and one look-up. Neighbours
 * often have the same keys, so the row of the last event is tried first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregate/types.h"
#include "base/err.h"
#include "columns/table.h"
#include "model/sampled.h"
#include "model/value.h"
#include "recording/recording.h"
#include "recording/where.h"

/* An event, with what was decoded of it. */
struct collect {
	struct aggregate *a;
	const struct aggregate_plan *plan;
	const struct event *ev;
	struct sonde_sample sample; /* decoded if the plan needs it */
};

/* ---- values ---------------------------------------------------------------------------------- */

static bool collect_swaps(const struct event *ev)
{
	return ev->pub.flags & SONDE_EVENT_SWAPPED;
}

static bool collect_sample_value(const struct collect *c, uint32_t member, uint64_t *ret)
{
	const struct sample_value *v = &sample_values[member];

	if (!(c->sample.present & v->bits) || (v->read && !(c->sample.read_format & v->read)))
		return false;
	memcpy(ret, (const char *)&c->sample + v->offset, sizeof(*ret));
	return true;
}

/* False if the record does not have the number. Signed numbers are extended. */
static bool collect_number(const struct collect *c, const struct aggregate_source *s, uint64_t *ret)
{
	const struct sonde_event *ev = &c->ev->pub;
	const struct sonde_field *f = s->field;

	if (!f)
		return collect_sample_value(c, s->member, ret);
	if (!field_is_inside(f, ev->bytes_len))
		return false;
	*ret = field_sign_extend(f,
				 field_number(f, ev->bytes, ev->bytes_len, collect_swaps(c->ev)));
	return true;
}

/* False if an int64_t does not have the value. */
static bool collect_value(const struct collect *c, int64_t *ret)
{
	const struct sonde_field *f = c->plan->value.field;
	uint64_t v;

	if (!collect_number(c, &c->plan->value, &v))
		return false;
	*ret = (int64_t)v;
	return (f && f->is_signed) || v <= INT64_MAX;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Returns 1 and the id of the text, 0 if the record does not have it. */
static int collect_text(const struct collect *c, const struct sonde_field *f, uint64_t *ret)
{
	const struct sonde_event *ev = &c->ev->pub;
	uint32_t len, id;
	const uint8_t *p = field_bytes(f, ev->bytes, ev->bytes_len, collect_swaps(c->ev), &len);

	if (!p)
		return 0;
	TRY(strpool_intern(&c->a->store.texts, (const char *)p, strnlen((const char *)p, len),
			   &id));
	*ret = id;
	return 1;
}

static int collect_field(const struct collect *c, const struct aggregate_key *k,
			 const struct aggregate_source *s, uint64_t *ret)
{
	return k->is_text ? collect_text(c, s->field, ret) : collect_number(c, s, ret);
}

/* The path of the event's control group. */
static int collect_cgroup(const struct collect *c, uint64_t *ret)
{
	struct aggregate *a = c->a;
	const uint64_t id = c->sample.cgroup;
	const char *path;
	char number[24];
	uint32_t text;

	if (!(c->sample.present & SAMPLED_CGROUP)) {
		*ret = AGGREGATE_NONE;
		return 1;
	}
	while (a->cgroups.n <= c->ev->recording->nr)
		TRY(vec_push(&a->cgroups, (struct hash64){ 0 }));
	*ret = hash64_find(&a->cgroups.v[c->ev->recording->nr], id);
	if (*ret != HASH64_EMPTY)
		return 1;
	path = recording_cgroup(c->ev->recording, id);
	if (!path) {
		snprintf(number, sizeof(number), "%" PRIu64, id);
		path = number;
	}
	TRY(strpool_intern(&a->store.texts, path, strlen(path), &text));
	*ret = text;
	TRY(hash64_put(&a->cgroups.v[c->ev->recording->nr], id, text));
	return 1;
}

static int collect_key(const struct collect *c, unsigned i, uint64_t *ret)
{
	const struct aggregate_key *k = &c->a->keys[i];
	const struct event *ev = c->ev;

	switch (k->kind) {
	case KEY_NAME:
		*ret = ev->schema->family;
		return 1;
	case KEY_COMM:
		*ret = ev->pub.tid == -1 ? AGGREGATE_NONE : ev->pub.comm;
		return 1;
	case KEY_PID:
		*ret = (uint32_t)ev->pub.pid;
		return 1;
	case KEY_TID:
		*ret = (uint32_t)ev->pub.tid;
		return 1;
	case KEY_CPU:
		*ret = (uint32_t)ev->pub.cpu;
		return 1;
	case KEY_INDEX:
		*ret = ev->recording->nr;
		return 1;
	case KEY_CGROUP:
		return collect_cgroup(c, ret);
	case KEY_KSTACK:
	case KEY_USTACK:
	case KEY_STACK:
		TRY(stacks_put(&c->a->store.stacks, ev, k->kind, ret));
		return 1;
	case KEY_FIELD:
		break;
	}
	return collect_field(c, k, &c->plan->keys[i], ret);
}

/* Returns 1 and the words, 0 if the record misses one of them, <0 on failure. */
static int collect_keys(const struct collect *c, uint64_t *words)
{
	for (unsigned i = 0; i < c->a->nr_keys; i++) {
		const int r = collect_key(c, i, &words[i]);

		if (__builtin_expect(r <= 0, 0))
			return r;
	}
	return 1;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The words are few: a loop is faster than a call of memcmp(). */
static bool collect_is_last(const struct aggregate *a, const uint64_t *words)
{
	for (unsigned i = 0; i < a->nr_keys; i++) {
		if (words[i] != a->last_words[i])
			return false;
	}
	return a->last_row != AGGREGATE_OTHER;
}

static int collect_row(struct aggregate *a, const uint64_t *words, uint32_t *ret)
{
	if (collect_is_last(a, words)) {
		*ret = a->last_row;
		return 0;
	}
	TRY(vec_reserve(&a->store.sums, 1));
	TRY(wordset_put(&a->store.keys, words, ret));
	if (*ret == a->store.sums.n)
		a->store.sums.v[a->store.sums.n++] = (struct aggregate_sum){ 0 };
	memcpy(a->last_words, words, sizeof(a->last_words));
	a->last_row = *ret;
	return 0;
}

static void collect_sum(struct aggregate *a, struct aggregate_sum *s, int64_t v)
{
	s->min = !s->count || v < s->min ? v : s->min;
	s->max = !s->count || v > s->max ? v : s->max;
	s->count++;
	if (__builtin_expect(__builtin_add_overflow(s->sum, v, &s->sum), 0)) {
		s->carry += v < 0 ? -1 : 1;
		a->saturated += !s->has_left;
		s->has_left = true;
	}
}

static int collect_add(struct collect *c)
{
	struct aggregate *a = c->a;
	uint64_t words[AGGREGATE_MAX_KEYS] = { 0 };
	struct aggregate_store *s = &a->store;
	int64_t v = 0;
	uint32_t row;
	int r;

	if (a->field && !collect_value(c, &v)) {
		a->unfit++;
		return 0;
	}
	r = collect_keys(c, words);
	if (__builtin_expect(r <= 0, 0)) {
		a->unfit += !r;
		return r;
	}
	TRY(collect_row(a, words, &row));
	a->count++;
	if (!a->field) {
		s->sums.v[row].count++;
		/* A key more may be one too many. */
		return s->sums.v[row].count == 1 ? store_shrink(a) : 0;
	}
	collect_sum(a, &s->sums.v[row], v);
	if (aggregate_has_cells(a))
		TRY(store_add_cell(s, row, bucket_of(a, v), 1));
	else if (s->sums.v[row].count > 1)
		return 0;
	return store_shrink(a);
}

/* A sample that is damaged has no values. */
static int collect_decode(struct collect *c)
{
	int r;

	c->sample = (struct sonde_sample){ .size = sizeof(c->sample) };
	r = source_sample(c->ev->source, c->ev, &c->sample);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		c->sample.present = 0;
		err_clear();
	}
	return 0;
}

static int collect_events(struct collect *c, const struct sonde_event *const *events, size_t nr)
{
	struct aggregate *a = c->a;

	for (size_t i = 0; i < nr; i++) {
		const uint32_t schema = events[i]->schema;

		c->ev = event_of(events[i]);
		if (__builtin_expect(schema >= a->plans.n || !a->plans.v[schema].is_known, 0))
			TRY(choose_plan_schema(a, c->ev->schema));
		c->plan = &a->plans.v[schema];
		if (!c->plan->is_chosen ||
		    (c->plan->where && !recording_where_pass(c->plan->where, c->ev)))
			continue;
		if (c->plan->needs_sample)
			TRY(collect_decode(c));
		TRY(collect_add(c));
	}
	return 0;
}

int aggregate_collect(struct aggregate *a, const struct sonde_event *const *events, size_t nr)
{
	const uint64_t saturated = a->saturated;
	struct collect c = { .a = a };
	const int r = collect_events(&c, events, nr);

	a->is_sorted = false;
	if (a->saturated != saturated)
		defects_add(&a->all->v[0].defects, DEFECT_SUM_OVERFLOW, a->saturated - saturated,
			    "%s", a->title);
	return r;
}
