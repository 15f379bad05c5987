/* SPDX-License-Identifier: MIT */
#include "order/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "order/runs.h"

static bool merge_place_before(const struct cut *a, const struct cut *b)
{
	return a->file != b->file ? a->file < b->file : a->file_off < b->file_off;
}

static bool merge_before(const struct cursor *a, const struct cursor *b)
{
	const struct cut *ca = cursor_head(a), *cb = cursor_head(b);

	return ca->time_ns != cb->time_ns ? ca->time_ns < cb->time_ns : merge_place_before(ca, cb);
}

static void merge_sift_down(struct order *o, size_t i)
{
	struct cursor **heap = o->heap.v, *c = heap[i];
	size_t n = o->heap.n;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= n)
			break;
		if (child + 1 < n && merge_before(heap[child + 1], heap[child]))
			child++;
		if (!merge_before(heap[child], c))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = c;
}

static void merge_sift_up(struct order *o, size_t i)
{
	struct cursor **heap = o->heap.v, *c = heap[i];

	while (i && merge_before(c, heap[(i - 1) / 2])) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = c;
}

static size_t merge_run_window_bytes(const struct order *o)
{
	size_t n = o->heap.n > o->to_open ? o->heap.n : o->to_open,
	       share = MERGE_BUDGET / o->opts.sharers / (n ? n : 1);

	if (share < SMALLEST_WINDOW)
		share = SMALLEST_WINDOW;
	return share < o->opts.window_bytes ? share : o->opts.window_bytes;
}

static void merge_free_cursor(struct order *o, struct cursor *c)
{
	cursor_release(c);
	c->nr = c->at = 0;
	c->next_free = o->free_cursors;
	o->free_cursors = c;
}

static int merge_open_run(struct order *o, const struct run *run)
{
	struct cursor *c = o->free_cursors;
	bool blocked;
	int r;

	if (c)
		o->free_cursors = c->next_free;
	else if (!(c = calloc(1, sizeof(*c))))
		return err_nomem();
	c->run = *run;
	c->own.len = 0;
	c->nr = c->at = c->nr_cut = 0;
	if (run->is_file) {
		if (vec_push(&o->unplaced, c) >= 0)
			return 0;
		merge_free_cursor(o, c);
		return err_nomem();
	}
	r = cursor_fill(c, &o->in, merge_run_window_bytes(o), true, &blocked);
	if (r <= 0) {
		merge_free_cursor(o, c);
		return r;
	}
	if (vec_push(&o->heap, c) < 0) {
		merge_free_cursor(o, c);
		return err_nomem();
	}
	merge_sift_up(o, o->heap.n - 1);
	return 0;
}

int merge_begin(struct order *o, uint64_t limit)
{
	size_t kept = 0;

	if (o->indexing)
		TRY(runs_flush(o));
	o->indexing = false;
	o->run_open = false;
	o->limit = limit;
	o->to_open = o->heap.n;
	vec_foreach(run, &o->runs)
		o->to_open += run->first_time_ns <= limit;
	for (size_t i = 0; i < o->runs.n; i++) {
		if (o->runs.v[i].first_time_ns <= limit)
			TRY(merge_open_run(o, &o->runs.v[i]));
		else
			o->runs.v[kept++] = o->runs.v[i];
	}
	o->runs.n = kept;
	if (o->heap.n > o->stats.most_runs_at_once)
		o->stats.most_runs_at_once = o->heap.n;
	o->phase = MERGING;
	return 0;
}

static void merge_leave_heap(struct order *o)
{
	o->heap.v[0] = o->heap.v[--o->heap.n];
	if (o->heap.n)
		merge_sift_down(o, 0);
}

/*
 * Gets more cuts for the first cursor, which has none, or takes it off the heap. Sets *ret_blocked
 * if out[] must be delivered before it can read.
 */
static int merge_refill_first(struct order *o, bool *ret_blocked)
{
	struct cursor *c = o->heap.v[0];
	int r;

	*ret_blocked = false;
	if (c->run.is_file) {
		o->delivered = c->cuts[c->at - 1].time_ns;
		TRY(vec_push(&o->unplaced, c));
		merge_leave_heap(o);
		return 0;
	}
	r = cursor_fill(c, &o->in, merge_run_window_bytes(o), !o->nr_out, ret_blocked);
	if (r < 0 || *ret_blocked)
		return r;
	if (!r) {
		merge_free_cursor(o, c);
		merge_leave_heap(o);
	} else {
		merge_sift_down(o, 0);
	}
	return 0;
}

