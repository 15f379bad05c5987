/* SPDX-License-Identifier: MIT */
/* One run being merged: its window, its cuts and its position. */
#ifndef SONDE_ORDER_CURSOR_H
#define SONDE_ORDER_CURSOR_H

#include "filters/time_window.h"
#include "order/options.h"
#include "order/spill.h"
#include "order/window.h"
#include "sources/source.h"

enum { CURSOR_CUTS = 128 };

/* A monotonic stretch of a file, or (spilled) of the spill file's entries. */
struct run {
	uint64_t first_time_ns, last_time_ns;
	uint64_t begin, end; /* file offsets; entry indexes when spilled */
	uint64_t first;      /* offset of the run's first record; others may be before it */
	struct unit unit;    /* that begin is in: records are cut from there on */
	uint16_t file;
	bool spilled;
	bool is_file; /* a complete monotonic file, which is not walked */
};

struct cursor {
	struct run run;         /* begin and unit move on to the first byte that is not cut */
	struct window own;      /* bytes that the cursor read itself */
	struct window *shared;  /* a window of the walk, held; NULL if none */
	const struct cut *cuts; /* of the shared window, or own_cuts */
	size_t nr, at;          /* cuts[at..nr) are not delivered yet */
	size_t nr_cut;          /* monotonic files only: cuts[nr..nr_cut) follow those */
	struct cut own_cuts[CURSOR_CUTS];
	struct cursor *next_free;
};

/* The window with the bytes of the cursor's cuts. */
static inline struct window *cursor_window(struct cursor *c)
{
	return c->shared ? c->shared : &c->own;
}

static inline const struct cut *cursor_head(const struct cursor *c)
{
	return &c->cuts[c->at];
}

/* Counts records that the time windows refuse, and keeps their first and last time. */
struct refused_cuts {
	uint64_t nr, bytes, first_ns, last_ns;
};

void refused_cuts_add(struct refused_cuts *r, const struct cut *cut);

struct cursor_input {
	struct source *source;
	const struct source_file *files;
	const struct spill *spill;
	struct window_cache *cache;
	const struct time_windows *time; /* as in order_options */
	struct refused_cuts *refused;    /* cursors count those of monotonic files */
	struct defects *defects;
	const struct order_ahead *ahead; /* borrowed; NULL if no thread orders ahead */
};

/* Reports a file that ends with an incomplete record: its last `len` bytes, at `off`. */
void cursor_report_rest(struct defects *defects, const struct source_file *f, uint64_t off,
			const uint8_t *p, size_t len);

/*
 * Makes cuts[at..nr) non-empty if the run has more records. If may_read is false, only bytes in
 * memory are used; *ret_blocked is set if that is not enough. Returns 1 if there are cuts, 0 at the
 * end of the run or if blocked, <0 on failure.
 */
int cursor_fill(struct cursor *c, const struct cursor_input *in, size_t window_bytes, bool may_read,
		bool *ret_blocked);

/* Releases the shared window. The cursor's own window is kept for its next run. */
void cursor_release(struct cursor *c);
void cursor_free(struct cursor *c); /* NULL is fine */
static inline void cursor_before_read(const struct cursor_input *in)
{
	if (in->ahead && in->ahead->before_read)
		in->ahead->before_read(in->ahead->ctx);
}

/* Passes header records, which are the last of the new cuts, to the source. */
int cursor_take_headers(const struct cursor_input *in, const struct cut *cuts, int nr);

#endif
