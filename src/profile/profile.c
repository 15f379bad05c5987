/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"

#include <stdlib.h>

#include "base/err.h"
#include "compat/rules.h"
#include "profile/blocks.h"
#include "profile/branches.h"
#include "profile/chains.h"
#include "profile/columns.h"
#include "profile/history.h"
#include "profile/marks.h"
#include "profile/merge.h"
#include "profile/places.h"
#include "profile/ranks.h"
#include "profile/reads.h"
#include "profile/rows.h"
#include "profile/sort.h"
#include "profile/weights.h"

static int profile_init(struct profile *p, const char *text, const char *origin)
{
	p->rules = &default_rules;
	TRY(profile_options_parse(&p->opts, text, origin));
	p->facts.size = sizeof(p->facts);
	p->facts.first_ns = p->facts.last_ns = SONDE_NO_TIME;
	TRY(strpool_init(&p->strings));
	TRY(columns_check(p));
	TRY(marks_init(p));
	TRY(weights_init(p));
	TRY(history_init(p));
	TRY(blocks_init(p));
	p->needs_place |= marks_need_place(p) || p->opts.hide_unresolved;
	wordset_init(&p->places, 4);
	wordset_init(&p->cells, 2);
	wordset_init(&p->line_keys, 4);
	return 0;
}

int profile_new(struct profile **ret, const char *text, const char *origin)
{
	struct profile *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return err_nomem();
	r = profile_init(p, text, origin);
	if (r < 0) {
		profile_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	vec_foreach(t, &p->tables)
		free(t->order);
	columns_done(p);
	wordset_done(&p->combinations);
	wordset_done(&p->places);
	pathset_done(&p->call_paths);
	wordset_done(&p->cells);
	wordset_done(&p->line_keys);
	wordset_done(&p->row_values);
	hash64_done(&p->tasks_by_id);
	hash64_done(&p->last_comm_widths);
	hash64_done(&p->first_names);
	vec_done(&p->own_strings);
	vec_done(&p->own_dsos);
	vec_done(&p->own_tables);
	vec_done(&p->dsos);
	vec_done(&p->tasks);
	vec_done(&p->field_values);
	vec_done(&p->cache_lines);
	outbuf_done(&p->text);
	vec_done(&p->place_list);
	vec_done(&p->counts);
	vec_done(&p->cell_weights);
	vec_done(&p->events);
	vec_done(&p->tables);
	vec_done(&p->groups);
	vec_done(&p->group_members);
	vec_done(&p->members);
	vec_done(&p->member_of);
	vec_done(&p->member_counts);
	vec_done(&p->table_of);
	vec_done(&p->rows);
	vec_done(&p->cell_rows);
	vec_done(&p->frames);
	vec_done(&p->paths);
	free(p->meetings);
	free(p->first_meeting);
	free(p->recent_cells);
	p->recent_cells = NULL;
	places_forget_recent(p);
	marks_done(p);
	weights_done(p);
	reads_done(p);
	history_done(p);
	blocks_done(p);
	vec_done(&p->first_branches);
	merge_done(p);
	vec_done(&p->place_class);
	vec_done(&p->tree);
	strpool_done(&p->strings);
	profile_options_done(&p->opts);
	free(p);
}

static void profile_sum_facts(struct profile *p)
{
	struct sonde_profile_facts *f = &p->facts;

	for (uint32_t i = 0; i < p->cells.n; i++) {
		const struct cell_counts *c = &p->counts.v[i];
		const uint32_t place = cell_place(p, i);

		if (f->first_ns == SONDE_NO_TIME || c->first_ns < f->first_ns)
			f->first_ns = c->first_ns;
		if (c->last_ns != SONDE_NO_TIME &&
		    (f->last_ns == SONDE_NO_TIME || c->last_ns > f->last_ns))
			f->last_ns = c->last_ns;
		if (place == PROFILE_ROOT || place_at(p, place)->sym)
			continue;
		f->unresolved_samples += c->samples;
		f->unresolved_by_reason[place_at(p, place)->unknown & 15] += c->samples;
	}
}

int profile_finish(struct profile *p)
{
	if (p->is_finished)
		return err_set(-EINVAL, "the profile is finished");
	if (!p->is_bound)
		TRY(columns_bind(p, NULL));
	profile_sum_facts(p);
	TRY(ranks_make(p));
	TRY(rows_make(p));
	branches_count_rows(p);
	p->is_finished = true;
	p->session = NULL;
	free(p->recent_cells);
	p->recent_cells = NULL;
	places_forget_recent(p);
	return sort_rows(p, "", 0);
}
