/* SPDX-License-Identifier: MIT */
#include "profile/collect.h"

#include "base/err.h"
#include "profile/chains.h"
#include "profile/counts.h"
#include "profile/marks.h"
#include "profile/places.h"
#include "profile/texts.h"
#include "recording/locate.h"

/* ---- numbers of a sample --------------------------------------------------------------------- */

static int collect_task(struct profile *p, const struct event *ev, uint32_t *ret)
{
	const struct task *t;
	uint64_t key, at;
	uint32_t comm;

	TRY(state_task(&ev->recording->state, ev->pub.pid, ev->pub.tid, &t));
	TRY(texts_of_session(p, ev, t->comm, &comm));
	key = t->id ^ p->session_nr << 48;
	at = hash64_find(&p->tasks_by_id, key);
	if (at == HASH64_EMPTY) {
		at = p->tasks.n;
		TRY(vec_push(&p->tasks, (struct profile_task){ .id = key,
							       .pid = ev->pub.pid,
							       .tid = ev->pub.tid }));
		TRY(hash64_put(&p->tasks_by_id, key, at));
	}
	p->tasks.v[at].comm = comm;
	*ret = (uint32_t)at;
	return 0;
}

static int collect_table(struct profile *p, const struct event *ev, uint32_t *ret)
{
	const struct sonde_schema *sc = ev->schema;
	struct profile_member m = { .schema = sc->id,
				    .is_tracepoint = sc->kind == SONDE_TRACEPOINT };

	while (p->own_tables.n <= sc->id)
		TRY(vec_push(&p->own_tables, 0));
	if (!p->own_tables.v[sc->id]) {
		m.name = texts_intern(p, sc->name);
		if (!m.name)
			return -ENOMEM;
		TRY(vec_push(&p->events, m));
		p->own_tables.v[sc->id] = (uint32_t)p->events.n;
	}
	*ret = p->own_tables.v[sc->id] - 1;
	return 0;
}

static int collect_raw(struct profile *p, const struct event *ev, enum profile_raw raw,
		       uint64_t *ret)
{
	uint32_t number = 0;

	switch (raw) {
	case RAW_PLACE:
		break;
	case RAW_COMM:
		TRY(texts_of_session(p, ev, ev->pub.comm, &number));
		*ret = number;
		break;
	case RAW_TASK:
		TRY(collect_task(p, ev, &number));
		*ret = number;
		break;
	case RAW_CPU:
		*ret = (uint64_t)(int64_t)ev->pub.cpu;
		break;
	case RAW_TIME:
		*ret = ev->pub.time_ns == SONDE_NO_TIME
			       ? 0
			       : ev->pub.time_ns - ev->pub.time_ns % p->opts.time_quantum;
		break;
	}
	return 0;
}

static int collect_combination(struct profile *p, const struct event *ev, uint32_t *ret)
{
	uint64_t key[1 + PROFILE_MAX_COLUMNS];
	uint32_t table;

	TRY(collect_table(p, ev, &table));
	key[0] = table;
	for (const struct profile_column *c = p->columns.v; c < p->columns.v + p->columns.n; c++) {
		if (c->raw_at >= 0)
			TRY(collect_raw(p, ev, c->def->raw, &key[1 + c->raw_at]));
	}
	return wordset_put_within(&p->combinations, key, p->opts.max_keys, ret);
}

/* ---- one sample ------------------------------------------------------------------------------ */

static void collect_facts(struct profile *p, const struct event *ev, uint32_t place)
{
	struct sonde_profile_facts *f = &p->facts;

	if (ev->pub.time_ns != SONDE_NO_TIME) {
		if (f->first_ns == SONDE_NO_TIME)
			f->first_ns = ev->pub.time_ns;
		f->last_ns = ev->pub.time_ns;
	}
	f->samples++;
	if (place != PROFILE_ROOT && !place_at(p, place)->sym) {
		f->unresolved_samples++;
		f->unresolved_by_reason[place_at(p, place)->unknown & 15]++;
	}
}

static void collect_begin(struct profile *p, const struct event *ev)
{
	p->session = ev->recording->all;
	p->session_nr++;
	vec_clear(&p->own_strings);
	vec_clear(&p->own_dsos);
	vec_clear(&p->own_tables);
	places_forget_recent(p);
	chains_forget(p);
}

static int collect_place(struct profile *p, const struct event *ev, uint64_t ip, uint32_t *ret)
{
	const struct address_space *space = recording_space(ev, ev->pub.cpumode);

	return places_recent(p, ev, space ? space->stamp : 0, ip, ev->pub.cpumode, ret);
}

/* A new cell: what only its first sample decides. */
static int collect_first(struct profile *p, const struct event *ev, uint32_t place)
{
	struct profile_counts c = { .first = p->facts.samples,
				    .first_ns = ev->pub.time_ns,
				    .is_filtered = marks_filtered(p, ev, place) };
	const struct task *t;

	TRY(state_task(&ev->recording->state, ev->pub.pid, ev->pub.tid, &t));
	c.task = t->id ^ p->session_nr << 48;
	return vec_push(&p->counts, c);
}

static int collect_cell(struct profile *p, const struct event *ev, uint64_t ip, uint32_t *ret)
{
	uint32_t place = PROFILE_ROOT, node = PROFILE_ROOT, at;
	uint64_t key[2];
	int r;

	if (p->needs_place) {
		TRY(collect_place(p, ev, ip, &place));
		if (p->opts.hide_unresolved && !place_at(p, place)->sym) {
			p->facts.hidden_samples++;
			return 0;
		}
	}
	if (p->needs_paths)
		TRY(chains_find(p, ev, &place, &node));
	TRY(collect_combination(p, ev, &at));
	key[0] = two_halves(at, place + 1);
	key[1] = node;
	r = wordset_put_within(&p->cells, key, p->opts.max_keys, ret);
	if (r < 0)
		return r;
	if (r > 0)
		TRY(collect_first(p, ev, place));
	collect_facts(p, ev, place);
	return 1;
}

int collect_add(struct profile *p, const struct event *ev)
{
	const uint32_t mode = ev->pub.cpumode < PROFILE_MODES ? ev->pub.cpumode : 0;
	struct profile_counts *c;
	uint64_t ip, period;
	uint32_t cell;
	int r;

	if (ev->schema->kind > SONDE_SAMPLE)
		return 0;
	if (__builtin_expect(p->session != ev->recording->all, 0))
		collect_begin(p, ev);
	source_weigh(ev->source, ev, &ip, &period);
	r = collect_cell(p, ev, ip, &cell);
	if (r == -ENOSPC) {
		p->facts.dropped_samples++;
		return 1;
	}
	if (r <= 0)
		return r < 0 ? r : 1;
	c = &p->counts.v[cell];
	c->samples++;
	counts_sum(p, &c->period[mode], period);
	if (c->last_ns < ev->pub.time_ns || c->samples == 1)
		c->last_ns = ev->pub.time_ns;
	return 1;
}
