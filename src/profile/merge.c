/* SPDX-License-Identifier: MIT */
/*
 * Sums and differences of finished profiles. A number of one profile means nothing in another, so
 * each is mapped by the text that it stands for:
 *
 *	event type	name
 *	file		short name
 *	task		pid, tid and comm
 *	place		file and function; an unresolved one by its address in the file
 *
 * Addresses are compared only if a key shows them: the same function has other addresses in
 * another build, and the same file is mapped elsewhere in another process.
 */
#include "profile/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "profile/branches.h"
#include "profile/columns.h"
#include "profile/counts.h"
#include "profile/fields.h"
#include "profile/memory.h"
#include "profile/texts.h"
#include "profile/values.h"

enum { MERGE_PLACE_WORDS = 8 };

/* What all merged profiles share. */
struct merged {
	struct wordset places; /* see merge_place_key(); numbers are those of profile.place_list */
	struct hash64 dsos;    /* id of the short name -> number */
	VEC(const char *) events; /* names of event types, indexed by their own schema ids */
	uint64_t next_first;      /* larger than the number of any first sample */
};

/* One profile that is being merged. */
struct merge {
	struct profile *p;
	const struct profile *more;
	bool subtract;
	/* What distinguishes places besides their functions. */
	bool by_ip, by_addr, by_line, by_size;
	/* Owned; indexed by the numbers of `more`: own numbers. */
	uint32_t *places, *paths, *combinations, *events;
};

enum { MERGE_UNKNOWN = UINT32_MAX, MERGE_DROPPED = UINT32_MAX - 1 };

void merge_done(struct profile *p)
{
	if (!p->merged)
		return;
	wordset_done(&p->merged->places);
	hash64_done(&p->merged->dsos);
	vec_done(&p->merged->events);
	free(p->merged);
	p->merged = NULL;
}

/* ---- texts, files, tasks --------------------------------------------------------------------- */

static int merge_text(struct merge *m, const char *text, uint32_t *ret)
{
	*ret = 0;
	return text ? strpool_intern(&m->p->strings, text, strlen(text), ret) : 0;
}

static int merge_own(struct merge *m, const char *text, const char **ret)
{
	uint32_t id;

	TRY(merge_text(m, text, &id));
	*ret = text ? strpool_text(&m->p->strings, id) : NULL;
	return 0;
}

/* The number + 1 of a file; 0 if there is none. */
static int merge_dso(struct merge *m, uint32_t dso, uint32_t *ret)
{
	const struct profile_dso *d = dso ? &m->more->dsos.v[dso - 1] : NULL;
	struct profile_dso own;
	uint32_t name;
	uint64_t at;

	*ret = 0;
	if (!d)
		return 0;
	TRY(merge_text(m, d->short_name, &name));
	at = hash64_find(&m->p->merged->dsos, name);
	if (at == HASH64_EMPTY) {
		own.short_name = strpool_text(&m->p->strings, name);
		TRY(merge_own(m, d->long_name, &own.long_name));
		at = m->p->dsos.n;
		TRY(vec_push(&m->p->dsos, own));
		TRY(hash64_put(&m->p->merged->dsos, name, at));
	}
	*ret = (uint32_t)at + 1;
	return 0;
}

static int merge_task(struct merge *m, const struct profile_task *t, uint64_t *ret)
{
	const char *comm = strpool_text(&m->more->strings, t->comm);
	struct profile_task own = { .pid = t->pid, .tid = t->tid };
	char head[32];
	uint32_t id;

	TRY(merge_text(m, comm, &own.comm));
	snprintf(head, sizeof(head), "%d/%d/%u", t->pid, t->tid, own.comm);
	TRY(merge_text(m, head, &id));
	own.id = id;
	*ret = hash64_find(&m->p->tasks_by_id, own.id);
	if (*ret != HASH64_EMPTY)
		return 0;
	*ret = m->p->tasks.n;
	TRY(vec_push(&m->p->tasks, own));
	return hash64_put(&m->p->tasks_by_id, own.id, *ret);
}

/* ---- places ---------------------------------------------------------------------------------- */

