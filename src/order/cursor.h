/* SPDX-License-Identifier: MIT */
/* One run being merged: its window, its cuts, where it stands. */
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
	uint64_t first;      /* offset of the first record; others between begin and it */
	struct unit unit;    /* what begin is in: records are cut from there on */
	uint16_t file;
	bool spilled;
	bool is_file; /* all of a monotonic file, which nobody has walked */
};

struct cursor {
	struct run run;         /* begin, unit: what is not cut yet */
	struct window own;      /* what it read itself */
	struct window *shared;  /* one of the walk's windows, held; NULL none */
	const struct cut *cuts; /* of the shared window, or own_cuts */
	size_t nr, at;          /* cuts[at..nr) are to come */
	size_t nr_cut;          /* of a monotonic file: cuts[nr..nr_cut) come after those */
	struct cut own_cuts[CURSOR_CUTS];
	struct cursor *next_free;
};

/* What has the bytes of its cuts. */
static inline struct window *cursor_window(struct cursor *c)
{
	return c->shared ? c->shared : &c->own;
}

static inline const struct cut *cursor_head(const struct cursor *c)
{
	return &c->cuts[c->at];
}

/* Records that the windows of time refuse, and their times. */
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
	struct refused_cuts *refused;    /* those of monotonic files are counted by cursors */
	struct defects *defects;
	const struct order_ahead *ahead; /* lent; NULL: nobody orders ahead */
};

/* The file ends (or is damaged) before its records do: len bytes at off are no complete record. */
void cursor_report_rest(struct defects *defects, const struct source_file *f, uint64_t off,
			const uint8_t *p, size_t len);

/*
 * Makes cuts[at..nr) non-empty if the run has more. may_read false: only out of the window; *ret_blocked is set when
 * reading would be needed. 1: there are cuts; 0: the run is at its end or blocked; <0 failure.
 */
int cursor_fill(struct cursor *c, const struct cursor_input *in, size_t window_bytes, bool may_read,
		bool *ret_blocked);

/* Lets go of a shared window; what cursor read itself stays for its next run. */
void cursor_release(struct cursor *c);
void cursor_free(struct cursor *c); /* NULL is fine */
static inline void cursor_before_read(const struct cursor_input *in)
{
	if (in->ahead && in->ahead->before_read)
		in->ahead->before_read(in->ahead->ctx);
}

/* Hands the header records of what was just cut, which are the last, to their source. */
int cursor_take_headers(const struct cursor_input *in, const struct cut *cuts, int nr);

#endif
