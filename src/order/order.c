/* SPDX-License-Identifier: MIT */
#include "order/order.h"

#include <stdlib.h>

#include "base/err.h"
#include "order/merge.h"
#include "order/walk.h"

/* Makes a file that is not walked one run. */
static int order_add_file(struct order *o, unsigned i, const struct source_file *f)
{
	o->stats.runs++;
	return vec_push(&o->runs, (struct run){
					  .begin = f->begin,
					  .first = f->begin,
					  .end = f->end,
					  .file = (uint16_t)i,
					  .is_file = true,
				  });
}

int order_open(struct order **ret, struct source *source, const struct order_options *opts)
{
	struct order *o = calloc(1, sizeof(*o));
	struct source_file f;

	if (!o)
		return err_nomem();
	o->opts = *opts;
	if (!o->opts.max_runs)
		o->opts.max_runs = DEFAULT_MAX_RUNS;
	if (!o->opts.sharers)
		o->opts.sharers = 1;
	if (o->opts.window_bytes / o->opts.sharers < SMALLEST_SHARE)
		o->opts.window_bytes = o->opts.window_bytes < SMALLEST_SHARE ? o->opts.window_bytes
									     : SMALLEST_SHARE;
	else
		o->opts.window_bytes /= o->opts.sharers;
	spill_init(&o->spill, opts->piece_entries);
	window_cache_init(&o->cache, o->opts.window_bytes, o->opts.sharers);
	for (unsigned i = 0; source->ops->file(source, i, &f); i++) {
		if (vec_push(&o->files, f) < 0 ||
		    (f.is_monotonic && order_add_file(o, i, &f) < 0)) {
			order_close(o);
			return err_nomem();
		}
	}
	o->in = (struct cursor_input){
		.source = source,
		.files = o->files.v,
		.spill = &o->spill,
		.cache = &o->cache,
		.time = opts->time,
		.refused = &o->refused,
		.defects = opts->defects,
	};
	walk_from(o, 0);
	*ret = o;
	return 0;
}

void order_end(struct order *o)
{
	vec_foreach(c, &o->heap)
		cursor_free(*c);
	vec_foreach(c, &o->unplaced)
		cursor_free(*c);
	while (o->free_cursors) {
		struct cursor *c = o->free_cursors;

		o->free_cursors = c->next_free;
		cursor_free(c);
	}
	vec_done(&o->heap);
	vec_done(&o->unplaced);
	vec_done(&o->runs);
	o->window = NULL;
	window_cache_done(&o->cache);
	spill_done(&o->spill);
	o->phase = ENDED;
}

void order_close(struct order *o)
{
	if (!o)
		return;
	order_end(o);
	vec_done(&o->files);
	free(o);
}

/* With windows of time, order_note_passed_to() could take the time of a refused record. */
int order_pass_over(struct order *o)
{
	int r;

	vec_foreach(f, &o->files) {
		if (f->is_monotonic || f->stream)
			return 0;
	}
	if (o->opts.time)
		return 0;
	r = source_mark_unwanted(o->in.source);
	o->passes_over = r > 0;
	return r;
}

void order_stats(const struct order *o, struct order_stats *ret)
{
	*ret = o->stats;
	ret->refused = o->refused.nr;
	ret->bytes_delivered = o->bytes_delivered;
	ret->refused_first_ns = o->refused.first_ns;
	ret->refused_last_ns = o->refused.last_ns;
	ret->passed = o->passed.nr;
	ret->passed_first_ns = o->passed.first_ns;
}

bool order_has_refused(const struct order *o)
{
	return o->refused.nr > 0;
}

void order_read_ahead(struct order *o, const struct order_ahead *how)
{
	o->in.ahead = how;
	o->cache.given_back = how ? how->given_back : NULL;
}

int order_fill(struct order *o, struct cut room[ORDER_CUTS], uint64_t number)
{
	o->nr_out = 0;
	o->out = room;
	o->batch = number;
	while (!o->nr_out && o->phase != ENDED)
		TRY(o->phase == MERGING ? merge_next(o) : walk_next(o));
	for (int i = 0; i < o->nr_out; i++)
		o->bytes_delivered += o->out[i].len;
	return o->nr_out;
}

int order_next(struct order *o, const struct cut **ret)
{
	*ret = o->own_out;
	return order_fill(o, o->own_out, o->batch + 1);
}

void order_progress(const struct order *o, uint64_t *done, uint64_t *total)
{
	uint64_t walked = 0, all = 0;

	for (unsigned i = 0; i < o->files.n; i++) {
		const struct source_file *f = &o->files.v[i];

		if (f->stream)
			all = UINT64_MAX;
		else if (all != UINT64_MAX)
			all += (f->is_monotonic ? 1 : 2) * (f->end - f->begin);
		if (f->is_monotonic)
			continue;
		if (o->walked || i < o->file)
			walked += f->stream ? 0 : f->end - f->begin;
		else if (i == o->file)
			walked += o->walk_off - f->begin;
	}
	*done = walked + o->bytes_delivered + o->refused.bytes + o->passed.bytes;
	*total = all == UINT64_MAX ? 0 : all;
}