static void merge_choose(struct merge *m)
{
	struct profile *p = m->p;
	const bool has_tree = p->opts.callgraph != CALLGRAPH_NONE;

	m->by_line = p->needs_lines || (has_tree && p->opts.callgraph_key == CALLGRAPH_SRCLINE);
	m->by_addr = has_tree && p->opts.callgraph_key == CALLGRAPH_ADDRESS;
	vec_foreach(c, &p->columns) {
		m->by_ip |= c->def->value == value_addr || c->def->value == value_branch_addr ||
			    c->def->value == value_data_sym || c->def->value == value_cache_line;
		m->by_size |= c->def->value == value_symbol_size || c->def->value == value_dso_size;
	}
}

static void merge_place_key(const struct merge *m, const struct profile_place *place, uint32_t sym,
			    uint32_t file, uint64_t key[MERGE_PLACE_WORDS])
{
	memset(key, 0, MERGE_PLACE_WORDS * sizeof(*key));
	key[0] = two_halves(place->dso, sym);
	key[1] = place->cpumode | (uint64_t)place->is_inlined << 8;
	if (!place->sym)
		key[1] |= 1u << 9 | (uint64_t)place->unknown << 32;
	if (!place->sym || m->by_addr)
		key[2] = place->dso ? place->dso_addr : place->ip;
	if (m->by_line) {
		key[3] = two_halves(file, place->line);
		key[4] = file ? 0 : place->sym_off;
	}
	if (m->by_ip)
		key[5] = place->ip;
	if (m->by_size) {
		key[6] = place->sym_end - place->sym_start;
		key[7] = place->map_bytes;
	}
}

static int merge_place(struct merge *m, uint32_t number, uint32_t *ret)
{
	struct profile_place place = *place_at(m->more, number);
	uint64_t key[MERGE_PLACE_WORDS];
	uint32_t sym, file;
	int r;

	*ret = m->places[number];
	if (*ret != MERGE_UNKNOWN)
		return 0;
	TRY(merge_dso(m, place.dso, &place.dso));
	TRY(merge_text(m, place.sym, &sym));
	TRY(merge_text(m, place.file, &file));
	merge_place_key(m, &place, sym, file, key);
	r = wordset_put(&m->p->merged->places, key, ret);
	if (r < 0)
		return r;
	m->places[number] = *ret;
	if (!r)
		return 0;
	place.sym = place.sym ? strpool_text(&m->p->strings, sym) : NULL;
	place.file = place.file ? strpool_text(&m->p->strings, file) : NULL;
	return vec_push(&m->p->place_list, place);
}

/* Paths beyond max-keys are dropped. */
static int merge_path(struct merge *m, uint32_t path, uint32_t *ret)
{
	struct profile *p = m->p;
	const struct pathset *from = &m->more->call_paths;
	const uint32_t begin = pathset_begin(from, path), nr = pathset_end(from, path) - begin;
	const bool reverses = p->opts.callgraph != m->more->opts.callgraph;
	int r;

	vec_clear(&p->frames);
	TRY(vec_reserve(&p->frames, nr));
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t place;

		TRY(merge_place(m, from->frames.v[begin + (reverses ? nr - 1 - i : i)] - 1,
				&place));
		p->frames.v[p->frames.n++] = place + 1;
	}
	r = pathset_put(&p->call_paths, p->frames.v, nr, p->opts.max_keys, ret);
	if (r == -ENOSPC)
		*ret = MERGE_DROPPED;
	return r == -ENOSPC ? 0 : r;
}

