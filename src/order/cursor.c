/* SPDX-License-Identifier: MIT */
#include "order/cursor.h"

#include <stdlib.h>

#include "base/err.h"

/* Keeps what the walk put into the run: what acts at once did so when the walk met it, what it refused stays refused. */
static size_t keep_ordered(struct cut *cuts, int n, const struct time_windows *time)
{
	size_t kept = 0;

	for (int i = 0; i < n; i++) {
		if (cuts[i].order != CUT_ORDERED || (cuts[i].flags & CUT_STATELESS && time &&
						     !time_windows_hold(time, cuts[i].time_ns)))
			continue;
		if (kept != (size_t)i)
			cuts[kept] = cuts[i];
		kept++;
	}
	return kept;
}

/* Index of the window's first cut at or behind file_off. */
static size_t first_cut_at(const struct window *w, uint64_t file_off)
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

/* Takes what the walk's windows still have of the run: 1 cuts, 0 the run's place is in none of them. */
static int fill_from_walk(struct cursor *c, const struct cursor_input *in)
{
	while (c->run.begin < c->run.end) {
		const struct window *w;

		cursor_release(c);
		w = c->shared = window_cache_find(in->cache, c->run.file, c->run.begin);
		if (!w)
			return 0;
		c->cuts = w->cuts;
		c->at = first_cut_at(w, c->run.begin);
		c->nr = w->cut_end <= c->run.end ? w->nr_cuts : first_cut_at(w, c->run.end);
		c->run.begin = w->cut_end < c->run.end ? w->cut_end : c->run.end;
		if (c->at < c->nr)
			return 1;
	}
	return 0;
}

static int fill_from_file(struct cursor *c, const struct cursor_input *in, size_t window_bytes,
			  bool may_read, bool *ret_blocked)
{
	const struct source_file *f = &in->files[c->run.file];
	struct window *w = &c->own;
	size_t need = 0;

	while (c->run.begin < c->run.end) {
		size_t want;
		int64_t got;

		if (fill_from_walk(c, in))
			return 1;
		if (c->run.begin >= w->file_off && c->run.begin < w->file_off + w->len) {
			size_t at = c->run.begin - w->file_off;
			uint64_t used = 0;
			int n = in->source->ops->cut(in->source, c->run.file, &c->unit,
						     w->data + at, w->len - at, c->run.begin,
						     c->own_cuts, CURSOR_CUTS, &used, &need);

			if (n < 0) {
				/* It was whole when the walk met it: written over since, which the source has counted. */
				c->run.begin = c->run.end;
				return 0;
			}
			c->run.begin += used;
			c->at = 0;
			c->cuts = c->own_cuts;
			c->nr = keep_ordered(c->own_cuts, n, in->time);
			if (c->nr)
				return 1;
			if (used)
				continue;
		}
		if (!may_read) {
			*ret_blocked = true;
			return 0;
		}
		want = need > window_bytes ? need : window_bytes;
		got = window_read(w, f, c->run.begin, c->run.end, want, want);
		if (got < 0)
			return (int)got;
		if (!got || (size_t)got < need) {
			defects_add(in->defects, DEFECT_TRUNCATED, 1,
				    "%s shrank to 0x%llx while it was read", f->path,
				    (unsigned long long)(c->run.begin + (uint64_t)got));
			c->run.begin = c->run.end;
		}
	}
	return 0;
}

/*
 * The next entries of a spilled run. Their records lie anywhere in the input: each is read on its own, side by side into
 * the window. None is left when the file shrank below them.
 */
static int read_spilled(struct cursor *c, const struct cursor_input *in)
{
	struct spill_entry entries[CURSOR_CUTS];
	uint64_t left = c->run.end - c->run.begin;
	int n = left < CURSOR_CUTS ? (int)left : CURSOR_CUTS;
	size_t total = 0;
	uint8_t *to;

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
	to = c->own.data;
	c->at = c->nr = 0;
	c->cuts = c->own_cuts;
	for (int i = 0; i < n; i++) {
		const struct spill_entry *e = &entries[i];
		const struct source_file *f = &in->files[e->file];
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
		c->own_cuts[c->nr++] = (struct cut){ .time_ns = e->time_ns,
						     .file_off = e->file_off,
						     .bytes = to,
						     .len = e->len,
						     .file = e->file,
						     .order = CUT_ORDERED };
		to += e->len;
	}
	c->run.begin += (uint64_t)n;
	return 0;
}

static int fill_from_spill(struct cursor *c, const struct cursor_input *in, bool may_read,
			   bool *ret_blocked)
{
	while (c->run.begin < c->run.end) {
		if (!may_read) {
			*ret_blocked = true;
			return 0;
		}
		TRY(read_spilled(c, in));
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
	return c->run.spilled ? fill_from_spill(c, in, may_read, ret_blocked)
			      : fill_from_file(c, in, window_bytes, may_read, ret_blocked);
}
