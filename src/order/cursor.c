/* SPDX-License-Identifier: MIT */
#include "order/cursor.h"

#include <stdlib.h>

#include "base/err.h"

void refused_cuts_add(struct refused_cuts *r, const struct cut *cut)
{
	if (!r->nr++ || cut->time_ns < r->first_ns)
		r->first_ns = cut->time_ns;
	if (cut->time_ns > r->last_ns)
		r->last_ns = cut->time_ns;
	r->bytes += cut->len;
}

static bool cursor_is_refused(const struct cursor_input *in, const struct cut *cut)
{
	return in->time && cut->flags & CUT_STATELESS && !time_windows_hold(in->time, cut->time_ns);
}

/*
 * Drops cuts that do not belong to the run: those before its first record, those that the walk
 * delivered at once or passed over, and refused ones.
 */
static size_t cursor_keep_ordered(struct cut *cuts, int n, const struct run *run,
				  const struct cursor_input *in)
{
	size_t kept = 0;
	int i = 0;

	while (i < n && cuts[i].file_off < run->first)
		i++;
	for (; i < n; i++) {
		if (cuts[i].order != CUT_ORDERED || cuts[i].flags & CUT_UNWANTED ||
		    cursor_is_refused(in, &cuts[i]))
			continue;
		if (kept != (size_t)i)
			cuts[kept] = cuts[i];
		kept++;
	}
	return kept;
}

/* Monotonic files are not walked, so their refused cuts are counted here. */
static size_t cursor_keep_wanted(struct cut *cuts, int n, const struct cursor_input *in)
{
	size_t kept = 0;

	for (int i = 0; i < n; i++) {
		if (cuts[i].order == CUT_ORDERED && cursor_is_refused(in, &cuts[i])) {
			refused_cuts_add(in->refused, &cuts[i]);
			continue;
		}
		if (kept != (size_t)i)
			cuts[kept] = cuts[i];
		kept++;
	}
	return kept;
}

