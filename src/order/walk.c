/* SPDX-License-Identifier: MIT */
#include "order/walk.h"

#include <string.h>

#include "base/err.h"
#include "order/merge.h"
#include "order/runs.h"

void walk_from(struct order *o, unsigned i)
{
	while (i < o->files.n && o->files.v[i].is_monotonic)
		i++;
	o->file = i;
	o->unit = (struct unit){ 0 };
	if (i < o->files.n)
		o->walk_off = o->files.v[i].begin;
}

static void walk_next_file(struct order *o)
{
	o->run_open = false;
	window_release(o->window);
	o->window = NULL;
	o->cut_at = o->nr_cuts = 0;
	walk_from(o, o->file + 1);
}

/* The first byte of the file being walked that the walk or the merge may still need. */
static uint64_t walk_needed_from(struct order *o)
{
	uint64_t from = o->walk_off;

	if (o->indexing || o->spill.nr || o->spill.entries_written)
		return 0; /* spilled records may be anywhere */
	vec_foreach(run, &o->runs) {
		if (run->file == o->file && run->begin < from)
			from = run->begin;
	}
	vec_foreach(c, &o->heap) {
		if ((*c)->run.file == o->file && (*c)->run.begin < from)
			from = (*c)->run.begin;
	}
	return from;
}

/* True if the walk can cut more records without reading. */
static bool walk_window_has_more(const struct order *o)
{
	const struct window *w = o->window;

	return w && w->nr_cuts + WALK_CUTS <= WINDOW_CUTS && o->walk_off >= w->file_off &&
	       o->walk_off < w->file_off + w->len;
}

/* Cuts the next records of the window. Returns how many; if none, *ret_need bytes are needed. */
static int walk_cut_window(struct order *o, size_t *ret_need)
{
	struct window *w = o->window;
	uint64_t used;
	int n;

	o->batch_off = o->walk_off;
	o->batch_unit = o->unit;
	n = window_cut(w, o->in.source, o->file, &o->unit, o->walk_off, w->cuts + w->nr_cuts,
		       WALK_CUTS, &used, ret_need);
	o->walk_off += used;
	w->end_unit = o->unit;
	if (!n && used)
		w->cut_end = o->walk_off;
	o->cut_at = w->nr_cuts;
	o->nr_cuts = w->nr_cuts + (n > 0 ? (size_t)n : 0);
	return n;
}

/* Reads a window from walk_off on. 1 on success, 0 if the file ends before `need` bytes. */
static int walk_read_window(struct order *o, size_t need)
{
	const struct source_file *f = &o->files.v[o->file];
	struct window *w;
	uint64_t needed;
	int64_t got;

	window_release(o->window);
	o->window = NULL;
	if (o->in.ahead && atomic_load_explicit(o->in.ahead->quit, memory_order_relaxed))
		return -ECANCELED;
	needed = walk_needed_from(o);
	o->window = w = window_cache_take(&o->cache, (uint16_t)o->file, needed);
	if (!w)
		return err_nomem();
	o->cut_at = o->nr_cuts = 0;
	if (f->stream)
		stream_let_go(f->stream, needed);
	cursor_before_read(&o->in);
	got = window_read(w, f, o->walk_off, f->end,
			  need > o->opts.window_bytes ? need : o->opts.window_bytes, need);
	if (o->in.ahead)
		o->in.ahead->progress(o->in.ahead->ctx);
	else if (o->opts.progress)
		o->opts.progress(o->opts.progress_ctx);
	w->file = (uint16_t)o->file;
	w->cut_end = w->file_off;
	if (got < 0)
		return (int)got;
	if (got && (size_t)got >= need)
		return 1;
	if (f->stream ? got : o->walk_off != f->end)
		cursor_report_rest(o->opts.defects, f, o->walk_off, w->data, (size_t)got);
	return 0;
}

/*
 * Gets more cuts for the walk, or sets o->walked at the end of the last file. Sets *ret_blocked if
 * it has to read while out[] still refers to the window.
 */
