/* SPDX-License-Identifier: MIT */
/* sonde.h: profiles. */

#include <errno.h>

#include "base/err.h"
#include "profile/blocks.h"
#include "profile/collect.h"
#include "profile/columns.h"
#include "profile/counts.h"
#include "profile/history.h"
#include "profile/last_comms.h"
#include "profile/merge.h"
#include "profile/profile.h"
#include "profile/reads.h"
#include "profile/sort.h"
#include "profile/tree.h"
#include "profile/values.h"
#include "session/session.h"

struct sonde_profile {
	struct profile *own;
};

int sonde_profile_new(struct sonde_profile **ret, const char *settings, const char *origin)
{
	struct sonde_profile *p;
	int r;

	NOT_NULL(ret, -EINVAL);
	NOT_NULL(settings, -EINVAL);
	err_clear();
	p = calloc(1, sizeof(*p));
	if (!p)
		return err_nomem();
	r = profile_new(&p->own, settings, origin);
	if (r < 0) {
		free(p);
		return r;
	}
	*ret = p;
	return 0;
}

void sonde_profile_free(struct sonde_profile *p)
{
	if (!p)
		return;
	profile_free(p->own);
	free(p);
}

const char *sonde_profile_key(size_t i, const char **ret_title)
{
	if (i >= nr_key_defs)
		return NULL;
	if (ret_title)
		*ret_title = key_defs[i].title;
	return key_defs[i].name;
}

/* ---- filling --------------------------------------------------------------------------------- */

static int profile_check_open(const struct sonde_profile *p)
{
	if (p->own->merged)
		return err_set(-EINVAL, "profiles were merged into this one; "
					"add samples to a profile of their own");
	return p->own->is_finished ? err_set(-EINVAL, "the profile is finished") : 0;
}

int sonde_profile_read(struct sonde_profile *p, struct sonde_session *s)
{
	NOT_NULL(p, -EINVAL);
	NOT_NULL(s, -EINVAL);
	TRY(profile_check_open(p));
	for (;;) {
		const struct sonde_event *const *events;
		size_t nr = RECORDING_EVENTS;
		int r = session_next_batch(s, &events, &nr);

		if (!r && p->own->session == &s->recordings)
			return last_comms_note(p->own, &s->recordings);
		if (r <= 0)
			return r;
		for (size_t i = 0; i < nr; i++)
			TRY(collect_add(p->own, event_of(events[i])));
	}
}

int sonde_profile_add(struct sonde_profile *p, const struct sonde_event *ev)
{
	NOT_NULL(p, -EINVAL);
	NOT_NULL(ev, -EINVAL);
	TRY(profile_check_open(p));
	return collect_add(p->own, event_of(ev));
}

int sonde_profile_merge(struct sonde_profile *p, const struct sonde_profile *more)
{
	NOT_NULL(p, -EINVAL);
	NOT_NULL(more, -EINVAL);
	err_clear();
	return merge_profile(p->own, more->own, false);
}

int sonde_profile_subtract(struct sonde_profile *p, const struct sonde_profile *base)
{
	NOT_NULL(p, -EINVAL);
	NOT_NULL(base, -EINVAL);
	err_clear();
	return merge_profile(p->own, base->own, true);
}

int sonde_profile_finish(struct sonde_profile *p)
{
	NOT_NULL(p, -EINVAL);
	return profile_finish(p->own);
}

