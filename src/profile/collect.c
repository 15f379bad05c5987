/* SPDX-License-Identifier: MIT */
#include "profile/collect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/sampled.h"
#include "profile/blocks.h"
#include "profile/branches.h"
#include "profile/chains.h"
#include "profile/columns.h"
#include "profile/counts.h"
#include "profile/fields.h"
#include "profile/groups.h"
#include "profile/history.h"
#include "profile/marks.h"
#include "profile/memory.h"
#include "profile/places.h"
#include "profile/reads.h"
#include "profile/texts.h"
#include "profile/weights.h"
#include "recording/locate.h"
#include "recording/text.h"

/* The values of a sample that are decoded only if a column needs them. */
struct collect_sample {
	struct sonde_sample values;
	uint64_t weight, ins_lat, stage;
};

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
		TRY(vec_push(&p->tasks, (struct profile_task){
						.id = key,
						.pid = ev->pub.pid,
						.tid = ev->pub.tid,
					}));
		TRY(hash64_put(&p->tasks_by_id, key, at));
	}
	p->tasks.v[at].comm = comm;
	*ret = (uint32_t)at;
	return 0;
}

static int collect_table(struct profile *p, const struct sonde_schema *sc, uint32_t *ret)
{
	struct profile_member m = {
		.schema = sc->id,
		.is_tracepoint = sc->kind == SONDE_TRACEPOINT,
	};

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

static int collect_text(struct profile *p, const char *text, size_t len, uint64_t *ret)
{
	uint32_t id;

	TRY(strpool_intern(&p->strings, text, len, &id));
	*ret = id;
	return 0;
}

static int collect_trace(struct profile *p, const struct event *ev, uint64_t *ret)
{
	if (ev->schema->kind != SONDE_TRACEPOINT)
		return collect_text(p, "N/A", 3, ret);
	p->text.len = 0;
	if (p->opts.raw_fields && p->rules->fields_by_text)
		recording_event_fields(ev, NULL, &p->text);
	else
		recording_event_text(ev, &p->text);
	return p->text.failed ? err_nomem() : collect_text(p, p->text.data, p->text.len, ret);
}

static int collect_cgroup(struct profile *p, const struct event *ev, uint64_t id, uint64_t *ret)
{
	const char *path = recording_cgroup(ev->recording, id);

	if (!path)
		path = "N/A";
	return collect_text(p, path, strlen(path), ret);
}

static int collect_namespace(struct profile *p, const struct event *ev, uint64_t *ret)
{
	const struct task *t;
	char text[48];
	int len;

	TRY(state_task(&ev->recording->state, ev->pub.pid, ev->pub.tid, &t));
	len = snprintf(text, sizeof(text), "%" PRIu64 "/0x%" PRIx64, t->namespace_device,
		       t->namespace_inode);
	return collect_text(p, text, (size_t)len, ret);
}

static int collect_raw(struct profile *p, const struct event *ev, struct profile_column *c,
		       const struct collect_sample *s, uint64_t *ret)
{
	uint32_t number = 0;

	*ret = 0;
	switch (c->def->raw) {
	case RAW_PLACE:
	case RAW_LINE:
	case RAW_NONE:
		return 0;
	case RAW_COMM:
		TRY(texts_of_session(p, ev, ev->pub.comm, &number));
		*ret = number;
		return 0;
	case RAW_TASK:
		TRY(collect_task(p, ev, &number));
		*ret = number;
		return 0;
	case RAW_CPU:
		*ret = (uint64_t)(int64_t)ev->pub.cpu;
		return 0;
	case RAW_SOCKET:
		*ret = (uint64_t)(int64_t)recording_socket(ev->recording, ev->pub.cpu);
		return 0;
	case RAW_TIME:
		if (ev->pub.time_ns != SONDE_NO_TIME)
			*ret = ev->pub.time_ns - ev->pub.time_ns % p->opts.time_quantum;
		return 0;
	case RAW_PARENT:
		*ret = p->chain_parent;
		return 0;
	case RAW_TRACE:
		return collect_trace(p, ev, ret);
	case RAW_CGROUP_NAME:
		return collect_cgroup(p, ev, s->values.cgroup, ret);
	case RAW_CGROUP_NAMESPACE:
		return collect_namespace(p, ev, ret);
	case RAW_FIELD:
		return fields_find(p, c, ev, ret);
	case RAW_FROM:
	case RAW_FROM_LINE:
		*ret = p->branch.from;
		return 0;
	case RAW_TO:
	case RAW_TO_LINE:
		*ret = p->branch.to;
		return 0;
	case RAW_FROM_ADDR:
	case RAW_TO_ADDR:
		TRY(places_with_mode(p, c->def->raw == RAW_TO_ADDR ? p->branch.to : p->branch.from,
				     ev->pub.cpumode, &number));
		*ret = number;
		return 0;
	case RAW_PREDICTION:
		*ret = p->branch.prediction;
		return 0;
	case RAW_IN_TX:
		*ret = p->branch.in_tx;
		return 0;
	case RAW_ABORT:
		*ret = 2 * p->branch.aborts;
		return 0;
	case RAW_CYCLES:
		*ret = p->branch.cycles;
		return 0;
	case RAW_WEIGHT:
		*ret = s->weight;
		return 0;
	case RAW_INS_LAT:
		*ret = s->ins_lat;
		return 0;
	case RAW_STAGE:
		*ret = s->stage;
		return 0;
	case RAW_CODE_PAGE:
		*ret = s->values.code_page_size;
		return 0;
	case RAW_DATA_PAGE:
		*ret = s->values.data_page_size;
		return 0;
	case RAW_PHYS:
		*ret = s->values.phys_addr;
		return 0;
	case RAW_TRANSACTION:
		*ret = s->values.transaction;
		return 0;
	case RAW_DATA:
	case RAW_CODE:
	case RAW_CACHE_LINE:
	case RAW_LEVEL:
	case RAW_SNOOP:
	case RAW_TLB:
	case RAW_LOCK:
	case RAW_BLOCKED:
		return memory_raw(p, ev, c->def->raw, &s->values, ret);
	}
	return 0;
}

/* ---- one sample ------------------------------------------------------------------------------ */

static int collect_combination(struct profile *p, const struct event *ev,
			       const struct collect_sample *s, uint32_t *ret)
{
	uint64_t key[1 + PROFILE_MAX_COLUMNS];
	uint32_t table;

	TRY(collect_table(p, ev->schema, &table));
	key[0] = table;
	for (struct profile_column *c = p->columns.v; c < p->columns.v + p->columns.n; c++) {
		if (c->raw_at >= 0)
			TRY(collect_raw(p, ev, c, s, &key[1 + c->raw_at]));
	}
	return wordset_put_within(&p->combinations, key, p->opts.max_keys, ret);
}

static bool collect_is_simple(const struct profile *p)
{
	if (p->needs_paths || p->opts.hide_unresolved)
		return false;
	for (size_t i = 0; i < p->columns.n; i++) {
		const enum profile_raw raw = p->columns.v[i].def->raw;

		if (raw != RAW_COMM && raw != RAW_PLACE && raw != RAW_LINE && raw != RAW_NONE)
			return false;
	}
	return true;
}

/* For empty-tables=1. */
static int collect_all_tables(struct profile *p, const struct schema_table *schemas)
{
	uint32_t table;

	for (uint32_t i = 0; i < schemas->schemas.n; i++) {
		const struct sonde_schema *sc = schemas->schemas.v[i];

		if (sc->kind <= SONDE_SAMPLE && !sc->is_newer)
			TRY(collect_table(p, sc, &table));
	}
	return 0;
}

static int collect_begin(struct profile *p, const struct event *ev)
{
	if (!p->is_bound)
		TRY(columns_bind(p, &ev->recording->all->schemas));
	p->session = ev->recording->all;
	p->rules = ev->recording->opts->rules;
	p->session_nr++;
	vec_clear(&p->own_strings);
	vec_clear(&p->own_dsos);
	vec_clear(&p->own_tables);
	free(p->recent_cells);
	p->recent_cells = NULL;
	places_forget_recent(p);
	p->borrowed.path = PROFILE_ROOT;
	p->is_simple = collect_is_simple(p);
	p->ipc_is_zero = ev->recording->opts->rules->ipc_without_code;
	weights_begin(p);
	if (p->opts.empty_tables)
		TRY(collect_all_tables(p, &ev->recording->all->schemas));
	return groups_note(p, ev);
}

static int collect_place(struct profile *p, const struct event *ev, uint64_t ip, uint32_t *ret)
{
	const struct address_space *space = recording_space(ev, ev->pub.cpumode);

	return places_recent(p, ev, space ? space->stamp : 0, ip, ev->pub.cpumode, ret);
}

static uint32_t collect_mode(const struct event *ev)
{
	return ev->pub.cpumode < PROFILE_MODES ? ev->pub.cpumode : 0;
}

/* Adds a new cell, with the facts about its first sample. */
static int collect_first(struct profile *p, const struct event *ev, uint32_t place)
{
	struct cell_counts c = {
		.first = p->facts.samples,
		.first_ns = ev->pub.time_ns,
		.is_filtered = marks_filtered(p, ev, place),
	};
	const struct task *t;

	TRY(state_task(&ev->recording->state, ev->pub.pid, ev->pub.tid, &t));
	c.task = t->id ^ p->session_nr << 48;
	return counts_new_cell(p, &c);
}

static int collect_values(const struct event *ev, struct collect_sample *ret)
{
	int r = source_sample(ev->source, ev, &ret->values);

	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		ret->values = (struct sonde_sample){ .size = sizeof(ret->values) };
		err_clear();
	}
	ret->weight = ret->values.weight;
	ret->ins_lat = ret->stage = 0;
	if (!(ret->values.present & SAMPLED_WEIGHT_STRUCT))
		return 0;
	ret->weight = (uint32_t)ret->values.weight;
	ret->ins_lat = ret->values.weight >> 32 & UINT16_MAX;
	ret->stage = ret->values.weight >> 48;
	return 0;
}

