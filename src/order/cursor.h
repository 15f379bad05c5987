/* SPDX-License-Identifier: MIT */
/* One run being merged: its window, its cuts, where it stands. */
#ifndef SONDE_ORDER_CURSOR_H
#define SONDE_ORDER_CURSOR_H

#include "filters/time_window.h"
#include "order/spill.h"
#include "order/window.h"
#include "sources/source.h"

enum { CURSOR_CUTS = 128 };

/* A monotonic stretch of a file, or (spilled) of the spill file's entries. */
struct run {
	uint64_t first_time_ns, last_time_ns;
	uint64_t begin, end; /* file offsets; entry indexes when spilled */
	uint16_t file;
	bool spilled;
};

struct cursor {
	struct run run;         /* begin: what is not cut yet */
	struct unit unit;       /* in which that is */
	struct window own;      /* what it read itself */
	struct window *shared;  /* one of the walk's windows, held; NULL none */
	const struct cut *cuts; /* of the shared window, or own_cuts */
	size_t nr, at;          /* cuts[at..nr) are to come */
	struct cut own_cuts[CURSOR_CUTS];
	struct cursor *next_free;
};

static inline const struct cut *cursor_head(const struct cursor *c)
{
	return &c->cuts[c->at];
}

struct cursor_input {
	struct source *source;
	const struct source_file *files;
	const struct spill *spill;
	struct window_cache *cache;
	const struct time_windows *time; /* as in order_options */
	struct defects *defects;
};

/*
 * Makes cuts[at..nr) non-empty if the run has more. may_read false: only out of the window; *ret_blocked is set when
 * reading would be needed. 1: there are cuts; 0: the run is at its end or blocked; <0 failure.
 */
int cursor_fill(struct cursor *c, const struct cursor_input *in, size_t window_bytes, bool may_read,
		bool *ret_blocked);

/* Lets go of a shared window; what cursor read itself stays for its next run. */
void cursor_release(struct cursor *c);
void cursor_free(struct cursor *c); /* NULL is fine */

#endif
