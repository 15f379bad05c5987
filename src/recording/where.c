/* SPDX-License-Identifier: MIT */
#include "recording/where.h"

#include "base/err.h"
#include "recording/recording.h"
#include "recording/text.h"

static const char *where_comm(void *ctx)
{
	const struct event *ev = ctx;

	return strpool_text(&ev->recording->all->strings, ev->pub.comm);
}

static const char *where_string_at(void *ctx, uint64_t addr)
{
	const struct event *ev = ctx;

	return recording_printk(ev->recording, addr);
}

static int where_sample(void *ctx, struct sonde_sample *ret)
{
	const struct event *ev = ctx;
	const int r = source_sample(ev->source, ev, ret);

	if (r < 0)
		err_clear(); /* the record is damaged, and the source has counted it */
	return r;
}

bool recording_where_pass(const struct where_program *p, const struct event *ev)
{
	const struct where_input in = {
		.event = &ev->pub,
		.comm = where_comm,
		.string_at = where_string_at,
		.sample = where_sample,
		.ctx = (void *)ev,
	};

	return where_pass(p, &in);
}
