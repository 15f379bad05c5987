/* SPDX-License-Identifier: MIT */
#include "order/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "order/cursor.h"

enum {
	OUT_CUTS = 256,
	WALK_CUTS = 256, /* cut at a time */
	DEFAULT_MAX_RUNS = 1024,
	SMALLEST_WINDOW = 16 * 1024,
	SMALLEST_SHARE = 64 * 1024,
	MERGE_BUDGET = 24 * 1024 * 1024, /* bytes of windows, shared by the runs being merged */
	GRACE_MS = 1 /* that a silent stream is waited for while others have records */
};

enum phase { WALKING, MERGING, ENDED };

struct order {
	struct cursor_input in;
	VEC(struct source_file) files;
	struct spill spill;
	struct order_options opts;

	/* The walk. */
	enum phase phase;
	unsigned file;      /* being walked */
	uint64_t walk_off;  /* of the next record to cut */
	struct unit unit;   /* it is in */
	uint64_t batch_off; /* where the last cuts began, and in which unit */
	struct unit batch_unit;
	struct window_cache cache;
	struct window *window; /* being walked, one of the cache's; NULL none */
	/* window->cuts[cut_at..nr_cuts) were cut, and the walk has not handled them yet. */
	size_t cut_at, nr_cuts;
	bool walked;   /* all files to their ends */
	bool run_open; /* runs.v[n - 1] may still grow */
	bool indexing; /* too many runs: records go to the spill */
	uint64_t newest, newest_before_last_round, delivered;
	uint64_t limit; /* of the merge: times up to here are released */

	/* The merge. */
	VEC(struct run) runs;      /* found, not opened */
	size_t to_open;            /* heap.n when all runs of this merge are open */
	VEC(struct cursor *) heap; /* opened, smallest (time, place) first */
	/* Of monotonic files: their next record may act at once, or is still to be read. */
	VEC(struct cursor *) unplaced;
	/* The first of those are of growing streams that had nothing when they were asked last. */
	size_t nr_silent;
	/* While there are silent ones, times up to here are released. */
	uint64_t silent_limit, newest_before_pass;
	struct cursor *free_cursors; /* owned */

	struct cut out[OUT_CUTS];
	int nr_out;
	uint64_t bytes_delivered;
	struct refused_cuts refused;
	struct order_stats stats;
};

/* A file that nobody walks is a run from the beginning. */
static int add_file(struct order *o, unsigned i, const struct source_file *f)
{
	o->stats.runs++;
	return vec_push(&o->runs, (struct run){ .begin = f->begin,
						.first = f->begin,
						.end = f->end,
						.file = (uint16_t)i,
						.is_file = true });
}

/* The walk goes on with file i, or the next one that is to be walked. */
static void walk_from(struct order *o, unsigned i)
{
	while (i < o->files.n && o->files.v[i].is_monotonic)
		i++;
	o->file = i;
	o->unit = (struct unit){ 0 };
	if (i < o->files.n)
		o->walk_off = o->files.v[i].begin;
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
		if (vec_push(&o->files, f) < 0 || (f.is_monotonic && add_file(o, i, &f) < 0)) {
			order_close(o);
			return err_nomem();
		}
	}
	o->in = (struct cursor_input){ .source = source,
				       .files = o->files.v,
				       .spill = &o->spill,
				       .cache = &o->cache,
				       .time = opts->time,
				       .refused = &o->refused,
				       .defects = opts->defects };
	walk_from(o, 0);
	*ret = o;
	return 0;
}

void order_close(struct order *o)
{
	if (!o)
		return;
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
	vec_done(&o->files);
	window_cache_done(&o->cache);
	spill_done(&o->spill);
	free(o);
}

void order_stats(const struct order *o, struct order_stats *ret)
{
	*ret = o->stats;
	ret->refused = o->refused.nr;
	ret->refused_first_ns = o->refused.first_ns;
	ret->refused_last_ns = o->refused.last_ns;
}

bool order_has_refused(const struct order *o)
{
	return o->refused.nr > 0;
}

/* ---- runs ---- */

static int flush_piece(struct order *o)
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

static int index_record(struct order *o, const struct cut *cut)
{
	struct spill_entry e = { .time_ns = cut->time_ns,
				 .file_off = cut->file_off,
				 .len = cut->len,
				 .file = cut->file };

	if (cut->unit)
		TRY(spill_unit(&o->spill, cut->unit, &e.unit));
	if (spill_full(&o->spill))
		TRY(flush_piece(o));
	return spill_add(&o->spill, &e);
}

