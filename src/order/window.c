/* SPDX-License-Identifier: MIT */
#include "order/window.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

enum { CHUNK_UNITS = 64 };

struct unit_chunk {
	struct unit_chunk *next;
	unsigned nr;
	struct unit units[CHUNK_UNITS];
};

static void window_free_chunks(struct unit_chunk *chunk)
{
	while (chunk) {
		struct unit_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
}

void window_forget_units(struct window *w)
{
	if (!w->units)
		return;
	window_free_chunks(w->units->next);
	w->units->next = NULL;
	w->units->nr = 0;
}

const struct unit *window_keep_unit(struct window *w, const struct unit *unit)
{
	struct unit_chunk *chunk = w->units;

	if (chunk && chunk->nr && unit_is_same(&chunk->units[chunk->nr - 1], unit))
		return &chunk->units[chunk->nr - 1];
	if (!chunk || chunk->nr == CHUNK_UNITS) {
		chunk = malloc(sizeof(*chunk));
		if (!chunk)
			return NULL;
		chunk->next = w->units;
		chunk->nr = 0;
		w->units = chunk;
	}
	chunk->units[chunk->nr] = *unit;
	return &chunk->units[chunk->nr++];
}

int window_cut(struct window *w, const struct source *source, unsigned file, struct unit *unit,
	       uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used, size_t *ret_need)
{
	const size_t at = file_off - w->file_off;
	const struct unit *kept;
	int n = source->ops->cut(source, file, unit, w->data + at, w->len - at, file_off, ret, max,
				 ret_used, ret_need);

	if (n <= 0 || !unit->len)
		return n;
	kept = window_keep_unit(w, unit);
	if (!kept)
		return err_nomem();
	for (int i = 0; i < n; i++)
		ret[i].unit = kept;
	return n;
}

/* Reads once. Returns the number of bytes, 0 at the end, <0 on failure. */
static int64_t window_read_piece(const struct source_file *f, uint64_t off, void *buf, size_t len)
{
	ssize_t got;

	if (f->stream)
		return stream_read(f->stream, off, buf, len);
	do
		got = pread(f->fd, buf, len, (off_t)off);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_errno(errno, "%s: cannot read at 0x%llx", f->path,
				 (unsigned long long)off);
	return got;
}

int64_t window_read(struct window *w, const struct source_file *f, uint64_t off, uint64_t end,
		    size_t want, size_t least)
{
	size_t kept = 0;

	window_forget_units(w);
	if (off >= w->file_off && off < w->file_off + w->len && off < end)
		kept = (size_t)(w->file_off + w->len - off);
	if (off >= end) {
		w->len = 0;
		w->file_off = off;
		return 0;
	}
	if (want > end - off)
		want = end - off;
	if (kept > want)
		kept = want;
	if (want > w->capacity) {
		uint8_t *data = malloc(want);

		if (!data)
			return err_nomem();
		if (kept)
			memcpy(data, w->data + (off - w->file_off), kept);
		free(w->data);
		w->data = data;
		w->capacity = want;
	} else if (kept) {
		memmove(w->data, w->data + (off - w->file_off), kept);
	}
	w->file_off = off;
	w->len = kept;
	while (w->len < want && (!f->stream || !w->len || w->len < least)) {
		int64_t got = window_read_piece(f, off + w->len, w->data + w->len, want - w->len);

		if (got < 0)
			return got;
		if (!got)
			break; /* the stream ended, or the file has shrunk since it was opened */
		w->len += (size_t)got;
	}
	return (int64_t)w->len;
}

void window_done(struct window *w)
{
	free(w->data);
	free(w->cuts);
	window_free_chunks(w->units);
	*w = (struct window){ 0 };
}

/* MOST_WINDOWS: who asks for smaller windows gets a smaller cache. */
enum { CACHE_BYTES = 16 * 1024 * 1024, FEWEST_WINDOWS = 4, MOST_WINDOWS = 32 };

void window_cache_init(struct window_cache *c, size_t window_bytes, size_t sharers)
{
	size_t limit = CACHE_BYTES / sharers / window_bytes;

	*c = (struct window_cache){ .limit = limit < FEWEST_WINDOWS ? FEWEST_WINDOWS
					     : limit > MOST_WINDOWS ? MOST_WINDOWS
								    : limit };
}

/* True if a batch that is not given back may refer to the window. */
static bool window_is_borrowed(const struct window_cache *c, const struct window *w)
{
	return c->given_back &&
	       w->used_by > atomic_load_explicit(c->given_back, memory_order_acquire);
}

void window_cache_done(struct window_cache *c)
{
	for (size_t i = 0; i < c->nr_spare; i++)
		window_done(&c->spare[i]);
	free(c->spare);
	for (size_t i = 0; i < c->nr; i++) {
		window_done(c->windows[i]);
		free(c->windows[i]);
	}
	free(c->windows);
	*c = (struct window_cache){ 0 };
}

/* Inserts a window after the newest, so that the ring stays in FIFO order. */
static struct window *window_add(struct window_cache *c)
{
	struct window **windows = reallocarray(c->windows, c->nr + 1, sizeof(*windows));
	struct window *w = windows ? calloc(1, sizeof(*w)) : NULL;
	struct cut *cuts = w ? malloc(WINDOW_CUTS * sizeof(*cuts)) : NULL;
	size_t at = c->nr ? c->newest + 1 : 0;

	if (windows)
		c->windows = windows;
	if (!cuts) {
		free(w);
		return NULL;
	}
	w->cuts = cuts;
	memmove(windows + at + 1, windows + at, (c->nr - at) * sizeof(*windows));
	windows[at] = w;
	c->nr++;
	c->newest = at;
	return w;
}

/* The oldest window if it is no longer needed, else NULL. */
static struct window *window_unneeded(struct window_cache *c, uint16_t file, uint64_t needed_from)
{
	size_t at = c->nr ? (c->newest + 1) % c->nr : 0;
	struct window *w = c->nr ? c->windows[at] : NULL;

	if (!w || w->refs || w->file != file || w->cut_end > needed_from ||
	    window_is_borrowed(c, w))
		return NULL;
	c->newest = at;
	return w;
}

struct window *window_cache_take(struct window_cache *c, uint16_t file, uint64_t needed_from)
{
	struct window *w = window_unneeded(c, file, needed_from);

	/* Else the oldest free one. More than the limit only if all are held or borrowed. */
	for (size_t i = 1; c->nr >= c->limit && i <= c->nr && !w; i++) {
		size_t at = (c->newest + i) % c->nr;

		if (!c->windows[at]->refs && !window_is_borrowed(c, c->windows[at])) {
			w = c->windows[at];
			c->newest = at;
		}
	}
	if (!w)
		w = window_add(c);
	if (w) {
		w->refs = 1;
		w->used_by = 0;
		w->len = w->nr_cuts = 0;
		w->cut_end = w->file_off = 0;
	}
	return w;
}

void window_release(struct window *w)
{
	if (w)
		w->refs--;
}

/* A spare window to which no batch refers any more, or an empty one. */
static struct window window_take_spare(struct window_cache *c)
{
	struct window ret = { 0 };

	for (size_t i = 0; i < c->nr_spare; i++) {
		if (window_is_borrowed(c, &c->spare[i]))
			continue;
		ret = c->spare[i];
		c->spare[i] = c->spare[--c->nr_spare];
		break;
	}
	return ret;
}

int window_cache_trade(struct window_cache *c, struct window *w, uint64_t file_off)
{
	const bool has_bytes = file_off >= w->file_off && file_off < w->file_off + w->len;
	const size_t kept = has_bytes ? (size_t)(w->file_off + w->len - file_off) : 0;
	struct window *spare, fresh;

	if (!w->data || !window_is_borrowed(c, w))
		return 0;
	spare = reallocarray(c->spare, c->nr_spare + 1, sizeof(*spare));
	if (!spare)
		return err_nomem();
	c->spare = spare;
	fresh = window_take_spare(c);
	if (fresh.capacity < kept) {
		free(fresh.data);
		fresh.capacity = w->capacity;
		fresh.data = malloc(fresh.capacity);
	}
	if (kept && !fresh.data) {
		window_done(&fresh);
		return err_nomem();
	}
	if (kept)
		memcpy(fresh.data, w->data + (file_off - w->file_off), kept);
	fresh.len = kept;
	fresh.file_off = file_off;
	fresh.file = w->file;
	c->spare[c->nr_spare++] = *w;
	*w = fresh;
	return 0;
}

struct window *window_cache_find(struct window_cache *c, uint16_t file, uint64_t file_off)
{
	for (size_t i = 0; i < c->nr; i++) {
		struct window *w = c->windows[(c->newest + c->nr - i) % c->nr];

		if (w->file == file && file_off >= w->file_off && file_off < w->cut_end) {
			w->refs++;
			return w;
		}
	}
	return NULL;
}
