/* SPDX-License-Identifier: MIT */
#include "session/refused.h"

#include <stdlib.h>

#include "base/hash.h"

static void refused_tally_add(struct refused_tally *t, uint32_t key, uint32_t comm, uint64_t count)
{
	for (size_t i = hash_u64(key) % REFUSED_SLOTS;; i = (i + 1) % REFUSED_SLOTS) {
		struct refused_slot *s = &t->slots[i];

		if (s->count && s->key != key)
			continue;
		if (!s->count && t->nr == REFUSED_KEYS) {
			t->has_more = true;
			return;
		}
		t->nr += !s->count;
		s->count += count;
		s->key = key;
		s->comm = comm;
		return;
	}
}

static bool refused_make_tallies(struct refused *r)
{
	if (!r->tallies)
		r->tallies = calloc(NR_REFUSED, sizeof(*r->tallies));
	r->failed |= !r->tallies; /* without memory nothing is reported */
	return r->tallies != NULL;
}

void refused_note_times(struct refused *r, uint64_t nr, uint64_t first_ns, uint64_t last_ns)
{
	if (!nr)
		return;
	if (!r->nr || first_ns < r->first_ns)
		r->first_ns = first_ns;
	if (!r->nr || last_ns > r->last_ns)
		r->last_ns = last_ns;
	r->nr += nr;
}

void refused_note(struct refused *r, const struct sonde_event *ev, enum refused_by by)
{
	if (!refused_make_tallies(r))
		return;
	refused_note_times(r, 1, ev->time_ns, ev->time_ns);
	switch (by) {
	case REFUSED_BY_TIME:
	case REFUSED_BY_WHERE:
	case REFUSED_BY_PLACE:
		return;
	case REFUSED_BY_CPU:
		refused_tally_add(&r->tallies[REFUSED_CPUS], (uint32_t)ev->cpu, 0, 1);
		return;
	case REFUSED_BY_TASK:
		refused_tally_add(&r->tallies[REFUSED_PIDS], (uint32_t)ev->pid, ev->comm, 1);
		refused_tally_add(&r->tallies[REFUSED_TIDS], (uint32_t)ev->tid, ev->comm, 1);
		refused_tally_add(&r->tallies[REFUSED_COMMS], ev->comm, 0, 1);
		return;
	case REFUSED_BY_NAME:
		refused_tally_add(&r->tallies[REFUSED_SCHEMAS], ev->schema, 0, 1);
		return;
	}
}

void refused_add(struct refused *r, const struct refused *from)
{
	r->failed |= from->failed;
	refused_note_times(r, from->nr, from->first_ns, from->last_ns);
	if (!from->tallies || !refused_make_tallies(r))
		return;
	for (int kind = 0; kind < NR_REFUSED; kind++) {
		const struct refused_tally *t = &from->tallies[kind];

		for (size_t i = 0; i < REFUSED_SLOTS; i++)
			if (t->slots[i].count)
				refused_tally_add(&r->tallies[kind], t->slots[i].key,
						  t->slots[i].comm, t->slots[i].count);
		r->tallies[kind].has_more |= t->has_more;
	}
}

unsigned refused_most(const struct refused *r, enum refused_kind kind,
		      const struct refused_slot **ret, unsigned max)
{
	const struct refused_tally *t = r->tallies ? &r->tallies[kind] : NULL;
	unsigned n = 0;

	for (size_t i = 0; t && i < REFUSED_SLOTS; i++) {
		unsigned at = n;

		if (!t->slots[i].count)
			continue;
		while (at && ret[at - 1]->count < t->slots[i].count)
			at--;
		if (at == max)
			continue;
		n += n < max;
		for (unsigned k = n - 1; k > at; k--)
			ret[k] = ret[k - 1];
		ret[at] = &t->slots[i];
	}
	return !t ? 0 : t->has_more ? UINT32_MAX : t->nr;
}

void refused_done(struct refused *r)
{
	free(r->tallies);
	r->tallies = NULL;
}