static void merge_count_late(struct order *o, const struct cut *cut)
{
	defects_add(o->opts.defects, DEFECT_LATE, 1, "at 0x%llx%s%s",
		    (unsigned long long)cut->file_off, o->files.n > 1 ? " of " : "",
		    o->files.n > 1 ? o->files.v[cut->file].path : "");
}

void merge_deliver_at_once(struct order *o, struct window *w, const struct cut *cut)
{
	struct cut *out = order_put(o, w);

	o->nr_out++;
	*out = *cut;
	if (cut->order == CUT_ORDERED) {
		out->flags |= CUT_LATE;
		if (!(cut->flags & CUT_NO_EVENT))
			merge_count_late(o, cut);
	}
}

/* Removes the first cursor that is not silent. */
static void merge_leave_unplaced(struct order *o)
{
	struct cursor **c = o->unplaced.v + o->nr_silent;

	o->unplaced.n--;
	memmove(c, c + 1, (o->unplaced.n - o->nr_silent) * sizeof(*c));
}

/*
 * Puts the cursor of a monotonic file into the heap, with its next stretch of ascending cuts. Cuts
 * before that stretch are delivered at once. Returns 0 if out[] is full or *ret_blocked, else 1.
 */
static int merge_place_file(struct order *o, struct cursor *c, bool *ret_blocked)
{
	for (;;) {
		const struct cut *cut;

		if (c->nr == c->nr_cut) {
			int r = cursor_fill(c, &o->in, merge_run_window_bytes(o), !o->nr_out,
					    ret_blocked);

			c->nr_cut = c->nr;
			c->nr = c->at;
			if (r < 0 || *ret_blocked)
				return r;
			if (!r) {
				merge_leave_unplaced(o);
				merge_free_cursor(o, c);
				return 1;
			}
		}
		cut = &c->cuts[c->at];
		if (cut->order == CUT_ORDERED && cut->time_ns >= o->delivered) {
			c->nr += count_ascending(cut, &c->cuts[c->nr_cut], cut->time_ns);
			TRY(vec_push(&o->heap, c));
			merge_leave_unplaced(o);
			if (c->cuts[c->nr - 1].time_ns > o->newest)
				o->newest = c->cuts[c->nr - 1].time_ns;
			merge_sift_up(o, o->heap.n - 1);
			return 1;
		}
		if (o->nr_out == ORDER_CUTS)
			return 0;
		merge_deliver_at_once(o, cursor_window(c), cut);
		c->nr = ++c->at;
	}
}

/*
 * Returns 1 if all monotonic files but the silent ones have their next record in the heap, 0 if
 * out[] must be delivered first.
 */
static int merge_place_files(struct order *o)
{
	while (o->unplaced.n > o->nr_silent) {
		bool blocked = false;
		int r = merge_place_file(o, o->unplaced.v[o->nr_silent], &blocked);

		if (r < 0)
			return r;
		if (blocked && !o->nr_out)
			o->nr_silent++; /* only growing streams are blocked then */
		else if (!r)
			return 0;
	}
	return 1;
}

/*
 * Ends a pass over the streams, because some are silent and nothing can be delivered. As with
 * rounds, this releases times up to the newest seen before the previous pass, unless a silent
 * stream has an older record when it is asked again.
 */
static int merge_end_pass(struct order *o)
{
	struct stream **silent;
	int r;

	o->silent_limit = o->newest_before_pass;
	o->newest_before_pass = o->newest;
	if (o->heap.n && cursor_head(o->heap.v[0])->time_ns <= o->silent_limit)
		return 0;
	silent = calloc(o->nr_silent, sizeof(struct stream *));
	if (!silent)
		return err_nomem();
	for (size_t i = 0; i < o->nr_silent; i++)
		silent[i] = o->files.v[o->unplaced.v[i]->run.file].stream;
	cursor_before_read(&o->in);
	r = streams_wait(silent, o->nr_silent, o->heap.n ? GRACE_MS : STREAM_LOOK_MS);
	free(silent);
	return r < 0 ? r : 0;
}

/* Notes the newest delivered time. Records that were delivered at once do not count. */
static void merge_note_delivered(struct order *o)
{
	for (int i = o->nr_out - 1; i >= 0; i--) {
		const struct cut *cut = &o->out[i];

		if (cut->order == CUT_ORDERED && !(cut->flags & CUT_LATE)) {
			o->delivered = cut->time_ns;
			return;
		}
	}
}