int sonde_profile_sort(struct sonde_profile *p, const char *order, uint32_t group_member)
{
	NOT_NULL(p, -EINVAL);
	NOT_NULL(order, -EINVAL);
	return sort_rows(p->own, order, group_member);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* A caller that was compiled with an older header has a smaller struct. */
static int profile_give(void *ret, const void *all, size_t size)
{
	uint32_t known;

	memcpy(&known, ret, sizeof(known));
	if (known < sizeof(known))
		return err_set(-EINVAL, "the struct's size is not set");
	memcpy(ret, all, known < size ? known : size);
	if (known > size)
		known = (uint32_t)size;
	memcpy(ret, &known, sizeof(known));
	return 1;
}

int sonde_profile_facts(const struct sonde_profile *p, struct sonde_profile_facts *ret)
{
	struct sonde_profile_facts f;

	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	f = p->own->facts;
	f.nr_tables = (uint32_t)p->own->tables.n;
	f.nr_keys = (uint32_t)p->own->columns.n;
	return profile_give(ret, &f, sizeof(f));
}

static const struct profile_table *profile_table_at(const struct sonde_profile *p, uint32_t table)
{
	return table < p->own->tables.n ? &p->own->tables.v[table] : NULL;
}

static struct sonde_profile_table profile_table_of(const struct profile_member *m)
{
	return (struct sonde_profile_table){
		.size = sizeof(struct sonde_profile_table),
		.schema = m->schema,
		.name = m->name,
		.nr_members = 1,
		.flags = m->is_tracepoint,
		.samples = m->sum.samples,
		.period = counts_period(&m->sum),
		.shown_samples = m->shown.samples,
		.shown_period = counts_period(&m->shown),
	};
}

int sonde_profile_table(const struct sonde_profile *p, uint32_t table,
			struct sonde_profile_table *ret)
{
	const struct profile_table *t;
	struct sonde_profile_table all;

	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	t = profile_table_at(p, table);
	if (!t)
		return 0;
	all = profile_table_of(&t->own);
	all.group = t->group;
	all.nr_members = t->nr_members;
	all.nr_rows = t->nr_rows;
	return profile_give(ret, &all, sizeof(all));
}

int sonde_profile_member(const struct sonde_profile *p, uint32_t table, uint32_t member,
			 struct sonde_profile_table *ret)
{
	const struct profile_table *t;
	struct sonde_profile_table all;

	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	t = profile_table_at(p, table);
	if (!t || member >= t->nr_members)
		return 0;
	all = profile_table_of(&p->own->members.v[t->first_member + member]);
	all.nr_rows = t->nr_rows;
	return profile_give(ret, &all, sizeof(all));
}

/* The number of the row shown at position `row`; UINT32_MAX if there is none. */
static uint32_t profile_row_number(const struct sonde_profile *p, uint32_t table, uint64_t row)
{
	const struct profile_table *t = profile_table_at(p, table);

	return t && row < t->nr_rows ? t->order[row] : UINT32_MAX;
}

static int profile_give_row(const struct sonde_profile *p, uint32_t table, uint64_t row,
			    uint32_t member, struct sonde_profile_row *ret)
{
	const uint32_t n = profile_row_number(p, table, row);
	const struct profile_counts *self, *children;
	struct sonde_profile_row all;
	struct profile_row *r;

	if (n == UINT32_MAX || member >= p->own->tables.v[table].nr_members)
		return 0;
	r = &p->own->rows.v[n];
	self = row_counts(p->own, r, member, false);
	children = row_counts(p->own, r, member, true);
	all = (struct sonde_profile_row){
		.size = sizeof(all),
		.flags = (r->is_filtered ? SONDE_ROW_FILTERED : 0) |
			 (r->place && !place_at(p->own, r->place - 1)->sym ? SONDE_ROW_UNRESOLVED
									   : 0) |
			 (r->has_tree ? SONDE_ROW_HAS_TREE : 0),
		.samples = self->samples,
		.period = counts_period(self),
		.children_samples = children->samples,
		.children_period = counts_period(children),
		.period_sys = self->period[1],
		.period_us = self->period[2],
		.period_guest_sys = self->period[4],
		.period_guest_us = self->period[5],
		.first_ns = counts_any(children) ? children->first_ns : SONDE_NO_TIME,
		.last_ns = counts_any(children) ? children->last_ns : SONDE_NO_TIME,
		.merged = r->merged,
		.task = children->task,
		.place = r->place,
		.max_depth = r->max_depth,
	};
	memcpy(all.weights, self->weights, sizeof(all.weights));
	return profile_give(ret, &all, sizeof(all));
}

int sonde_profile_row(const struct sonde_profile *p, uint32_t table, uint64_t row,
		      struct sonde_profile_row *ret)
{
	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	return profile_give_row(p, table, row, 0, ret);
}

int sonde_profile_row_member(const struct sonde_profile *p, uint32_t table, uint64_t row,
			     uint32_t member, struct sonde_profile_row *ret)
{
	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	return profile_give_row(p, table, row, member, ret);
}

static const struct profile_value *profile_value_at(const struct sonde_profile *p, uint32_t table,
						    uint64_t row, uint32_t key)
{
	static const struct profile_value missing = { .kind = SONDE_VALUE_NONE, .text = "(null)" };
	const uint32_t n = profile_row_number(p, table, row);
	const struct profile_column *c;

	if (n == UINT32_MAX || key >= p->own->columns.n)
		return NULL;
	c = &p->own->columns.v[key];
	if (row_column_is_unmade(p->own, c, n))
		return &missing;
	/* Equal values may have different texts: a row has that of its first sample. */
	if (c->raw_at >= 0) {
		const uint32_t first = p->own->rows.v[n].combination;
		const uint64_t raw = wordset_key(&p->own->combinations, first)[1 + c->raw_at];

		return &c->values.v[hash64_find(&c->by_raw, raw)];
	}
	return &c->values.v[c->by_id.v[wordset_key(&p->own->row_values, n)[1 + key]]];
}

static int profile_give_value(const struct profile_value *v, uint32_t width,
			      struct sonde_profile_value *ret)
{
	const struct sonde_profile_value all = {
		.size = sizeof(all),
		.kind = v->kind,
		.id = v->id,
		.rank = v->rank,
		.unknown = v->unknown,
		.place = v->place,
		.number = v->number,
		.text = v->text,
		.long_text = v->long_text,
		.bytes_len = v->bytes_len,
		.width = width < v->width ? v->width : width,
		.level = v->level,
	};

	return profile_give(ret, &all, sizeof(all));
}

int sonde_profile_value(const struct sonde_profile *p, uint32_t table, uint64_t row, uint32_t key,
			struct sonde_profile_value *ret)
{
	const struct profile_value *v;
	uint32_t width;

	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	v = profile_value_at(p, table, row, key);
	if (!v)
		return 0;
	width = row_column_width(p->own, &p->own->columns.v[key], profile_row_number(p, table, row),
				 v);
	return profile_give_value(v, width, ret);
}

int sonde_profile_read_value(const struct sonde_profile *p, uint32_t thread, uint32_t counter,
			     struct sonde_profile_read *ret)
{
	struct sonde_profile_read all;

	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	if (!reads_value(p->own, thread, counter, &all))
		return 0;
	return profile_give(ret, &all, sizeof(all));
}

/* The cell of a path; UINT32_MAX if there is none. */
static uint32_t profile_cell(const struct sonde_profile *p, uint32_t table, uint64_t path)
{
	const struct profile_table *t = profile_table_at(p, table);

	return t && path < t->nr_paths ? p->own->paths.v[t->first_path + path] : UINT32_MAX;
}

int sonde_profile_path(struct sonde_profile *p, uint32_t table, uint64_t path,
		       struct sonde_profile_path *ret)
{
	struct sonde_profile_path all;
	struct profile_counts c;
	const uint32_t *frames;
	uint32_t cell, nr_frames;

	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	cell = profile_cell(p, table, path);
	if (cell == UINT32_MAX)
		return 0;
	TRY(tree_path_frames(p->own, cell, &frames, &nr_frames));
	c = counts_of_cell(p->own, cell);
	all = (struct sonde_profile_path){
		.size = sizeof(all),
		.nr_frames = nr_frames,
		.frames = frames,
		.samples = c.samples,
		.period = counts_period(&c),
		.first_ns = c.first_ns,
		.last_ns = c.last_ns,
		.place = cell_place(p->own, cell) + 1,
		.flags = p->own->rows.v[p->own->cell_rows.v[cell]].is_filtered ? SONDE_ROW_FILTERED
									       : 0,
	};
	memcpy(all.weights, c.weights, sizeof(all.weights));
	return profile_give(ret, &all, sizeof(all));
}

int sonde_profile_path_value(const struct sonde_profile *p, uint32_t table, uint64_t path,
			     uint32_t key, struct sonde_profile_value *ret)
{
	const struct profile_column *c;
	uint32_t cell;

	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	cell = profile_cell(p, table, path);
	if (cell == UINT32_MAX || key >= p->own->columns.n)
		return 0;
	c = &p->own->columns.v[key];
	return profile_give_value(column_value(p->own, c, cell), column_width(p->own, c), ret);
}

const char *sonde_profile_text(const struct sonde_profile *p, uint32_t table, uint64_t row,
			       uint32_t key)
{
	const struct profile_value *v;

	NOT_NULL(p, "");
	v = profile_value_at(p, table, row, key);
	return v ? v->text : "";
}

const char *sonde_profile_column(const struct sonde_profile *p, uint32_t key,
				 const char **ret_title, uint32_t *ret_table)
{
	NOT_NULL(p, NULL);
	if (key >= p->own->columns.n)
		return NULL;
	if (ret_title)
		*ret_title = p->own->columns.v[key].title;
	if (ret_table)
		*ret_table = column_table(p->own, &p->own->columns.v[key]);
	return p->own->columns.v[key].name;
}

int sonde_profile_place(const struct sonde_profile *p, uint32_t place,
			struct sonde_profile_place *ret)
{
	struct sonde_profile_place all;
	const struct profile_place *own;
	const struct profile_dso *dso;

	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	if (!place || place > p->own->place_list.n)
		return 0;
	own = place_at(p->own, place - 1);
	dso = own->dso ? &p->own->dsos.v[own->dso - 1] : NULL;
	all = (struct sonde_profile_place){
		.size = sizeof(all),
		.unknown = own->unknown,
		.ip = own->ip,
		.dso_addr = own->dso_addr,
		.dso_id = own->dso,
		.dso = dso ? dso->short_name : NULL,
		.dso_path = dso ? dso->long_name : NULL,
		.sym = own->sym,
		.sym_start = own->sym_start,
		.sym_end = own->sym_end,
		.map_bytes = own->map_bytes,
		.file = own->file,
		.line = own->line,
		.cpumode = own->cpumode,
		.level = value_level(own->cpumode),
		.is_inlined = own->is_inlined,
		.sym_binding = own->binding,
	};
	return profile_give(ret, &all, sizeof(all));
}

int sonde_profile_tree(struct sonde_profile *p, uint32_t table, uint64_t row, uint32_t *ret_root)
{
	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret_root, -EINVAL);
	return sonde_profile_tree_above(p, table, row, 0, ret_root);
}