/* Turns the runs found so far into index entries; spilled ones and monotonic files stay. */
static int index_runs(struct order *o)
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
				r = index_record(o, cursor_head(c));
			if (r < 0)
				break;
		}
	}
	/* Pieces written meanwhile were appended behind the old n. */
	if (r >= 0) {
		for (size_t i = n; i < o->runs.n; i++)
			o->runs.v[kept++] = o->runs.v[i];
		o->runs.n = kept;
	}
	cursor_free(c);
	o->indexing = true;
	return r < 0 ? r : 0;
}

static int note_record(struct order *o, const struct cut *cut)
{
	struct run *run = o->run_open ? &o->runs.v[o->runs.n - 1] : NULL;

	if (cut->time_ns > o->newest)
		o->newest = cut->time_ns;
	if (o->indexing)
		return index_record(o, cut);
	if (run && cut->time_ns >= run->last_time_ns && cut->file == run->file) {
		run->last_time_ns = cut->time_ns;
		run->end = cut->file_off + cut->len;
		return 0;
	}
	if (o->runs.n >= o->opts.max_runs) {
		TRY(index_runs(o));
		return index_record(o, cut);
	}
	TRY(vec_push(&o->runs, (struct run){ .first_time_ns = cut->time_ns,
					     .last_time_ns = cut->time_ns,
					     .begin = cut->unit ? o->batch_off : cut->file_off,
					     .first = cut->file_off,
					     .unit = o->batch_unit,
					     .end = cut->file_off + cut->len,
					     .file = cut->file }));
	o->stats.runs++;
	o->run_open = true;
	return 0;
}

/* ---- the merge ---- */

static bool place_before(const struct cut *a, const struct cut *b)
{
	return a->file != b->file ? a->file < b->file : a->file_off < b->file_off;
}

static bool before(const struct cursor *a, const struct cursor *b)
{
	const struct cut *ca = cursor_head(a), *cb = cursor_head(b);

	return ca->time_ns != cb->time_ns ? ca->time_ns < cb->time_ns : place_before(ca, cb);
}

static void sift_down(struct order *o, size_t i)
{
	struct cursor **heap = o->heap.v, *c = heap[i];
	size_t n = o->heap.n;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= n)
			break;
		if (child + 1 < n && before(heap[child + 1], heap[child]))
			child++;
		if (!before(heap[child], c))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = c;
}

static void sift_up(struct order *o, size_t i)
{
	struct cursor **heap = o->heap.v, *c = heap[i];

	while (i && before(c, heap[(i - 1) / 2])) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = c;
}

static size_t run_window_bytes(const struct order *o)
{
	size_t n = o->heap.n > o->to_open ? o->heap.n : o->to_open,
	       share = MERGE_BUDGET / o->opts.sharers / (n ? n : 1);

	if (share < SMALLEST_WINDOW)
		share = SMALLEST_WINDOW;
	return share < o->opts.window_bytes ? share : o->opts.window_bytes;
}

static void free_cursor(struct order *o, struct cursor *c)
{
	cursor_release(c);
	c->nr = c->at = 0;
	c->next_free = o->free_cursors;
	o->free_cursors = c;
}

static int open_run(struct order *o, const struct run *run)
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
		free_cursor(o, c);
		return err_nomem();
	}
	r = cursor_fill(c, &o->in, run_window_bytes(o), true, &blocked);
	if (r <= 0) {
		free_cursor(o, c);
		return r;
	}
	if (vec_push(&o->heap, c) < 0) {
		free_cursor(o, c);
		return err_nomem();
	}
	sift_up(o, o->heap.n - 1);
	return 0;
}

/* Opens every run that has a record within the limit; the others wait for their round. */
static int begin_merge(struct order *o, uint64_t limit)
{
	size_t kept = 0;

	if (o->indexing)
		TRY(flush_piece(o));
	o->indexing = false;
	o->run_open = false;
	o->limit = limit;
	o->to_open = o->heap.n;
	vec_foreach(run, &o->runs)
		o->to_open += run->first_time_ns <= limit;
	for (size_t i = 0; i < o->runs.n; i++) {
		if (o->runs.v[i].first_time_ns <= limit)
			TRY(open_run(o, &o->runs.v[i]));
		else
			o->runs.v[kept++] = o->runs.v[i];
	}
	o->runs.n = kept;
	if (o->heap.n > o->stats.most_runs_at_once)
		o->stats.most_runs_at_once = o->heap.n;
	o->phase = MERGING;
	return 0;
}

