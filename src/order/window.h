/* SPDX-License-Identifier: MIT */
/*
 * A window is a piece of a file, read into memory by pread. It grows for a record that is larger.
 * Files are not mapped: a file that shrinks under a mapping kills the reader with SIGBUS. With
 * pread, it is a short read.
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
	struct unit_chunk *units; /* owned; units of its cuts, the newest chunk first */
	/* In a cache only: */
	struct cut *cuts; /* owned; left to the merge by the walk, in file order */
	size_t nr_cuts;
	uint64_t cut_end;     /* where the walk stopped */
	struct unit end_unit; /* at cut_end */
	uint16_t file;
	unsigned refs;    /* holders; a window that is held is not overwritten */
	uint64_t used_by; /* number of the newest batch with cuts of it; 0 if none */
};

/* Cuts that a window has room for. When it is full, the walk continues in another window. */
#ifdef SMALL_BUFFERS
enum { WINDOW_CUTS = 512 };
#else
enum { WINDOW_CUTS = 32768 };
#endif

/*
 * Keeps the windows that the walk read last, with their cuts, so that the merge, which follows
 * closely, need not read and cut them again. Windows are reused in FIFO order: the oldest one as
 * soon as it is no longer needed, so that few windows are in use and stay in the cpu's caches,
 * otherwise when there are `limit` of them.
 */
struct window_cache {
	struct window **windows; /* owned; a ring, `newest` the one filled last */
	size_t nr, limit, newest;
	/* Batches up to this number are given back. NULL: all are, at every read. */
	const _Atomic uint64_t *given_back;
	struct window *spare; /* owned; windows of cursors that batches refer to, or did */
	size_t nr_spare;
};

/* sharers: number of caches that share the memory of one. */
void window_cache_init(struct window_cache *c, size_t window_bytes, size_t sharers);
void window_cache_done(struct window_cache *c);
/*
 * An empty window to read into, held by the caller. No bytes of the file before needed_from will be
 * asked for again. NULL if there is no memory.
 */
struct window *window_cache_take(struct window_cache *c, uint16_t file, uint64_t needed_from);
void window_release(struct window *w); /* NULL is fine */
/*
 * Call it before a window of a cursor is overwritten. If batches may refer to its bytes, the window
 * is kept aside and *w becomes another one, with the bytes from file_off on. -ENOMEM only.
 */
int window_cache_trade(struct window_cache *c, struct window *w, uint64_t file_off);
/* The window with the complete record at file_off, held by the caller. NULL: read it again. */
struct window *window_cache_find(struct window_cache *c, uint16_t file, uint64_t file_off);

/*
 * Fills the window with up to `want` bytes from `off` on, not beyond `end`. Bytes that it has are
 * not read again. Returns how many bytes there are (0 at the end of the file) or <0. A stream is
 * read until `least` bytes are there or it ends.
 */
int64_t window_read(struct window *w, const struct source_file *f, uint64_t off, uint64_t end,
		    size_t want, size_t least);
/*
 * Cuts records of the window from file_off on, as source_ops.cut does. The cuts are valid until the
 * window is read again.
 */
int window_cut(struct window *w, const struct source *source, unsigned file, struct unit *unit,
	       uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used, size_t *ret_need);
/* A copy that is valid until the window is read again; NULL if there is no memory. */
const struct unit *window_keep_unit(struct window *w, const struct unit *unit);
/* Ends the validity of all copies from window_keep_unit(). */
void window_forget_units(struct window *w);
void window_done(struct window *w);

#endif