int sonde_profile_tree_above(struct sonde_profile *p, uint32_t table, uint64_t row, uint64_t least,
			     uint32_t *ret_root)
{
	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret_root, -EINVAL);
	*ret_root = 0;
	return tree_make(p->own, table, row, least, ret_root);
}

int sonde_profile_node(const struct sonde_profile *p, uint32_t node, struct sonde_profile_node *ret)
{
	const struct profile_tree_node *n;
	struct sonde_profile_node all;

	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	if (!node || node >= p->own->tree.n)
		return 0;
	n = &p->own->tree.v[node];
	all = (struct sonde_profile_node){
		.size = sizeof(all),
		.nr_frames = n->nr_frames,
		.frames = &p->own->call_paths.frames.v[n->frames_at],
		.parent = n->parent,
		.child = n->child,
		.next = n->next,
		.hit_period = n->hit_period,
		.hit_samples = n->hit_samples,
		.period = n->period,
		.samples = n->samples,
	};
	return profile_give(ret, &all, sizeof(all));
}

int sonde_profile_branches(const struct sonde_profile *p, uint32_t node, uint32_t frame,
			   struct sonde_profile_branches *ret)
{
	struct sonde_profile_branches all = { .size = sizeof(all) };
	const struct history_sums *s;

	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	if (!p->own->history || !node || node >= p->own->tree.n ||
	    frame >= p->own->tree.v[node].nr_frames)
		return 0;
	s = &p->own->history->tree.v[p->own->tree.v[node].sums_at + frame];
	all.is_target = s->last % 4 == HISTORY_TARGET;
	all.branches = s->branches;
	all.predicted = s->predicted;
	all.aborted = s->aborts;
	branch_types_give(&s->types, &all);
	all.sources = s->sources;
	all.cycles = s->cycles;
	all.iterations = s->loops;
	all.loop_cycles = s->loop_cycles;
	all.first_is_source = s->first % 4 == HISTORY_SOURCE;
	return profile_give(ret, &all, sizeof(all));
}

int sonde_profile_branch_types(const struct sonde_profile *p, struct sonde_profile_branches *ret)
{
	struct sonde_profile_branches all = { .size = sizeof(all) };

	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	if (!p->own->opts.branches)
		return 0;
	branch_types_give(&p->own->branch_types, &all);
	return profile_give(ret, &all, sizeof(all));
}

int sonde_profile_block(struct sonde_profile *p, uint32_t table, uint64_t block,
			struct sonde_profile_block *ret)
{
	struct sonde_profile_block all;
	const struct block *b;
	int error;

	NOT_NULL(p, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	b = blocks_at(p->own, table, block, &error);
	if (!b)
		return error;
	all = (struct sonde_profile_block){
		.size = sizeof(all),
		.start_place = b->start_place + 1,
		.end_place = b->end_place + 1,
		.start = b->start,
		.end = b->end,
		.cycles = b->cycles,
		.count = b->count,
		.all_cycles = p->own->blocks->cycles,
	};
	return profile_give(ret, &all, sizeof(all));
}