static void leave_heap(struct order *o)
{
	o->heap.v[0] = o->heap.v[--o->heap.n];
	if (o->heap.n)
		sift_down(o, 0);
}

/*
 * The first cursor has no cuts left: gets more, or leaves the heap. Sets *ret_blocked when it must
 * read first.
 */
static int refill_first(struct order *o, bool *ret_blocked)
{
	struct cursor *c = o->heap.v[0];
	int r;

	*ret_blocked = false;
	if (c->run.is_file) {
		o->delivered = c->cuts[c->at - 1].time_ns;
		TRY(vec_push(&o->unplaced, c));
		leave_heap(o);
		return 0;
	}
	r = cursor_fill(c, &o->in, run_window_bytes(o), !o->nr_out, ret_blocked);
	if (r < 0 || *ret_blocked)
		return r;
	if (!r) {
		free_cursor(o, c);
		leave_heap(o);
	} else {
		sift_down(o, 0);
	}
	return 0;
}

/* How many cuts from the first on have times, each not older than the one before it. */
static inline size_t count_ascending(const struct cut *first, const struct cut *last,
				     uint64_t time_ns)
{
	const struct cut *cut = first;

	for (; cut < last && cut->order == CUT_ORDERED && cut->time_ns >= time_ns; cut++)
		time_ns = cut->time_ns;
	return (size_t)(cut - first);
}

static void count_late(struct order *o, const struct cut *cut)
{
	defects_add(o->opts.defects, DEFECT_LATE, 1, "at 0x%llx%s%s",
		    (unsigned long long)cut->file_off, o->files.n > 1 ? " of " : "",
		    o->files.n > 1 ? o->files.v[cut->file].path : "");
}

/* Delivers a cut that does not wait for its turn: it has no time, or it is late. */
static void deliver_at_once(struct order *o, const struct cut *cut)
{
	struct cut *out = &o->out[o->nr_out++];

	*out = *cut;
	if (cut->order == CUT_ORDERED) {
		out->flags |= CUT_LATE;
		count_late(o, cut);
	}
}

/* The first one that is not silent. */
static void leave_unplaced(struct order *o)
{
	struct cursor **c = o->unplaced.v + o->nr_silent;

	o->unplaced.n--;
	memmove(c, c + 1, (o->unplaced.n - o->nr_silent) * sizeof(*c));
}

/*
 * Brings a cursor of a monotonic file into the heap, with the stretch of ascending cuts that comes
 * next in it; what is in front of that acts now. 1, or 0 if there is no room in out[] or
 * *ret_blocked.
 */
static int place_file(struct order *o, struct cursor *c, bool *ret_blocked)
{
	for (;;) {
		const struct cut *cut;

		if (c->nr == c->nr_cut) {
			int r = cursor_fill(c, &o->in, run_window_bytes(o), !o->nr_out,
					    ret_blocked);

			c->nr_cut = c->nr;
			c->nr = c->at;
			if (r < 0 || *ret_blocked)
				return r;
			if (!r) {
				leave_unplaced(o);
				free_cursor(o, c);
				return 1;
			}
		}
		cut = &c->cuts[c->at];
		if (cut->order == CUT_ORDERED && cut->time_ns >= o->delivered) {
			c->nr += count_ascending(cut, &c->cuts[c->nr_cut], cut->time_ns);
			TRY(vec_push(&o->heap, c));
			leave_unplaced(o);
			if (c->cuts[c->nr - 1].time_ns > o->newest)
				o->newest = c->cuts[c->nr - 1].time_ns;
			sift_up(o, o->heap.n - 1);
			return 1;
		}
		if (o->nr_out == OUT_CUTS)
			return 0;
		deliver_at_once(o, cut);
		c->nr = ++c->at;
	}
}

/*
 * 1 if all monotonic files but the silent ones have their next record in the heap, 0 if out[] has to
 * be delivered first.
 */