static int merge_paths(struct merge *m)
{
	for (uint32_t i = 0; i < m->more->call_paths.begins.n; i++) {
		int r = merge_path(m, i, &m->paths[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- event types and groups ------------------------------------------------------------------ */

/* An event type's own schema id: merged recordings number theirs differently. */
static int merge_schema(struct merge *m, const char *name, uint32_t *ret)
{
	struct merged *all = m->p->merged;
	const char *own;

	TRY(merge_own(m, name, &own));
	for (*ret = 0; *ret < all->events.n; ++*ret) {
		if (all->events.v[*ret] == own)
			return 0;
	}
	return vec_push(&all->events, own);
}

static int merge_member(struct merge *m, const struct profile_member *more,
			struct profile_member *ret)
{
	*ret = (struct profile_member){ .is_tracepoint = more->is_tracepoint };
	TRY(merge_schema(m, more->name, &ret->schema));
	ret->name = m->p->merged->events.v[ret->schema];
	return 0;
}

static int merge_event(struct merge *m, const struct profile_member *more, uint32_t *ret)
{
	struct profile_member own;

	TRY(merge_member(m, more, &own));
	for (*ret = 0; *ret < m->p->events.n; ++*ret) {
		if (m->p->events.v[*ret].schema == own.schema)
			return 0;
	}
	return vec_push(&m->p->events, own);
}

static const struct profile_group *merge_group_of(const struct profile *p, uint32_t schema)
{
	for (size_t i = 0; i < p->groups.n; i++) {
		const struct profile_group *g = &p->groups.v[i];

		for (uint32_t k = 0; k < g->nr_members; k++) {
			if (p->group_members.v[g->first_member + k].schema == schema)
				return g;
		}
	}
	return NULL;
}

/* Adds a group, or checks that it has the same members as before. */
static int merge_group(struct merge *m, const struct profile_table *t)
{
	struct profile *p = m->p;
	struct profile_group own = {
		.first_member = (uint32_t)p->group_members.n,
		.nr_members = t->nr_members,
	};
	const struct profile_group *known = NULL;
	bool differs = false;

	TRY(merge_own(m, t->group, &own.name));
	for (uint32_t i = 0; i < t->nr_members; i++) {
		struct profile_member member;
		const struct profile_group *g;

		TRY(merge_member(m, &m->more->members.v[t->first_member + i], &member));
		g = merge_group_of(p, member.schema);
		differs |= i && g != known;
		known = g;
		TRY(vec_push(&p->group_members, member));
	}
	if (differs || (known && known->nr_members != own.nr_members)) {
		p->group_members.n = own.first_member;
		return err_set(-EINVAL, "the profiles group their events differently; "
					"use groups=none");
	}
	if (!known)
		return vec_push(&p->groups, own);
	p->group_members.n = own.first_member;
	return 0;
}

/* Event types get own ids in the order of the other profile's tables. */
static int merge_tables(struct merge *m)
{
	const struct profile *more = m->more;

	for (size_t i = 0; i < more->tables.n; i++) {
		const struct profile_table *t = &more->tables.v[i];
		uint32_t schema;

		TRY(merge_schema(m, t->own.name, &schema));
		if (t->nr_members > 1)
			TRY(merge_group(m, t));
	}
	for (size_t i = 0; i < more->events.n; i++)
		TRY(merge_event(m, &more->events.v[i], &m->events[i]));
	return 0;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static int merge_raw(struct merge *m, const struct profile_column *from, struct profile_column *to,
		     uint64_t raw, uint64_t *ret)
{
	uint32_t number = 0;

	*ret = raw;
	switch (from->def->raw) {
	case RAW_COMM:
	case RAW_TRACE:
	case RAW_CGROUP_NAME:
	case RAW_CGROUP_NAMESPACE:
		TRY(merge_text(m, strpool_text(&m->more->strings, (uint32_t)raw), &number));
		*ret = number;
		return 0;
	case RAW_TASK:
		return merge_task(m, &m->more->tasks.v[raw], ret);
	case RAW_PARENT:
		if (!raw)
			return 0;
		TRY(merge_place(m, (uint32_t)raw - 1, &number));
		*ret = number + 1ull;
		return 0;
	case RAW_FROM:
	case RAW_TO:
	case RAW_FROM_ADDR:
	case RAW_TO_ADDR:
	case RAW_FROM_LINE:
	case RAW_TO_LINE:
		TRY(merge_place(m, (uint32_t)raw, &number));
		*ret = number;
		return 0;
	case RAW_DATA:
	case RAW_CODE:
		TRY(merge_place(m, (uint32_t)raw, &number));
		*ret = number;
		return 0;
	case RAW_CACHE_LINE:
		TRY(merge_place(m, m->more->cache_lines.v[raw].place, &number));
		return memory_copy_line(m->p, &m->more->cache_lines.v[raw], number, ret);
	case RAW_FIELD:
		return fields_copy(m->p, to, &m->more->field_values.v[raw], ret);
	case RAW_PLACE:
	case RAW_LINE:
	case RAW_NONE:
	case RAW_CPU:
	case RAW_SOCKET:
	case RAW_TIME:
	case RAW_WEIGHT:
	case RAW_INS_LAT:
	case RAW_STAGE:
	case RAW_CODE_PAGE:
	case RAW_DATA_PAGE:
	case RAW_PHYS:
	case RAW_TRANSACTION:
	case RAW_PREDICTION:
	case RAW_IN_TX:
	case RAW_ABORT:
	case RAW_CYCLES:
	case RAW_LEVEL:
	case RAW_SNOOP:
	case RAW_TLB:
	case RAW_LOCK:
	case RAW_BLOCKED:
		return 0;
	}
	return 0;
}

static int merge_combinations(struct merge *m)
{
	for (uint32_t i = 0; i < m->more->combinations.n; i++) {
		uint64_t key[1 + PROFILE_MAX_COLUMNS];

		key[0] = m->events[wordset_key(&m->more->combinations, i)[0]];
		for (size_t c = 0; c < m->p->columns.n; c++) {
			const struct profile_column *from = &m->more->columns.v[c];
			struct profile_column *to = &m->p->columns.v[c];

			if (from->raw_at >= 0)
				TRY(merge_raw(
					m, from, to,
					wordset_key(&m->more->combinations, i)[1 + from->raw_at],
					&key[1 + to->raw_at]));
		}
		TRY(wordset_put(&m->p->combinations, key, &m->combinations[i]));
	}
	return 0;
}

/* Returns 0 if a cell would be beyond max-keys. */
static int merge_cell(struct merge *m, uint32_t cell, uint32_t *ret)
{
	struct profile *p = m->p;
	uint32_t place = cell_place(m->more, cell), path = cell_path(m->more, cell);
	uint64_t key[2];
	int r;

	if (place != PROFILE_ROOT)
		TRY(merge_place(m, place, &place));
	if (p->opts.callgraph == CALLGRAPH_NONE)
		path = PROFILE_ROOT;
	else if (path != PROFILE_ROOT)
		path = m->paths[path];
	if (path == MERGE_DROPPED)
		return 0;
	key[0] = two_halves(m->combinations[cell_combination(m->more, cell)], place + 1);
	key[1] = cell_word(path, cell_mode(m->more, cell),
			   path != PROFILE_ROOT && cell_is_borrowed(m->more, cell));
	r = wordset_put_within(&p->cells, key, p->opts.max_keys, ret);
	if (r == -ENOSPC)
		return 0;
	if (r > 0)
		r = counts_new_cell(p, &(struct cell_counts){ 0 });
	return r < 0 ? r : 1;
}

static uint64_t merge_sum(struct merge *m, uint64_t a, uint64_t b)
{
	counts_sum(m->p, &a, b);
	return a;
}

static int merge_cells(struct merge *m)
{
	struct sonde_profile_facts *f = &m->p->facts;
	const bool is_signed = f->flags & SONDE_PROFILE_DIFFERENCE;
	struct profile_counts sum = { .samples = f->samples, .is_signed = is_signed };
	uint64_t next_first = 0;

	for (uint32_t i = 0; i < m->more->cells.n; i++) {
		struct profile_counts c = counts_of_cell(m->more, i), both;
		uint32_t cell;
		int r = merge_cell(m, i, &cell);

		if (r < 0)
			return r;
		if (!r) {
			counts_sum(m->p, &f->dropped_samples, counts_size(m->more, c.samples));
			continue;
		}
		/* First samples of an earlier profile come first. Tasks of two profiles differ. */
		next_first = c.first < next_first ? next_first : c.first + 1;
		c.first += m->p->merged->next_first;
		c.task = hash_u64(c.task ^ hash_u64(m->p->merged->next_first + 1));
		if (is_signed)
			counts_make_signed(m->p, &c, m->subtract);
		both = counts_of_cell(m->p, cell);
		counts_add(m->p, &both, &c);
		counts_put_cell(m->p, cell, &both);
		counts_add(
			m->p, &sum,
			&(struct profile_counts){ .samples = c.samples, .is_signed = is_signed });
	}
	f->samples = sum.samples;
	m->p->merged->next_first += next_first;
	return 0;
}

static void merge_facts(struct merge *m)
{
	const struct sonde_profile_facts *more = &m->more->facts;
	struct sonde_profile_facts *f = &m->p->facts;

	f->flags |= more->flags & (SONDE_PROFILE_SATURATED | SONDE_PROFILE_CALLCHAINS);
	f->dropped_samples = merge_sum(m, f->dropped_samples, more->dropped_samples);
	f->hidden_samples = merge_sum(m, f->hidden_samples, more->hidden_samples);
	f->truncated_chains = merge_sum(m, f->truncated_chains, more->truncated_chains);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const char *merge_or_empty(const char *text)
{
	return text ? text : "";
}

static int merge_check(const struct profile *p, const struct profile *more)
{
	const struct profile_options *a = &p->opts, *b = &more->opts;

	if (p->is_finished)
		return err_set(-EINVAL, "the profile is finished");
	if (!more->is_finished)
		return err_set(-EINVAL, "the profile to merge is not finished");
	if (p->session_nr)
		return err_set(-EINVAL, "the profile has samples of a session; "
					"merge finished profiles into a new one");
	if (strcmp(a->keys ? a->keys : PROFILE_DEFAULT_KEYS,
		   b->keys ? b->keys : PROFILE_DEFAULT_KEYS) ||
	    strcmp(merge_or_empty(a->weights), merge_or_empty(b->weights)))
		return err_set(-EINVAL, "the profiles differ in keys= or weight=");
	if (a->branch_history || b->branch_history || a->blocks || b->blocks)
		return err_set(-EINVAL, "profiles with branch-history=1 or blocks=1 cannot be "
					"merged");
	if (a->branches != b->branches)
		return err_set(-EINVAL, "the profiles differ in branches=");
	if (a->callgraph != CALLGRAPH_NONE &&
	    (b->callgraph == CALLGRAPH_NONE || a->callgraph_key != b->callgraph_key))
		return err_set(-EINVAL, "the profiles differ in callgraph= or callgraph-key=");
	return 0;
}

static int merge_begin(struct profile *p, const struct profile *more)
{
	if (p->merged)
		return 0;
	p->merged = calloc(1, sizeof(*p->merged));
	if (!p->merged)
		return err_nomem();
	wordset_init(&p->merged->places, MERGE_PLACE_WORDS);
	return p->is_bound ? 0 : columns_copy(p, more);
}

/* Fields of tracepoints may differ from recording to recording. */
static int merge_check_columns(const struct profile *p, const struct profile *more)
{
	bool same = p->columns.n == more->columns.n;

	for (size_t i = 0; same && i < p->columns.n; i++)
		same = p->columns.v[i].def == more->columns.v[i].def &&
		       !strcmp(p->columns.v[i].name, more->columns.v[i].name);
	return same ? 0
		    : err_set(-EINVAL, "the profiles' keys are fields of different events; "
				       "name the fields in keys=");
}

/* Columns of fields belong to event types, which have own schema ids here. */
static int merge_columns(struct merge *m)
{
	vec_foreach(c, &m->p->columns) {
		if (c->event)
			TRY(merge_schema(m, c->event, &c->schema));
	}
	return 0;
}

static int merge_alloc(struct merge *m)
{
	const struct profile *more = m->more;

	m->places = reallocarray(NULL, more->place_list.n + 1, sizeof(*m->places));
	m->paths = reallocarray(NULL, more->call_paths.begins.n + 1, sizeof(*m->paths));
	m->combinations = reallocarray(NULL, more->combinations.n + 1, sizeof(*m->combinations));
	m->events = reallocarray(NULL, more->events.n + 1, sizeof(*m->events));
	if (!m->places || !m->paths || !m->combinations || !m->events)
		return err_nomem();
	for (size_t i = 0; i < more->place_list.n; i++)
		m->places[i] = MERGE_UNKNOWN;
	return 0;
}

static int merge_all(struct merge *m)
{
	m->p->rules = m->more->rules;
	TRY(merge_alloc(m));
	merge_choose(m);
	TRY(merge_tables(m));
	TRY(merge_columns(m));
	if (m->subtract || m->more->facts.flags & SONDE_PROFILE_DIFFERENCE)
		counts_begin_difference(m->p);
	if (m->p->opts.callgraph != CALLGRAPH_NONE)
		TRY(merge_paths(m));
	TRY(merge_combinations(m));
	TRY(merge_cells(m));
	merge_facts(m);
	return 0;
}

int merge_profile(struct profile *p, const struct profile *more, bool subtract)
{
	struct merge m = { .p = p, .more = more, .subtract = subtract };
	int r;

	TRY(merge_check(p, more));
	TRY(merge_begin(p, more));
	TRY(merge_check_columns(p, more));
	r = merge_all(&m);
	free(m.places);
	free(m.paths);
	free(m.combinations);
	free(m.events);
	return r;
}
