/* SPDX-License-Identifier: MIT */
/* Options and statistics of order/. */
#ifndef SONDE_ORDER_OPTIONS_H
#define SONDE_ORDER_OPTIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filters/time_window.h"

struct cut;
struct defects;

enum { ORDER_CUTS = 256 }; /* a batch has at most so many cuts */

struct order_options {
	size_t window_bytes;  /* size of the walk's windows; a run's window is not larger */
	size_t max_runs;      /* more runs than this are spilled; 0 = default */
	size_t piece_entries; /* records of a spilled piece; 0 = default */
	size_t sharers;       /* number of orders that share one memory budget; 0 = 1 */
	/* Stateless records outside are refused before they are ordered. Borrowed; NULL if none. */
	const struct time_windows *time;
	struct defects *defects;
	void (*progress)(void *ctx); /* called for each window that the walk reads; may be NULL */
	void *progress_ctx;
};

/*
 * For a thread that orders while another thread still uses earlier batches and the source. The
 * functions are called in the thread that calls order_fill().
 */
struct order_ahead {
	/* Batches up to this number are given back: their bytes may be overwritten. */
	const _Atomic uint64_t *given_back;
	/* Set by another thread: order_fill() returns -ECANCELED soon. */
	const atomic_bool *quit;
	/* Replaces source_take_headers(). When it returns, only this thread uses the source. */
	int (*take_headers)(void *ctx, const struct cut *cuts, int nr);
	/* Called before the input is read, which may block; may be NULL. */
	void (*before_read)(void *ctx);
	void (*progress)(void *ctx); /* replaces order_options.progress; gets the ctx below */
	void *ctx;
};

/* For tests and `-v`. */
struct order_stats {
	size_t runs, most_runs_at_once, spilled_records;
	/* Samples that the time windows refused, and their times. */
	uint64_t refused, refused_first_ns, refused_last_ns;
	uint64_t passed, passed_first_ns; /* samples that were passed over; the time of the first */
	uint64_t bytes_delivered;         /* of records */
};

#endif