/* Index of the window's first cut at or after file_off. */
static size_t cursor_first_cut_at(const struct window *w, uint64_t file_off)
{
	size_t lo = 0, hi = w->nr_cuts;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (w->cuts[mid].file_off < file_off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Takes the run's next cuts from a window of the walk. 0 if no window has them. */
static int cursor_fill_from_walk(struct cursor *c, const struct cursor_input *in)
{
	while (c->run.begin < c->run.end) {
		const uint64_t from = c->run.begin < c->run.first ? c->run.first : c->run.begin;
		const struct window *w;

		cursor_release(c);
		w = c->shared = window_cache_find(in->cache, c->run.file, from);
		if (!w)
			return 0;
		c->cuts = w->cuts;
		c->at = cursor_first_cut_at(w, from);
		c->nr = w->cut_end <= c->run.end ? w->nr_cuts : cursor_first_cut_at(w, c->run.end);
		c->run.begin = w->cut_end < c->run.end ? w->cut_end : c->run.end;
		c->run.unit = w->end_unit;
		if (c->at < c->nr)
			return 1;
	}
	return 0;
}

/*
 * Recognizes messages of a recorder that wrote its errors to the same file as its records
 * (perf record -o - >FILE 2>&1). Bytes that UTF-8 never has are no text.
 */
static bool cursor_is_text(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (p[i] == 0xc0 || p[i] == 0xc1 || p[i] > 0xf4)
			return false;
		if (p[i] < ' ' ? p[i] != '\n' && p[i] != '\r' && p[i] != '\t' && p[i] != 0x1b
			       : p[i] == 0x7f)
			return false;
	}
	return len;
}

void cursor_report_rest(struct defects *defects, const struct source_file *f, uint64_t off,
			const uint8_t *p, size_t len)
{
	uint64_t at = off < f->end ? off : f->end;

	if (cursor_is_text(p, len))
		defects_add(defects, DEFECT_TRAILING_TEXT, 1, "%zu bytes at 0x%llx of %s", len,
			    (unsigned long long)at, f->path);
	else
		defects_add(defects, DEFECT_TRUNCATED, 1, "record at 0x%llx of %s",
			    (unsigned long long)at, f->path);
}

/* Ends a run of which only `got` bytes are left, fewer than its next record has. */
static void cursor_end_early(struct cursor *c, const struct cursor_input *in, size_t got)
{
	const struct source_file *f = &in->files[c->run.file];

	if (!c->run.is_file)
		defects_add(in->defects, DEFECT_TRUNCATED, 1,
			    "%s shrank to 0x%llx while it was read", f->path,
			    (unsigned long long)(c->run.begin + got));
	else if (f->stream ? got : true)
		cursor_report_rest(in->defects, f, c->run.begin, c->own.data, got);
	c->run.begin = c->run.end;
}

int cursor_take_headers(const struct cursor_input *in, const struct cut *cuts, int nr)
{
	const int n = source_count_headers(cuts, nr);

	if (!n)
		return 0;
	return in->ahead ? in->ahead->take_headers(in->ahead->ctx, cuts + nr - n, n)
			 : in->source->ops->take_header(in->source, cuts + nr - n, n);
}

/* Cuts the cursor's own window. 1 if there are cuts, 0 if not; then *ret_need bytes are needed. */
static int cursor_cut_own(struct cursor *c, const struct cursor_input *in, size_t *ret_need)
{
	struct run *run = &c->run;
	uint64_t used = 0;
	int n = window_cut(&c->own, in->source, run->file, &run->unit, run->begin, c->own_cuts,
			   CURSOR_CUTS, &used, ret_need);

	if (n == -ENOMEM)
		return n;
	c->at = c->nr = 0;
	if (n < 0) {
		/*
		 * The source has counted the damage. A run that was walked was undamaged then: the
		 * file has been overwritten since.
		 */
		run->begin = run->end;
		return 0;
	}
	run->begin += used;
	c->cuts = c->own_cuts;
	if (run->is_file) {
		TRY(cursor_take_headers(in, c->own_cuts, n));
		c->nr = cursor_keep_wanted(c->own_cuts, n, in);
	} else {
		c->nr = cursor_keep_ordered(c->own_cuts, n, run, in);
	}
	return c->nr > 0;
}

/* The offset of the run's first byte that is not in the window. */
static uint64_t cursor_next_byte(const struct cursor *c)
{
	const uint64_t end = c->own.file_off + c->own.len;

	return c->run.begin >= c->own.file_off && c->run.begin < end ? end : c->run.begin;
}

static bool cursor_is_growing(const struct cursor *c, const struct cursor_input *in)
{
	return c->run.is_file && in->files[c->run.file].is_growing;
}

/* Reads on into the cursor's own window. Ends the run if the file has fewer than `need` bytes. */
static int cursor_read_own(struct cursor *c, const struct cursor_input *in, size_t window_bytes,
			   size_t need)
{
	const struct source_file *f = &in->files[c->run.file];
	const bool is_growing = cursor_is_growing(c, in);
	const size_t want = need > window_bytes ? need : window_bytes;
	size_t least = want;
	int64_t got;

	TRY(window_cache_trade(in->cache, &c->own, c->run.begin));
	if (c->run.is_file) {
		if (f->stream)
			stream_let_go(f->stream, c->run.begin);
		/* A growing stream is not waited for: one more byte will do. */
		least = is_growing ? cursor_next_byte(c) - c->run.begin + 1 : need;
	}
	cursor_before_read(in);
	got = window_read(&c->own, f, c->run.begin, c->run.end, want, least);
	if (got < 0)
		return (int)got;
	if (is_growing && !f->stream->ended)
		return 0;
	if (!got || (size_t)got < need)
		cursor_end_early(c, in, (size_t)got);
	return 0;
}

/* Makes cuts of the run's next bytes, as cursor_fill() does. */
static int cursor_fill_from_file(struct cursor *c, const struct cursor_input *in,
				 size_t window_bytes, bool may_read, bool *ret_blocked)
{
	const struct source_file *f = &in->files[c->run.file];
	const bool is_growing = cursor_is_growing(c, in);
	struct window *w = &c->own;
	size_t need = 0;

	if (w->file != c->run.file)
		w->len = 0;
	w->file = c->run.file;
	while (c->run.begin < c->run.end) {
		if (!c->run.is_file && cursor_fill_from_walk(c, in))
			return 1;
		if (c->run.begin >= w->file_off && c->run.begin < w->file_off + w->len) {
			const uint64_t from = c->run.begin;
			int r = cursor_cut_own(c, in, &need);

			if (r)
				return r;
			if (c->run.begin != from)
				continue;
		}
		if (!may_read || (is_growing && !stream_is_ready(f->stream, cursor_next_byte(c)))) {
			*ret_blocked = true;
			return 0;
		}
		TRY(cursor_read_own(c, in, window_bytes, need));
	}
	return 0;
}

/*
 * Reads the next entries of a spilled run and their records, which may be anywhere in the input:
 * each is read separately, and they are stored one after the other in the window. The cursor has no
 * cuts if the file has shrunk below all of them.
 */
static int cursor_read_spilled(struct cursor *c, const struct cursor_input *in)
{
	struct spill_entry entries[CURSOR_CUTS];
	uint64_t left = c->run.end - c->run.begin;
	int n = left < CURSOR_CUTS ? (int)left : CURSOR_CUTS;
	size_t total = 0;
	uint8_t *to;

	TRY(window_cache_trade(in->cache, &c->own, 0));
	TRY(spill_read(in->spill, c->run.begin, entries, (size_t)n));
	for (int i = 0; i < n; i++)
		total += entries[i].len;
	if (total > c->own.capacity) {
		uint8_t *data = malloc(total);

		if (!data)
			return err_nomem();
		free(c->own.data);
		c->own.data = data;
		c->own.capacity = total;
	}
	window_forget_units(&c->own);
	to = c->own.data;
	c->at = c->nr = 0;
	c->cuts = c->own_cuts;
	for (int i = 0; i < n; i++) {
		const struct spill_entry *e = &entries[i];
		const struct source_file *f = &in->files[e->file];
		const struct unit *unit = NULL;
		struct window piece = { .data = to, .capacity = e->len };
		int64_t got =
			window_read(&piece, f, e->file_off, e->file_off + e->len, e->len, e->len);

		if (got < 0)
			return (int)got;
		if ((uint64_t)got < e->len) {
			defects_add(in->defects, DEFECT_TRUNCATED, 1,
				    "%s shrank below 0x%llx while it was read", f->path,
				    (unsigned long long)e->file_off);
			continue;
		}
		if (e->unit) {
			struct unit u;

			TRY(spill_read_unit(in->spill, e->unit, &u));
			unit = window_keep_unit(&c->own, &u);
			if (!unit)
				return err_nomem();
		}
		c->own_cuts[c->nr++] = (struct cut){
			.time_ns = e->time_ns,
			.file_off = e->file_off,
			.bytes = to,
			.len = e->len,
			.file = e->file,
			.order = CUT_ORDERED,
			.unit = unit,
		};
		to += e->len;
	}
	c->run.begin += (uint64_t)n;
	return 0;
}

static int cursor_fill_from_spill(struct cursor *c, const struct cursor_input *in, bool may_read,
				  bool *ret_blocked)
{
	while (c->run.begin < c->run.end) {
		if (!may_read) {
			*ret_blocked = true;
			return 0;
		}
		TRY(cursor_read_spilled(c, in));
		if (c->nr)
			return 1;
	}
	return 0;
}

void cursor_release(struct cursor *c)
{
	window_release(c->shared);
	c->shared = NULL;
}

void cursor_free(struct cursor *c)
{
	if (!c)
		return;
	cursor_release(c);
	window_done(&c->own);
	free(c);
}

int cursor_fill(struct cursor *c, const struct cursor_input *in, size_t window_bytes, bool may_read,
		bool *ret_blocked)
{
	*ret_blocked = false;
	if (c->at < c->nr)
		return 1;
	return c->run.spilled ? cursor_fill_from_spill(c, in, may_read, ret_blocked)
			      : cursor_fill_from_file(c, in, window_bytes, may_read, ret_blocked);
}