/* perf's period of a memory access. */
static int collect_weight(const struct event *ev, uint64_t *ret)
{
	struct collect_sample s;

	TRY(collect_values(ev, &s));
	*ret = s.weight ? s.weight : 1;
	return 0;
}

static int collect_cell(struct profile *p, const struct event *ev, uint64_t ip, uint32_t *ret)
{
	uint32_t place = PROFILE_ROOT, path = PROFILE_ROOT, at;
	bool is_borrowed = false;
	struct collect_sample s;
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
		TRY(chains_find(p, ev, &place, &path));
	if (p->opts.children)
		TRY(chains_borrow(p, ev, &path, &is_borrowed));
	if (p->needs_sample)
		TRY(collect_values(ev, &s));
	TRY(collect_combination(p, ev, &s, &at));
	key[0] = two_halves(at, place + 1);
	key[1] = cell_word(path, collect_mode(ev), is_borrowed);
	r = wordset_put_within(&p->cells, key, p->opts.max_keys, ret);
	if (r < 0)
		return r;
	if (r > 0)
		TRY(collect_first(p, ev, place));
	if (p->history)
		TRY(history_add(p, *ret));
	p->facts.samples++;
	p->facts.truncated_chains += p->chain_is_cut;
	return 1;
}

/* ---- recent cells ---------------------------------------------------------------------------- */

