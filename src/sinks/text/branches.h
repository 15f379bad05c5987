/* SPDX-License-Identifier: MIT */
/*
 * Branch stacks in text: brstack (addresses), brstacksym (symbols), brstackoff (offsets in files).
 */
#ifndef SONDE_SINKS_TEXT_BRANCHES_H
#define SONDE_SINKS_TEXT_BRANCHES_H

#include "base/outbuf.h"
#include "base/vec.h"
#include "compat/rules.h"
#include "model/event.h"

struct text_branches {
	const struct rules *rules;
	VEC(const char *)
	/* dsos whose symbols perf would have loaded by now; for branch_offsets_need_loaded */
	loaded;
};

void text_branches_done(struct text_branches *b);

/* `fields` are TEXT_*. Only the first of brstack, brstacksym and brstackoff in it is printed. */
void text_branches_put(struct text_branches *b, const struct event *ev,
		       const struct sonde_sample *sample, uint64_t fields, struct outbuf *out);

#endif