static int place_files(struct order *o)
{
	while (o->unplaced.n > o->nr_silent) {
		bool blocked = false;
		int r = place_file(o, o->unplaced.v[o->nr_silent], &blocked);

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
 * Nothing can be delivered, because some streams are silent: the pass over the streams ends. As
 * with rounds, it releases times up to the newest seen before the pass before it, if the silent
 * ones have nothing older when they are asked again.
 */
static int end_pass(struct order *o)
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
	r = streams_wait(silent, o->nr_silent, o->heap.n ? GRACE_MS : STREAM_LOOK_MS);
	free(silent);
	return r < 0 ? r : 0;
}

/* The time up to which records are delivered by now; records that acted at once do not count. */
static void note_delivered(struct order *o)
{
	for (int i = o->nr_out - 1; i >= 0; i--) {
		const struct cut *cut = &o->out[i];

		if (cut->order == CUT_ORDERED && !(cut->flags & CUT_LATE)) {
			o->delivered = cut->time_ns;
			return;
		}
	}
}

/* Fills out[] with the next records up to the limit; none left: the walk goes on. */
static int merge(struct order *o)
{
	uint64_t limit = o->limit;

	o->nr_silent = 0;
	for (;;) {
		struct cursor *c, *rival = NULL;
		uint64_t bound;

		if (__builtin_expect(o->unplaced.n > o->nr_silent, 0)) {
			int r = place_files(o);

			TRY(r);
			if (!r)
				break;
			limit = o->nr_silent ? o->silent_limit : o->limit;
		}
		bound = limit;
		if (!o->heap.n || o->nr_out == OUT_CUTS)
			break;
		c = o->heap.v[0];
		if (c->at == c->nr) {
			bool blocked;

			TRY(refill_first(o, &blocked));
			if (blocked)
				break;
			continue;
		}
		if (cursor_head(c)->time_ns > limit)
			break;
		if (o->heap.n > 1)
			rival = o->heap.v[1];
		if (o->heap.n > 2 && before(o->heap.v[2], rival))
			rival = o->heap.v[2];
		if (rival) {
			uint64_t t = cursor_head(rival)->time_ns;

			/*
			 * Of equal times the earlier place goes first; spilled runs lie between
			 * each other.
			 */
			if (c->run.spilled || rival->run.spilled ||
			    place_before(cursor_head(rival), cursor_head(c)))
				t -= t > 0;
			if (t < bound)
				bound = t;
		}
		do
			o->out[o->nr_out++] = c->cuts[c->at++];
		while (c->at < c->nr && c->cuts[c->at].time_ns <= bound && o->nr_out < OUT_CUTS);
		if (c->at < c->nr)
			sift_down(o, 0);
	}
	note_delivered(o);
	if (!o->nr_out && o->nr_silent)
		return end_pass(o);
	if (!o->nr_out)
		o->phase = o->walked ? ENDED : WALKING;
	return 0;
}

/* ---- the walk ---- */

static void next_file(struct order *o)
{
	o->run_open = false;
	window_release(o->window);
	o->window = NULL;
	o->cut_at = o->nr_cuts = 0;
	walk_from(o, o->file + 1);
}

/* The first byte of the file being walked that the walk or the merge may still ask for. */
static uint64_t needed_from(struct order *o)
{
	uint64_t from = o->walk_off;

	if (o->indexing || o->spill.nr || o->spill.entries_written)
		return 0; /* records lie anywhere */
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

/* True if the walk can cut more of its window without reading. */
static bool window_has_more(const struct order *o)
{
	const struct window *w = o->window;

	return w && w->nr_cuts + WALK_CUTS <= WINDOW_CUTS && o->walk_off >= w->file_off &&
	       o->walk_off < w->file_off + w->len;
}

/* Cuts the next records of the window. Returns how many; if none, *ret_need bytes are needed. */
static int cut_window(struct order *o, size_t *ret_need)
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

/* Reads a window from the walk's place on. 1; 0 if the file ends before it has `need` bytes. */
static int read_window(struct order *o, size_t need)
{
	const struct source_file *f = &o->files.v[o->file];
	struct window *w;
	uint64_t needed;
	int64_t got;

	window_release(o->window);
	needed = needed_from(o);
	o->window = w = window_cache_take(&o->cache, (uint16_t)o->file, needed);
	if (!w)
		return err_nomem();
	o->cut_at = o->nr_cuts = 0;
	if (f->stream)
		stream_let_go(f->stream, needed);
	got = window_read(w, f, o->walk_off, f->end,
			  need > o->opts.window_bytes ? need : o->opts.window_bytes, need);
	if (o->opts.progress)
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
 * More cuts for the walk, or o->walked at the end of the last file. *ret_blocked if that means
 * reading while out[] still refers to the window.
 */
static int walk_fill(struct order *o, bool *ret_blocked)
{
	*ret_blocked = false;
	while (o->file < o->files.n) {
		size_t need = 0;
		int r;

		if (window_has_more(o)) {
			const uint64_t from = o->walk_off;
			int n = cut_window(o, &need);

			if (n > 0)
				return source_take_headers(o->in.source,
							   &o->window->cuts[o->cut_at], n);
			if (n == -ENOMEM)
				return n;
			if (n < 0) /* damaged: the source has counted it */
				next_file(o);
			if (n < 0 || o->walk_off != from)
				continue;
		}
		if (o->nr_out) {
			*ret_blocked = true;
			return 0;
		}
		r = read_window(o, need);
		if (r < 0)
			return r;
		if (!r)
			next_file(o);
	}
	o->walked = true;
	return 0;
}

/* The run that the next cut may continue by its time alone; NULL none. */
static struct run *growing_run(const struct order *o)
{
	struct run *run;

	if (!o->run_open || o->indexing || o->opts.time)
		return NULL;
	run = &o->runs.v[o->runs.n - 1];
	return run->file == o->window->cuts[o->cut_at].file ? run : NULL;
}

/*
 * The common case many times in a row: the open run grows. Keeps the cuts that only do that, all
 * but the batch's last one, behind which other bytes may be. An open run began after the last
 * delivery: what is not older than it is not late.
 */
static void grow_run(struct order *o)
{
	struct window *w = o->window;
	struct run *run = growing_run(o);
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

static bool is_refused(const struct order *o, const struct cut *cut)
{
	return o->opts.time && (cut->flags & CUT_STATELESS) && cut->order == CUT_ORDERED &&
	       !time_windows_hold(o->opts.time, cut->time_ns);
}

/* A refused cut still counts for what the rounds release. */
static void refuse_cut(struct order *o, const struct cut *cut)
{
	if (cut->time_ns > o->newest)
		o->newest = cut->time_ns;
	refused_cuts_add(&o->refused, cut);
}

/* The cut stays in the window until the merge delivers it. */
static int keep_cut(struct order *o, const struct cut *cut)
{
	struct window *w = o->window;

	TRY(note_record(o, cut));
	if (w->nr_cuts != o->cut_at)
		w->cuts[w->nr_cuts] = *cut;
	w->nr_cuts++;
	return 0;
}

/* 1, or 0 if a merge begins. */
static int end_round(struct order *o)
{
	const uint64_t limit = o->newest_before_last_round;

	o->newest_before_last_round = o->newest;
	return limit ? begin_merge(o, limit) : 1;
}

/* Delivers a cut that has no time, or one that is late. 1, or 0 if a merge begins. */
static int deliver_cut(struct order *o, const struct cut *cut)
{
	deliver_at_once(o, cut);
	if (cut->order == CUT_ORDERED)
		o->run_open = false;
	return cut->order == CUT_ROUND && o->files.n == 1 ? end_round(o) : 1;
}

/* Handles the next cut of the window. 1; 0 if the walk pauses: out[] is full or a merge begins. */
static int walk_cut(struct order *o)
{
	const struct cut *cut = &o->window->cuts[o->cut_at];
	/* bytes behind the last cut of a batch may be no record */
	const uint64_t end = o->cut_at + 1 == o->nr_cuts ? o->walk_off : cut->file_off + cut->len;

	if (is_refused(o, cut)) {
		refuse_cut(o, cut);
		o->window->cut_end = end;
		o->cut_at++;
		return 1;
	}
	if (cut->order == CUT_ORDERED && cut->time_ns >= o->delivered) {
		o->window->cut_end = end;
		TRY(keep_cut(o, cut));
		o->cut_at++;
		return 1;
	}
	if (o->nr_out == OUT_CUTS)
		return 0;
	o->window->cut_end = end;
	o->cut_at++;
	return deliver_cut(o, cut);
}

/* Reads ahead: notes the records that wait for the merge, and delivers the others. */
static int walk(struct order *o)
{
	for (;;) {
		bool blocked;
		int r;

		while (o->cut_at < o->nr_cuts) {
			grow_run(o);
			r = walk_cut(o);
			if (r <= 0)
				return r;
		}
		TRY(walk_fill(o, &blocked));
		if (blocked)
			return 0;
		if (o->walked)
			return begin_merge(o, UINT64_MAX);
	}
}

int order_next(struct order *o, const struct cut **ret)
{
	o->nr_out = 0;
	*ret = o->out;
	while (!o->nr_out && o->phase != ENDED)
		TRY(o->phase == MERGING ? merge(o) : walk(o));
	for (int i = 0; i < o->nr_out; i++)
		o->bytes_delivered += o->out[i].len;
	return o->nr_out;
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
	*done = walked + o->bytes_delivered + o->refused.bytes;
	*total = all == UINT64_MAX ? 0 : all;
}