/* A recent cell and its key. Used only if the sort keys depend on comm and place only. */
struct recent_cell {
	uint64_t ip, stamp; /* stamp: identifies the mappings at that time */
	uint64_t kind;      /* schema << 32 | comm */
	uint32_t mode;      /* cpumode + 1; 0 if the slot is free */
	uint32_t cell;
};

enum { RECENT_CELLS = 1 << 12 };

/*
 * Returns the slot that may hold a sample's cell, and the sample's key. NULL if memory runs out, or
 * if the mappings of the sample are unknown.
 */
static struct recent_cell *collect_recent(struct profile *p, const struct event *ev, uint64_t ip,
					  struct recent_cell *key)
{
	const struct address_space *space = NULL;

	if (p->needs_place) {
		space = recording_space(ev, ev->pub.cpumode);
		if (!space)
			return NULL;
	}
	*key = (struct recent_cell){
		.ip = p->needs_place ? ip : 0,
		.stamp = space ? space->stamp : 0,
		.kind = two_halves(ev->pub.schema, ev->pub.comm),
		.mode = ev->pub.cpumode + 1,
	};
	if (!p->recent_cells)
		p->recent_cells = calloc(RECENT_CELLS, sizeof(*p->recent_cells));
	if (!p->recent_cells)
		return NULL;
	return &p->recent_cells[hash_u64(key->ip ^ key->kind << 32 ^ key->kind) % RECENT_CELLS];
}