/* Copies the cursor's next cut and the following ones up to the bound, while out[] has room. */
static inline void merge_copy_cuts(struct order *o, struct cursor *c, uint64_t bound)
{
	const struct cut *from = &c->cuts[c->at], *end = &c->cuts[c->nr];
	struct cut *to = order_put(o, cursor_window(c));

	if (end - from > ORDER_CUTS - o->nr_out)
		end = from + (ORDER_CUTS - o->nr_out);
	do
		*to++ = *from++;
	while (from < end && from->time_ns <= bound);
	c->at = (size_t)(from - c->cuts);
	o->nr_out = (int)(to - o->out);
}

/* Returns b if is_b, else a, without a branch. */
static inline const struct cut *merge_pick(const struct cut *a, const struct cut *b, bool is_b)
{
	const uintptr_t gap = (uintptr_t)b - (uintptr_t)a;

	return (const struct cut *)((uintptr_t)a + (gap & -(uintptr_t)is_b));
}

/*
 * Merges two runs that are not spilled: the common case, a recording of two cpus. At equal times,
 * the run whose place in the files is earlier is first. Stops at the end of one run's cuts, at the
 * limit, or when out[] is full. The next run changes every few cuts, so a branch on it would be
 * mispredicted.
 */
static void merge_two(struct order *o, uint64_t limit)
{
	struct cursor **heap = o->heap.v;
	const bool in_place = merge_place_before(cursor_head(heap[0]), cursor_head(heap[1]));
	struct cursor *a = heap[in_place ? 0 : 1], *b = heap[in_place ? 1 : 0];
	const struct cut *at_a = cursor_head(a), *const end_a = &a->cuts[a->nr];
	const struct cut *at_b = cursor_head(b), *const end_b = &b->cuts[b->nr];
	struct cut *to = order_put(o, cursor_window(a)), *const full = &o->out[ORDER_CUTS];
	bool is_a_first;

	order_put(o, cursor_window(b));
	while (to < full && at_a < end_a && at_b < end_b) {
		const bool is_b = at_b->time_ns < at_a->time_ns;
		const struct cut *from = merge_pick(at_a, at_b, is_b);

		if (from->time_ns > limit)
			break;
		*to++ = *from;
		at_a += !is_b;
		at_b += is_b;
	}
	a->at = (size_t)(at_a - a->cuts);
	b->at = (size_t)(at_b - b->cuts);
	o->nr_out = (int)(to - o->out);
	/* A run without cuts must be first, so that it is refilled next. */
	is_a_first = at_a == end_a || (at_b < end_b && at_a->time_ns <= at_b->time_ns);
	heap[0] = is_a_first ? a : b;
	heap[1] = is_a_first ? b : a;
}

/* The time up to which the first cursor's cuts precede those of all others, at most the limit. */
static inline uint64_t merge_bound(const struct order *o, const struct cursor *first,
				   uint64_t limit)
{
	struct cursor *const *heap = o->heap.v;
	const struct cursor *rival;
	uint64_t t;

	if (o->heap.n < 2)
		return limit;
	rival = o->heap.n > 2 && merge_before(heap[2], heap[1]) ? heap[2] : heap[1];
	t = cursor_head(rival)->time_ns;
	/* At equal times the earlier place is first. The places of spilled runs are mixed. */
	if (first->run.spilled || rival->run.spilled ||
	    merge_place_before(cursor_head(rival), cursor_head(first)))
		t -= t > 0;
	return t < limit ? t : limit;
}

static void merge_end(struct order *o)
{
	o->phase = o->walked ? ENDED : WALKING;
	if (!o->walked)
		order_note_passed_to(o, o->limit);
}

int merge_next(struct order *o)
{
	uint64_t limit = o->limit;

	o->nr_silent = 0;
	for (;;) {
		struct cursor *c;

		if (__builtin_expect(o->unplaced.n > o->nr_silent, 0)) {
			int r = merge_place_files(o);

			TRY(r);
			if (!r)
				break;
			limit = o->nr_silent ? o->silent_limit : o->limit;
		}
		if (!o->heap.n || o->nr_out == ORDER_CUTS)
			break;
		c = o->heap.v[0];
		if (c->at == c->nr) {
			bool blocked;

			TRY(merge_refill_first(o, &blocked));
			if (blocked)
				break;
			continue;
		}
		if (cursor_head(c)->time_ns > limit)
			break;
		if (o->heap.n == 2 && !c->run.spilled && !o->heap.v[1]->run.spilled) {
			merge_two(o, limit);
			continue;
		}
		merge_copy_cuts(o, c, merge_bound(o, c, limit));
		if (c->at < c->nr)
			merge_sift_down(o, 0);
	}
	merge_note_delivered(o);
	if (!o->nr_out && o->nr_silent)
		return merge_end_pass(o);
	if (!o->nr_out)
		merge_end(o);
	return 0;
}
