/* SPDX-License-Identifier: MIT */
/*
 * Loads, starts, calls and stops filters in shared objects written for perf. src/session/dlfilter.c
 * has the functions that filters may call; it fills in `fns` and the samples.
 *
 *	struct dlfilters l = { 0 };
 *	TRY(dlfilters_load(&l, lines, false, &fns, ctx));
 *	TRY(dlfilters_start(&l));
 *	r = dlfilters_ask(&l, true, &sample);      1 keep, 0 leave out, <0 failure
 *	dlfilters_done(&l);                        stops them
 */
#ifndef SONDE_FILTERS_DLFILTER_H
#define SONDE_FILTERS_DLFILTER_H

#include <stdbool.h>

#include "base/vec.h"
#include "filters/dlfilter/abi.h"

/* One filter. Its address is the ctx that it gets. */
struct dlfilter {
	void *ctx; /* the ctx passed to dlfilters_load() */
	char *file;
	void *handle;
	void *data; /* set by the filter's start() */
	VEC(char *) args;
	int (*start)(void **data, void *ctx);
	int (*stop)(void *data, void *ctx);
	int (*early)(void *data, const struct dlf_sample *sample, void *ctx);
	int (*late)(void *data, const struct dlf_sample *sample, void *ctx);
	bool called;          /* a sample is being filtered: functions about it may be called */
	bool starts_or_stops; /* only args() may be called */
};

struct dlfilters {
	VEC(struct dlfilter *)
	filters; /* in the given order; the first filter that drops a sample ends the loop */
	bool has_early, has_late;
	/*
	 * Called around calls into a filter, which may write to stdout, to keep the output in
	 * order. May be NULL.
	 */
	void (*before)(void *ctx), (*after)(void *ctx);
	void *order_ctx;
};

/*
 * lines: "dlfilter=FILE\n" and "dlarg=ARG\n" in the given order. Arguments belong to the filter
 * before them; arguments before the first filter belong to the first. only_last: perf's rule, only
 * the last filter is loaded and gets all arguments.
 */
int dlfilters_load(struct dlfilters *l, const char *lines, bool only_last,
		   const struct dlf_fns *fns, void *ctx);
int dlfilters_start(struct dlfilters *l);
/* 1: keep. 0: drop. -ECANCELED: a filter stopped the session. */
int dlfilters_ask(struct dlfilters *l, bool early, const struct dlf_sample *sample);
void dlfilters_done(struct dlfilters *l);

#endif
