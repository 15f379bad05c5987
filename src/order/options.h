/* SPDX-License-Identifier: MIT */
/* What order/ is asked for, and what it says of itself. */
#ifndef SONDE_ORDER_OPTIONS_H
#define SONDE_ORDER_OPTIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filters/time_window.h"

struct cut;
struct defects;

enum { ORDER_CUTS = 256 }; /* of a batch, at most */

struct order_options {
	size_t window_bytes;  /* of the walk, and the most for a run */
	size_t max_runs;      /* more runs than this are spilled; 0 = default */
	size_t piece_entries; /* records of a spilled piece; 0 = default */
	size_t sharers;       /* so many orders at a time share the memory that one takes; 0 = 1 */
	/* Stateless records outside are refused before they are ordered; NULL: none. Lent. */
	const struct time_windows *time;
	struct defects *defects;
	void (*progress)(void *ctx); /* called for each window that the walk reads; NULL: never */
	void *progress_ctx;
};

/*
 * What a thread needs that orders while another thread still uses earlier batches and the source.
 * Functions are called in the thread that calls order_fill().
 */
struct order_ahead {
	/* Batches up to this number are given back: nobody refers to their bytes any more. */
	const _Atomic uint64_t *given_back;
	/* Set by another thread: order_fill() returns -ECANCELED soon. */
	const atomic_bool *quit;
	/* In place of source_take_headers(): when it returns, nobody uses the source but ordering. */
	int (*take_headers)(void *ctx, const struct cut *cuts, int nr);
	/* Called before the input is read, which may wait; NULL: never. */
	void (*before_read)(void *ctx);
	void (*progress)(void *ctx);    /* in place of order_options.progress; ctx is this one's */
	void *ctx;
};

/* For tests and `-v`. */
struct order_stats {
	size_t runs, most_runs_at_once, spilled_records;
	/* Samples that the time windows refused, and their times. */
	uint64_t refused, refused_first_ns, refused_last_ns;
	uint64_t bytes_delivered; /* of records */
};

#endif
