/* SPDX-License-Identifier: MIT */
/*
 * How events are transferred from the rings to the output: compressed or not (-z), by which thread
 * (--aio), and how much at once.
 */
#ifndef SONDE_RECORD_TRANSFER_H
#define SONDE_RECORD_TRANSFER_H

#include <stdint.h>

#include "base/outbuf.h"
#include "capture/counters.h"
#include "capture/say.h"
#include "record/drain/affinity.h"
#include "record/options.h"
#include "record/drain/outlet.h"
#include "capture/setup/target.h"
#include "record/drain/thread_plan.h"

struct transfer {
	int level;           /* of zstd; 0 if not compressed */
	bool padded;         /* compressed records have the new form */
	uint64_t aio_blocks; /* for each ring; 0 if events are written at once */
	uint64_t least_bytes;
	enum { AFFINITY_NONE, AFFINITY_NODE, AFFINITY_CPU } affinity;
	struct affinity places; /* cpus of each ring, for --affinity */
	/* Threads empty the rings, each ring into a separate file; the output is a directory. */
	bool has_threads;
	struct thread_plan threads;
};

/* Drops the settings that --threads excludes, and reports each. */
void transfer_exclude(struct record_options *opts, const struct say *say);
/* -EBADR: the settings are wrong. */
int transfer_parse(struct transfer *ret, const struct record_options *opts, const struct say *say);
/* Completes the settings that depend on the rings, once these are mapped. */
int transfer_settle(struct transfer *f, const struct record_options *opts, const struct counters *c,
		    const struct target *target, const struct say *say);
void transfer_done(struct transfer *f);
struct outlet_options transfer_outlet(const struct transfer *f, const struct counters *c,
				      bool is_pipe, bool is_live);
/* The body of FEAT_COMPRESSED; empty if nothing is compressed. */
void transfer_put_compressed(const struct transfer *f, uint32_t ratio, struct outbuf *to);

#endif