static int walk_fill(struct order *o, bool *ret_blocked)
{
	*ret_blocked = false;
	while (o->file < o->files.n) {
		size_t need = 0;
		int r;

		if (walk_window_has_more(o)) {
			const uint64_t from = o->walk_off;
			int n = walk_cut_window(o, &need);

			if (n > 0)
				return cursor_take_headers(&o->in, &o->window->cuts[o->cut_at], n);
			if (n == -ENOMEM)
				return n;
			if (n < 0) /* damaged: the source has counted it */
				walk_next_file(o);
			if (n < 0 || o->walk_off != from)
				continue;
		}
		if (o->nr_out) {
			*ret_blocked = true;
			return 0;
		}
		r = walk_read_window(o, need);
		if (r < 0)
			return r;
		if (!r)
			walk_next_file(o);
	}
	o->walked = true;
	return 0;
}

/* The run that the next cut continues if its time is not older; NULL if none. */
static struct run *walk_growing_run(const struct order *o)
{
	struct run *run;

	if (!o->run_open || o->indexing || o->opts.time)
		return NULL;
	run = &o->runs.v[o->runs.n - 1];
	return run->file == o->window->cuts[o->cut_at].file ? run : NULL;
}

/*
 * The common case, many times in a row: cuts that extend the open run. Excludes the last cut of the
 * batch, because bytes that are no record may follow it. An open run began after the last delivery,
 * so its cuts are not late.
 */
static void walk_grow_run(struct order *o)
{
	struct window *w = o->window;
	struct run *run = walk_growing_run(o);
	const struct cut *first = &w->cuts[o->cut_at], *newest;
	struct cut *kept = &w->cuts[w->nr_cuts];
	size_t n = run ? count_ascending(first, &w->cuts[o->nr_cuts - 1], run->last_time_ns) : 0;

	if (!n)
		return;
	if (kept != first)
		memmove(kept, first, n * sizeof(*kept));
	w->nr_cuts += n;
	o->cut_at += n;
	newest = &kept[n - 1];
	run->last_time_ns = newest->time_ns;
	run->end = w->cut_end = newest->file_off + newest->len;
	if (newest->time_ns > o->newest)
		o->newest = newest->time_ns;
}

static bool walk_is_passed_over(const struct order *o, const struct cut *cut)
{
	return cut->flags & CUT_UNWANTED && cut->order == CUT_ORDERED &&
	       cut->time_ns >= o->delivered;
}

/* Its time still counts for the limit of the rounds. */
static void walk_pass_over_cut(struct order *o, const struct cut *cut)
{
	if (!o->passed.nr++ || cut->time_ns < o->passed.first_ns)
		o->passed.first_ns = cut->time_ns;
	o->passed.bytes += cut->len;
	if (cut->time_ns > o->newest)
		o->newest = cut->time_ns;
}

/*
 * As walk_grow_run(), where some cuts are unwanted: passes over those, keeps the others if they
 * extend the open run.
 */
static void walk_pass_over(struct order *o)
{
	struct window *w = o->window;
	struct run *run = walk_growing_run(o);
	const struct cut *const first = &w->cuts[o->cut_at], *const last = &w->cuts[o->nr_cuts - 1];
	struct cut *const begin = &w->cuts[w->nr_cuts], *kept = begin;
	uint64_t run_time = run ? run->last_time_ns : UINT64_MAX, newest = o->newest, bytes = 0,
		 first_ns = o->passed.nr ? o->passed.first_ns : UINT64_MAX;
	const struct cut *cut = first;

	for (; cut < last; cut++) {
		if (walk_is_passed_over(o, cut)) {
			bytes += cut->len;
			newest = cut->time_ns > newest ? cut->time_ns : newest;
			first_ns = cut->time_ns < first_ns ? cut->time_ns : first_ns;
			continue;
		}
		if (cut->order != CUT_ORDERED || cut->time_ns < run_time)
			break;
		run_time = cut->time_ns;
		*kept++ = *cut;
	}
	if (cut == first)
		return;
	o->passed.nr += (uint64_t)((cut - first) - (kept - begin));
	o->passed.bytes += bytes;
	o->passed.first_ns = first_ns;
	o->cut_at += (size_t)(cut - first);
	w->nr_cuts += (size_t)(kept - begin);
	w->cut_end = cut[-1].file_off + cut[-1].len;
	if (kept > begin) {
		run->last_time_ns = run_time;
		run->end = kept[-1].file_off + kept[-1].len;
		newest = run_time > newest ? run_time : newest;
	}
	o->newest = newest;
}

