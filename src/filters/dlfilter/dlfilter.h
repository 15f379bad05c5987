/* SPDX-License-Identifier: MIT */
/*
 * Filters in shared objects that were written for perf: loaded, started, asked about samples, stopped. What they may ask
 * back is in src/session/dlfilter.c, which fills in `fns` and the samples.
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

/* One of them; its address is the ctx that it gets. */
struct dlfilter {
	void *ctx; /* of the caller of dlfilters_load() */
	char *file;
	void *handle;
	void *data; /* the filter's own, from its start() */
	VEC(char *) args;
	int (*start)(void **data, void *ctx);
	int (*stop)(void *data, void *ctx);
	int (*early)(void *data, const struct dlf_sample *sample, void *ctx);
	int (*late)(void *data, const struct dlf_sample *sample, void *ctx);
	bool called;          /* about a sample: what depends on one may be asked */
	bool starts_or_stops; /* only args() may be asked */
};

struct dlfilters {
	VEC(struct dlfilter *)
	filters; /* in the order given: all are asked, up to the first that refuses */
	bool has_early, has_late;
	/* Called around calls into a filter, which may write to stdout: NULL or what puts output in its order. */
	void (*before)(void *ctx), (*after)(void *ctx);
	void *order_ctx;
};

/*
 * lines: "dlfilter=FILE\n" and "dlarg=ARG\n" in the order given: arguments are those of the filter before them, the first
 * ones of the first. only_last: perf's way, the last filter alone is loaded and gets all arguments.
 */
int dlfilters_load(struct dlfilters *l, const char *lines, bool only_last,
		   const struct dlf_fns *fns, void *ctx);
int dlfilters_start(struct dlfilters *l);
/* 1 keep, 0 leave out, -ECANCELED: a filter ended the run. */
int dlfilters_ask(struct dlfilters *l, bool early, const struct dlf_sample *sample);
void dlfilters_done(struct dlfilters *l);

#endif
