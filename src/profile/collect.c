/* SPDX-License-Identifier: MIT */
#include "profile/collect.h"

#include "base/err.h"
#include "profile/counts.h"
#include "profile/places.h"
#include "profile/texts.h"
#include "recording/code.h"
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
	uint64_t key[64];
	uint32_t table;
	int r;

	TRY(collect_table(p, ev, &table));
	key[0] = table;
	vec_foreach (c, &p->columns) {
		if (c->raw_at >= 0)
			TRY(collect_raw(p, ev, c->def->raw, &key[1 + c->raw_at]));
	}
	r = wordset_put(&p->combinations, key, ret);
	return r < 0 ? r : 0;
}

/* ---- paths ----------------------------------------------------------------------------------- */

static int collect_path(struct profile *p, const struct event *ev, uint32_t combination,
			uint32_t *ret)
{
	const struct sonde_frame *frames;
	uint64_t key = two_halves(PROFILE_ROOT, combination);
	int n = recording_chain(ev, &frames);

	if (n < 0)
		return n;
	TRY(wordset_put(&p->nodes, &key, ret));
	if (n)
		p->facts.flags |= SONDE_PROFILE_CALLCHAINS;
	while (n--) {
		uint32_t place;

		TRY(places_find(p, ev, frames[n].ip, frames[n].cpumode, &frames[n], &place));
		key = two_halves(*ret, place);
		TRY(wordset_put(&p->nodes, &key, ret));
	}
	return 0;
}

/* ---- one sample ------------------------------------------------------------------------------ */

static int collect_values(struct profile *p, const struct event *ev, struct sonde_sample *ret)
{
	int r = source_sample(ev->source, ev, ret);

	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		*ret = (struct sonde_sample){ .size = sizeof(*ret) };
		err_clear();
	}
	(void)p;
	return 0;
}

static void collect_facts(struct profile *p, const struct event *ev, uint32_t place)
{
	struct sonde_profile_facts *f = &p->facts;

	if (ev->pub.time_ns != SONDE_NO_TIME) {
		if (f->first_ns == SONDE_NO_TIME)
			f->first_ns = ev->pub.time_ns;
		f->last_ns = ev->pub.time_ns;
	}
	f->samples++;
	if (p->needs_place && !place_at(p, place)->sym) {
		f->unresolved_samples++;
		f->unresolved_by_reason[place_at(p, place)->unknown & 15]++;
	}
}

static int collect_begin(struct profile *p, const struct event *ev)
{
	if (p->session == ev->recording->all)
		return 0;
	p->session = ev->recording->all;
	p->session_nr++;
	vec_clear(&p->own_strings);
	vec_clear(&p->own_dsos);
	vec_clear(&p->own_tables);
	return 0;
}

int collect_add(struct profile *p, const struct event *ev)
{
	struct profile_counts one = { .samples = 1,
				      .first_ns = ev->pub.time_ns,
				      .last_ns = ev->pub.time_ns,
				      .first = p->facts.samples };
	struct sonde_sample sample;
	uint32_t at, place = 0, cell;
	const struct task *t;
	uint64_t key;
	int r;

	if (ev->schema->kind > SONDE_SAMPLE)
		return 0;
	TRY(collect_begin(p, ev));
	TRY(collect_values(p, ev, &sample));
	TRY(collect_combination(p, ev, &at));
	if (p->needs_paths)
		TRY(collect_path(p, ev, at, &at));
	if (p->needs_place)
		TRY(places_find(p, ev, sample.ip, ev->pub.cpumode, NULL, &place));
	key = two_halves(at, place);
	r = wordset_put(&p->cells, &key, &cell);
	if (r < 0)
		return r;
	if (r > 0) {
		TRY(state_task(&ev->recording->state, ev->pub.pid, ev->pub.tid, &t));
		one.task = t->id ^ p->session_nr << 48;
		TRY(vec_push(&p->counts, (struct profile_counts){ 0 }));
	}
	one.period[ev->pub.cpumode < PROFILE_MODES ? ev->pub.cpumode : 0] = sample.period;
	counts_add(p, &p->counts.v[cell], &one);
	collect_facts(p, ev, place);
	return 1;
}
