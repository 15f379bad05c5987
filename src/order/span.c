/* SPDX-License-Identifier: MIT */
#include "order/span.h"

#include "base/err.h"
#include "order/window.h"

enum { SPAN_CUTS = 256 };

static void span_add_samples(struct time_span *span, const struct cut *cuts, int n)
{
	for (int i = 0; i < n; i++) {
		const uint64_t t = cuts[i].time_ns;

		if (!(cuts[i].flags & CUT_SAMPLE) || !t || t == SONDE_NO_TIME)
			continue;
		if (t < span->first_ns)
			span->first_ns = t;
		if (t > span->last_ns)
			span->last_ns = t;
	}
}

static int span_walk_file(struct source *source, unsigned file, const struct source_file *f,
			  size_t window_bytes, struct time_span *span)
{
	struct window w = { 0 };
	struct unit unit = { 0 };
	uint64_t off = f->begin;
	int r = 0;

	while (off < f->end) {
		struct cut cuts[SPAN_CUTS];
		uint64_t used = 0;
		size_t need = 0;
		int64_t got;
		int n = 0;

		if (off >= w.file_off && off < w.file_off + w.len) {
			size_t at = off - w.file_off;

			n = source->ops->cut(source, file, &unit, w.data + at, w.len - at, off,
					     cuts, SPAN_CUTS, &used, &need);
			if (n < 0)
				break; /* damaged: earlier records still count */
			r = source_take_headers(source, cuts, n);
			if (r < 0)
				break;
			off += used;
			span_add_samples(span, cuts, n);
			if (n || used)
				continue;
		}
		got = window_read(&w, f, off, f->end, need > window_bytes ? need : window_bytes,
				  need);
		if (got < 0)
			r = (int)got;
		if (got <= 0 || (size_t)got < need)
			break;
	}
	window_done(&w);
	return r;
}

int order_span_find(struct source *source, size_t window_bytes, struct time_span *ret)
{
	struct time_span span = { .first_ns = UINT64_MAX };
	struct source_file f;

	for (unsigned i = 0; source->ops->file(source, i, &f); i++)
		TRY(span_walk_file(source, i, &f, window_bytes, &span));
	if (span.first_ns > span.last_ns)
		return err_set(-ETIME, "no sample of this recording has a time");
	*ret = span;
	return 0;
}
