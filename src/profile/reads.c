/* SPDX-License-Identifier: MIT */
#include "profile/reads.h"

#include <stdlib.h>

#include "base/err.h"
#include "profile/counts.h"
#include "profile/texts.h"
#include "recording/recording.h"

struct reads_thread {
	int32_t pid, tid;
};

struct reads_counter {
	const char *name; /* in the profile's string pool */
	uint32_t schema;
};

struct reads {
	VEC(struct reads_thread) threads;
	VEC(struct reads_counter) counters;
	struct hash64 by_task, by_schema; /* -> index in threads, in counters */
	struct hash64 by_both;            /* thread << 32 | counter -> index in values */
	VEC(uint64_t) values;
};

static int reads_find_thread(struct reads *r, const struct source_report *read, uint32_t *ret)
{
	const uint64_t key = two_halves((uint32_t)read->pid, (uint32_t)read->tid);
	const uint64_t at = hash64_find(&r->by_task, key);

	*ret = (uint32_t)at;
	if (at != HASH64_EMPTY)
		return 0;
	*ret = (uint32_t)r->threads.n;
	TRY(hash64_put(&r->by_task, key, *ret));
	return vec_push(&r->threads, (struct reads_thread){ read->pid, read->tid });
}

static int reads_find_counter(struct profile *p, const struct sonde_schema *sc, uint32_t *ret)
{
	struct reads *r = p->read_counters;
	const uint64_t at = hash64_find(&r->by_schema, sc->id);
	struct reads_counter c = { .schema = sc->id };

	*ret = (uint32_t)at;
	if (at != HASH64_EMPTY)
		return 0;
	*ret = (uint32_t)r->counters.n;
	c.name = texts_intern(p, sc->name);
	if (!c.name)
		return -ENOMEM;
	TRY(hash64_put(&r->by_schema, sc->id, *ret));
	return vec_push(&r->counters, c);
}

static int reads_sum(struct profile *p, uint64_t key, uint64_t value)
{
	struct reads *r = p->read_counters;
	const uint64_t at = hash64_find(&r->by_both, key);

	if (at != HASH64_EMPTY) {
		counts_sum(p, &r->values.v[at], value);
		return 0;
	}
	TRY(hash64_put(&r->by_both, key, r->values.n));
	return vec_push(&r->values, value);
}

int reads_add(struct profile *p, const struct event *ev)
{
	const struct source_report read = source_read_report(ev->source, ev);
	uint32_t thread, counter;

	if (read.kind != REPORT_READ || !read.schema)
		return 0;
	if (!p->read_counters)
		p->read_counters = calloc(1, sizeof(*p->read_counters));
	if (!p->read_counters)
		return err_nomem();
	if (p->read_counters->threads.n >= p->opts.max_keys)
		return 0;
	TRY(reads_find_thread(p->read_counters, &read, &thread));
	TRY(reads_find_counter(p, read.schema, &counter));
	return reads_sum(p, two_halves(thread, counter), read.value);
}

bool reads_value(const struct profile *p, uint32_t thread, uint32_t counter,
		 struct sonde_profile_read *ret)
{
	const struct reads *r = p->read_counters;
	uint64_t at;

	if (!r || thread >= r->threads.n || counter >= r->counters.n)
		return false;
	at = hash64_find(&r->by_both, two_halves(thread, counter));
	*ret = (struct sonde_profile_read){
		.size = sizeof(*ret),
		.pid = r->threads.v[thread].pid,
		.tid = r->threads.v[thread].tid,
		.schema = r->counters.v[counter].schema,
		.name = r->counters.v[counter].name,
		.value = at == HASH64_EMPTY ? 0 : r->values.v[at],
	};
	return true;
}

void reads_done(struct profile *p)
{
	struct reads *r = p->read_counters;

	if (!r)
		return;
	vec_done(&r->threads);
	vec_done(&r->counters);
	vec_done(&r->values);
	hash64_done(&r->by_task);
	hash64_done(&r->by_schema);
	hash64_done(&r->by_both);
	free(r);
	p->read_counters = NULL;
}
