/* SPDX-License-Identifier: MIT */
/*
 * A window: part of a file read into memory by pread, grown for a record larger than it.
 * No mapping: a file that shrinks under a mapping kills the reader with SIGBUS; here it is a short read.
 */
#ifndef SONDE_ORDER_WINDOW_H
#define SONDE_ORDER_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "sources/source.h"

struct unit_chunk;

struct window {
	uint8_t *data; /* owned */
	size_t capacity, len;
	uint64_t file_off;        /* of data[0] */
	struct unit_chunk *units; /* owned; what its cuts are in, the newest first */
	/* In a cache only: */
	struct cut
		*cuts; /* owned; what the walk found in it and left to the merge, in file order */
	size_t nr_cuts;
	uint64_t cut_end; /* the walk came up to here, in this unit: */
	struct unit end_unit;
	uint16_t file;
	unsigned refs; /* holders; a window that is held is not read over */
	uint64_t used_by; /* the newest batch that has cuts of it; 0 none */
};

/* Cuts that a window keeps; when they are used up the walk goes on in another window. */
#ifdef SMALL_BUFFERS
enum { WINDOW_CUTS = 512 };
#else
enum { WINDOW_CUTS = 32768 };
#endif

/*
 * The windows that the walk read last, with their cuts, kept so that the merge, which follows closely, need not read and cut again.
 * Windows are reused in the order in which they were filled: the oldest as soon as nothing asks for it any more, so that
 * few of them are in use and stay in the processor's caches; otherwise when there are `limit` of them.
 */
struct window_cache {
	struct window **windows; /* owned; a ring, `newest` the one filled last */
	size_t nr, limit, newest;
	/* Batches up to this one are given back. NULL: all are, when something is read. */
	const _Atomic uint64_t *given_back;
	struct window *spare; /* owned; windows of cursors that batches may refer to, or did */
	size_t nr_spare;
};

/* sharers: how many caches there are, which have the memory of one together. */
void window_cache_init(struct window_cache *c, size_t window_bytes, size_t sharers);
void window_cache_done(struct window_cache *c);
/*
 * A window to read into, empty and held by the caller. Of that file, nothing in front of
 * needed_from will be asked for. NULL: no memory.
 */
struct window *window_cache_take(struct window_cache *c, uint16_t file, uint64_t needed_from);
void window_release(struct window *w); /* NULL is fine */
/*
 * Before a window of a cursor is read over: as long as batches may refer to its bytes, they are kept
 * aside, and *w becomes another window with the bytes from file_off on. -ENOMEM only.
 */
int window_cache_trade(struct window_cache *c, struct window *w, uint64_t file_off);
/* The window that holds the whole record at this place, held by the caller; NULL: read it again. */
struct window *window_cache_find(struct window_cache *c, uint16_t file, uint64_t file_off);

/*
 * Fills the window with up to want bytes from off on, not beyond end; bytes that it has are not read
 * again. Returns how many there are (0: end of file) or <0. Of a stream it waits for `least` bytes
 * only, or its end.
 */
int64_t window_read(struct window *w, const struct source_file *f, uint64_t off, uint64_t end,
		    size_t want, size_t least);
/*
 * Cuts records of the window from file_off on, as source_ops.cut does. The cuts stay whole until
 * the window is read again.
 */
int window_cut(struct window *w, const struct source *source, unsigned file, struct unit *unit,
	       uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used, size_t *ret_need);
/* A copy that lives until the window is read again; NULL: no memory. */
const struct unit *window_keep_unit(struct window *w, const struct unit *unit);
/* What was kept of them may be written over. */
void window_forget_units(struct window *w);
void window_done(struct window *w);

#endif
