/* SPDX-License-Identifier: MIT */
/*
 * The text form of a session (the keys are in sonde.h): parsed into this struct, printed from it.
 * The keys of a sink fill that sink's own struct, whichever sink is chosen.
 */
#ifndef SONDE_SESSION_OPTIONS_H
#define SONDE_SESSION_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/keys.h"
#include "base/outbuf.h"
#include "recording/timeline.h"
#include "sinks/sink.h"

/* Each costs descriptors and windows. */
enum { SESSION_MAX_INPUTS = 256 };

struct session_options {
	/* Text: owned, NULL when not given. */
	char *input;  /* of several inputs the first; by perf's rule the last and only one */
	char *inputs; /* lines of keys input and offset, in order; NULL: input alone */
	char *time, *cpu, *pid, *tid, *comm, *symbols, *dsos, *switch_on, *switch_off;
	char *symfs, *kallsyms, *vmlinux, *buildid_dir;
	char *stop_bt, *dlfilters;
	char *event;          /* names of those that are wanted */
	char *max_unpacked;   /* a size */
	char *itrace;         /* "" by itself: as its decoder likes */
	char *graph_function; /* of a trace of calls; none is decoded, so nothing is in it */
	/* Numbers; UINT64_MAX when not given. */
	uint64_t addr_range, max_stack;
	uint64_t window_bytes;
	uint64_t threads; /* 0: as many as pay; UINT64_MAX not given: as SONDE_THREADS says */
	unsigned nr_inputs;
	const struct rules *rules; /* those of compat */
	/* Words: places in their lists. */
	uint32_t compat;   /* place in rules_versions */
	uint32_t events;   /* 0 samples, 1 all */
	uint32_t format;   /* place in sink_names */
	uint32_t clock;    /* enum clock_shown */
	uint32_t terminal; /* flag: a pager shows on one what is written */
	uint32_t progress; /* flag: a line on the terminal of stderr says how far the reading is */
	/* Flags: 0 or 1. */
	uint32_t no_follow; /* flag: no file that the recording names is opened */
	uint32_t callchain, force, kernel_formats, show_on_off_events;
	uint32_t demangle, demangle_kernel, show_kernel_path, inline_frames;
	uint32_t reltime, unsorted;
	struct key_set sinks[NR_SINKS]; /* the sinks' own options, owned; in the order of sinks[] */
};

/* Times count from the first sample, both in text and in time=. */
static inline bool session_counts_from_first(const struct session_options *o)
{
	return o->reltime || o->clock == CLOCK_SHOWN_RELATIVE;
}

/*
 * The i-th input and what is to be added to its times, NULL nothing. Both are the caller's. -ENOMEM
 * only.
 */
int session_options_input(const struct session_options *o, unsigned i, char **ret_path,
			  char **ret_offset);

/*
 * origin: where the text came from, for messages; NULL = "session". ret is filled only on success.
 */
int session_options_parse(struct session_options *ret, const char *text, const char *origin);
void session_options_print(const struct session_options *o, struct outbuf *out);
/*
 * What a sink gets to know of them; fd, recordings and filters are left to the caller. Borrowed as
 * long as o.
 */
struct sink_options session_options_of_sink(const struct session_options *o,
					    const struct sink_ops *sink);
void session_options_done(struct session_options *o);

#endif