static bool collect_equal(const struct recent_cell *a, const struct recent_cell *b)
{
	return a->ip == b->ip && a->stamp == b->stamp && a->kind == b->kind && a->mode == b->mode;
}

static int collect_find_cell(struct profile *p, const struct event *ev, uint64_t ip, uint32_t *ret)
{
	struct recent_cell key, *recent = NULL;
	int r;

	if (p->is_simple) {
		recent = collect_recent(p, ev, ip, &key);
		if (recent && collect_equal(recent, &key)) {
			p->facts.samples++;
			*ret = recent->cell;
			return 1;
		}
	}
	r = collect_cell(p, ev, ip, ret);
	if (r > 0 && recent) {
		key.cell = *ret;
		*recent = key;
	}
	return r;
}

static void collect_count(struct profile *p, const struct event *ev, uint32_t cell, uint64_t period)
{
	struct cell_counts *c = &p->counts.v[cell];

	c->samples++;
	counts_sum(p, &c->period, period);
	if (c->last_ns < ev->pub.time_ns || c->samples == 1)
		c->last_ns = ev->pub.time_ns;
	if (p->weights)
		weights_add(p, &p->cell_weights.v[(size_t)cell * PROFILE_WEIGHTS]);
}

/* ---- branch stacks --------------------------------------------------------------------------- */

static int collect_branch(struct profile *p, const struct event *ev, const struct collect_sample *s,
			  uint32_t sampled, const struct sonde_branch *branch)
{
	uint32_t place, at, cell;
	uint64_t key[2];
	int r = branches_find(p, ev, branch, &place);

	if (r <= 0) {
		p->facts.hidden_samples += !r;
		return r;
	}
	r = collect_combination(p, ev, s, &at);
	if (r >= 0) {
		key[0] = two_halves(at, (p->needs_place ? place : PROFILE_ROOT) + 1);
		key[1] = cell_word(PROFILE_ROOT, collect_mode(ev), false);
		r = wordset_put_within(&p->cells, key, p->opts.max_keys, &cell);
	}
	if (r == -ENOSPC) {
		p->facts.dropped_samples++;
		return 0;
	}
	if (r > 0)
		r = collect_first(p, ev, sampled);
	if (r >= 0)
		r = branches_count(p, ev, branch, cell);
	if (r < 0)
		return r;
	p->facts.samples++;
	collect_count(p, ev, cell, 1);
	return 0;
}

static int collect_branches(struct profile *p, const struct event *ev, uint64_t ip)
{
	uint32_t sampled = PROFILE_ROOT;
	struct collect_sample s;

	if (marks_need_place(p) || p->opts.hide_unresolved)
		TRY(collect_place(p, ev, ip, &sampled));
	if (p->opts.hide_unresolved && !place_at(p, sampled)->sym) {
		p->facts.hidden_samples++;
		return 1;
	}
	if (p->weights) /* uses the room of the branches, too */
		TRY(weights_read(p, ev));
	TRY(collect_values(ev, &s));
	if (p->blocks)
		TRY(blocks_add(p, ev, s.values.branches, s.values.nr_branches));
	for (uint64_t i = 0; i < s.values.nr_branches; i++) {
		/* perf's weight of a branch. */
		s.weight = s.values.branches[i].flags >> 4 & 0xffff;
		s.weight += !s.weight;
		s.ins_lat = s.stage = 0;
		TRY(collect_branch(p, ev, &s, sampled, &s.values.branches[i]));
	}
	return 1;
}

/* ---- all of it ------------------------------------------------------------------------------- */

int collect_add(struct profile *p, const struct event *ev)
{
	uint64_t ip, period;
	uint32_t cell;
	int r;

	if (ev->schema->kind > SONDE_SAMPLE)
		return reads_add(p, ev);
	if (__builtin_expect(p->session != ev->recording->all, 0))
		TRY(collect_begin(p, ev));
	source_weigh(ev->source, ev, &ip, &period);
	if (p->opts.weight_as_period)
		TRY(collect_weight(ev, &period));
	if (p->opts.branches)
		return collect_branches(p, ev, ip);
	r = collect_find_cell(p, ev, ip, &cell);
	if (r == -ENOSPC) {
		p->facts.dropped_samples++;
		return 1;
	}
	if (r <= 0)
		return r < 0 ? r : 1;
	if (p->weights)
		TRY(weights_read(p, ev));
	collect_count(p, ev, cell, period);
	return 1;
}
