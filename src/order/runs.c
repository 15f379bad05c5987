/* SPDX-License-Identifier: MIT */
#include "order/runs.h"

#include <stdlib.h>

#include "base/err.h"

int runs_flush(struct order *o)
{
	struct run run = { .spilled = true };

	if (!o->spill.nr)
		return 0;
	o->stats.spilled_records += o->spill.nr;
	TRY(spill_write(&o->spill, &run.begin, &run.end));
	{
		struct spill_entry first, last;

		TRY(spill_read(&o->spill, run.begin, &first, 1));
		TRY(spill_read(&o->spill, run.end - 1, &last, 1));
		run.first_time_ns = first.time_ns;
		run.last_time_ns = last.time_ns;
	}
	o->stats.runs++;
	o->run_open = false;
	return vec_push(&o->runs, run);
}

static int runs_index_record(struct order *o, const struct cut *cut)
{
	struct spill_entry e = {
		.time_ns = cut->time_ns,
		.file_off = cut->file_off,
		.len = cut->len,
		.file = cut->file,
	};

	if (cut->unit)
		TRY(spill_unit(&o->spill, cut->unit, &e.unit));
	if (spill_full(&o->spill))
		TRY(runs_flush(o));
	return spill_add(&o->spill, &e);
}

/* Turns the runs found so far into index entries, except spilled runs and monotonic files. */
static int runs_index(struct order *o)
{
	size_t n = o->runs.n, kept = 0;
	struct cursor *c = calloc(1, sizeof(*c));
	int r = c ? 0 : err_nomem();

	o->run_open = false;
	for (size_t i = 0; i < n && r >= 0; i++) {
		bool blocked;

		if (o->runs.v[i].spilled || o->runs.v[i].is_file) {
			o->runs.v[kept++] = o->runs.v[i];
			continue;
		}
		c->run = o->runs.v[i];
		while ((r = cursor_fill(c, &o->in, SMALLEST_WINDOW, true, &blocked)) > 0) {
			for (; c->at < c->nr && r >= 0; c->at++)
				r = runs_index_record(o, cursor_head(c));
			if (r < 0)
				break;
		}
	}
	/* Pieces written in the loop were appended from index n on. */
	if (r >= 0) {
		for (size_t i = n; i < o->runs.n; i++)
			o->runs.v[kept++] = o->runs.v[i];
		o->runs.n = kept;
	}
	cursor_free(c);
	o->indexing = true;
	return r < 0 ? r : 0;
}

int runs_note(struct order *o, const struct cut *cut)
{
	struct run *run = o->run_open ? &o->runs.v[o->runs.n - 1] : NULL;

	if (cut->time_ns > o->newest)
		o->newest = cut->time_ns;
	if (o->indexing)
		return runs_index_record(o, cut);
	if (run && cut->time_ns >= run->last_time_ns && cut->file == run->file) {
		run->last_time_ns = cut->time_ns;
		run->end = cut->file_off + cut->len;
		return 0;
	}
	if (o->runs.n >= o->opts.max_runs) {
		TRY(runs_index(o));
		return runs_index_record(o, cut);
	}
	TRY(vec_push(&o->runs, (struct run){
				       .first_time_ns = cut->time_ns,
				       .last_time_ns = cut->time_ns,
				       .begin = cut->unit ? o->batch_off : cut->file_off,
				       .first = cut->file_off,
				       .unit = o->batch_unit,
				       .end = cut->file_off + cut->len,
				       .file = cut->file,
			       }));
	o->stats.runs++;
	o->run_open = true;
	return 0;
}