static bool walk_is_refused(const struct order *o, const struct cut *cut)
{
	return o->opts.time && (cut->flags & CUT_STATELESS) && cut->order == CUT_ORDERED &&
	       !time_windows_hold(o->opts.time, cut->time_ns);
}

/* The time of a refused cut still counts for the limit of the rounds. */
static void walk_refuse_cut(struct order *o, const struct cut *cut)
{
	if (cut->time_ns > o->newest)
		o->newest = cut->time_ns;
	refused_cuts_add(&o->refused, cut);
}

/* The cut stays in the window until the merge delivers it. */
static int walk_keep_cut(struct order *o, const struct cut *cut)
{
	struct window *w = o->window;

	TRY(runs_note(o, cut));
	if (w->nr_cuts != o->cut_at)
		w->cuts[w->nr_cuts] = *cut;
	w->nr_cuts++;
	return 0;
}

/* Returns 1, or 0 if a merge begins. */
static int walk_end_round(struct order *o)
{
	const uint64_t limit = o->newest_before_last_round;

	o->newest_before_last_round = o->newest;
	if (limit && (o->runs.n || o->heap.n || o->spill.nr))
		return merge_begin(o, limit);
	/* Nothing is pending: the round's buffers were empty, or all was passed over. */
	order_note_passed_to(o, limit);
	return 1;
}

/* Delivers a cut that has no time or is late. Returns 1, or 0 if a merge begins. */
static int walk_deliver_cut(struct order *o, const struct cut *cut)
{
	merge_deliver_at_once(o, o->window, cut);
	if (cut->order == CUT_ORDERED)
		o->run_open = false;
	return cut->order == CUT_ROUND && o->files.n == 1 ? walk_end_round(o) : 1;
}

/* Handles the next cut. Returns 0 if the walk pauses (out[] is full or a merge begins), else 1. */
static int walk_cut(struct order *o)
{
	const struct cut *cut = &o->window->cuts[o->cut_at];
	/* bytes that are no record may follow the last cut of a batch */
	const uint64_t end = o->cut_at + 1 == o->nr_cuts ? o->walk_off : cut->file_off + cut->len;

	if (walk_is_passed_over(o, cut) || walk_is_refused(o, cut)) {
		if (walk_is_passed_over(o, cut))
			walk_pass_over_cut(o, cut);
		else
			walk_refuse_cut(o, cut);
		o->window->cut_end = end;
		o->cut_at++;
		return 1;
	}
	if (cut->order == CUT_ORDERED && cut->time_ns >= o->delivered) {
		o->window->cut_end = end;
		TRY(walk_keep_cut(o, cut));
		o->cut_at++;
		return 1;
	}
	if (o->nr_out == ORDER_CUTS)
		return 0;
	o->window->cut_end = end;
	o->cut_at++;
	return walk_deliver_cut(o, cut);
}

int walk_next(struct order *o)
{
	for (;;) {
		bool blocked;
		int r;

		while (o->cut_at < o->nr_cuts) {
			if (__builtin_expect(o->passes_over, 0))
				walk_pass_over(o);
			else
				walk_grow_run(o);
			r = walk_cut(o);
			if (r <= 0)
				return r;
		}
		TRY(walk_fill(o, &blocked));
		if (blocked)
			return 0;
		if (o->walked)
			return merge_begin(o, UINT64_MAX);
	}
}
