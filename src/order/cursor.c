/* SPDX-License-Identifier: MIT */
#include "order/cursor.h"

#include <stdlib.h>

#include "base/err.h"

/* Keeps the records that wait for their turn: what acts at once did so when the walk met it. */
static int keep_ordered(struct cut *cuts, int n)
{
	int kept = 0;

	for (int i = 0; i < n; i++) {
		if (cuts[i].order != CUT_ORDERED)
			continue;
		if (kept != i)
			cuts[kept] = cuts[i];
		kept++;
	}
	return kept;
}

/* Bytes at the run's place that are in memory: in the walk's windows, or in the cursor's own. 0: none are. */
static size_t bytes_at_hand(struct cursor *c, const struct cursor_input *in, const uint8_t **ret)
{
	uint64_t at = c->run.begin, end;
	const struct window *w = c->shared;

	if (!w || at < w->file_off || at >= w->cut_end) {
		cursor_release(c);
		w = c->shared = window_cache_find(in->cache, c->run.file, at);
	}
	if (w) {
		end = w->cut_end < c->run.end ? w->cut_end : c->run.end;
	} else {
		w = &c->own;
		end = w->file_off + w->len;
		if (at < w->file_off || at >= end)
			return 0;
	}
	*ret = w->data + (at - w->file_off);
	return end - at;
}

static int fill_from_file(struct cursor *c, const struct cursor_input *in, size_t window_bytes, bool may_read,
			  bool *ret_blocked)
{
	const struct source_file *f = &in->files[c->run.file];
	size_t need = 0;

	while (c->run.begin < c->run.end) {
		const uint8_t *p = NULL;
		size_t want, len = bytes_at_hand(c, in, &p);
		int64_t got;

		if (len) {
			uint64_t used = 0;
			int n = in->source->ops->cut(in->source, c->run.file, p, len, c->run.begin, c->cuts, CURSOR_CUTS,
						     &used, &need);

			if (n < 0)
				return n;
			c->run.begin += used;
			c->at = 0;
			c->nr = keep_ordered(c->cuts, n);
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
		got = window_read(&c->own, f->fd, f->path, c->run.begin, c->run.end, want);
		if (got < 0)
			return (int)got;
		if (!got || (size_t)got < need) {
			defects_add(in->defects, DEFECT_TRUNCATED, 1, "%s shrank to 0x%llx while it was read", f->path,
				    (unsigned long long)(c->run.begin + (uint64_t)got));
			c->run.begin = c->run.end;
		}
	}
	return 0;
}

/* Records of a spilled run lie anywhere in the input: each is read on its own, side by side into the window. */
static int fill_from_spill(struct cursor *c, const struct cursor_input *in, bool may_read, bool *ret_blocked)
{
	struct spill_entry entries[CURSOR_CUTS];
	uint64_t left = c->run.end - c->run.begin;
	int n = left < CURSOR_CUTS ? (int)left : CURSOR_CUTS;
	size_t total = 0;
	uint8_t *to;

	if (!left)
		return 0;
	if (!may_read) {
		*ret_blocked = true;
		return 0;
	}
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
	for (int i = 0; i < n; i++) {
		const struct spill_entry *e = &entries[i];
		const struct source_file *f = &in->files[e->file];
		struct window piece = { .data = to, .capacity = e->len };
		int64_t got = window_read(&piece, f->fd, f->path, e->file_off, e->file_off + e->len, e->len);

		if (got < 0)
			return (int)got;
		if ((uint64_t)got < e->len) {
			defects_add(in->defects, DEFECT_TRUNCATED, 1, "%s shrank below 0x%llx while it was read",
				    f->path, (unsigned long long)e->file_off);
			continue;
		}
		c->cuts[c->nr++] = (struct cut){ .time_ns = e->time_ns,
						 .file_off = e->file_off,
						 .bytes = to,
						 .len = e->len,
						 .file = e->file,
						 .order = CUT_ORDERED };
		to += e->len;
	}
	c->run.begin += (uint64_t)n;
	return c->nr ? 1 : fill_from_spill(c, in, may_read, ret_blocked);
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

int cursor_fill(struct cursor *c, const struct cursor_input *in, size_t window_bytes, bool may_read, bool *ret_blocked)
{
	*ret_blocked = false;
	if (c->at < c->nr)
		return 1;
	return c->run.spilled ? fill_from_spill(c, in, may_read, ret_blocked)
			      : fill_from_file(c, in, window_bytes, may_read, ret_blocked);
}
