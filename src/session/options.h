/* SPDX-License-Identifier: MIT */
/*
 * The text form of a session (the keys are in sonde.h) is parsed into this struct and printed from
 * it. The keys of a sink fill that sink's own struct, even if another sink is chosen.
 */
#ifndef SONDE_SESSION_OPTIONS_H
#define SONDE_SESSION_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/keys.h"
#include "base/outbuf.h"
#include "recording/timeline.h"
#include "sinks/sink.h"

/* Each input needs file descriptors and windows. */
enum { SESSION_MAX_INPUTS = 256 };

struct session_options {
	/* Text: owned; NULL if not given. */
	/* the first input; under perf's rule the last one, which is then the only one */
	char *input;
	char *inputs; /* lines of keys input and offset, in order; NULL if there is only input */
	char *time, *cpu, *pid, *tid, *comm, *where, *symbols, *dsos, *switch_on, *switch_off;
	char *symfs, *kallsyms, *vmlinux, *buildid_dir;
	char *tracefs; /* a copy of tracefs with descriptions of events */
	char *stop_bt, *dlfilters;
	char *event;          /* names of the wanted events */
	char *pairs;          /* lines of the key pair */
	char *max_unpacked;   /* a size */
	char *itrace;         /* "" if given without a value: the defaults of the decoder */
	char *graph_function; /* for traces of calls, which are not decoded: refuses all samples */
	/* Numbers; UINT64_MAX if not given. */
	uint64_t addr_range, max_stack;
	uint64_t window_bytes;
	uint64_t threads; /* 0: chosen by the input; UINT64_MAX: the value of SONDE_THREADS */
	unsigned nr_inputs;
	const struct rules *rules; /* the rules of compat */
	/* Words: indexes in their lists. */
	uint32_t compat;   /* index in rules_versions */
	uint32_t events;   /* 0 samples, 1 all */
	uint32_t format;   /* index in sink_names */
	uint32_t clock;    /* enum clock_shown */
	uint32_t terminal; /* flag: a pager shows the output on a terminal */
	/* flag: a line on the terminal of stderr shows the progress of reading */
	uint32_t progress;
	/* Flags: 0 or 1. */
	uint32_t no_follow; /* flag: files named by the recording are not opened */
	uint32_t callchain, force, kernel_formats, show_on_off_events;
	uint32_t demangle, demangle_kernel, show_kernel_path, inline_frames, stitch_lbr;
	uint32_t reltime, unsorted;
	struct key_set sinks[NR_SINKS]; /* the sinks' own options, owned; in the order of sinks[] */
};

/* Times count from the first sample, both in text and in time=. */
static inline bool session_counts_from_first(const struct session_options *o)
{
	return o->reltime || o->clock == CLOCK_SHOWN_RELATIVE;
}

/*
 * The i-th input, and the offset that is added to its times; NULL if there is none. The caller owns
 * both. Fails with -ENOMEM only.
 */
int session_options_input(const struct session_options *o, unsigned i, char **ret_path,
			  char **ret_offset);

/*
 * origin: the place of the text, for messages; NULL means "session". ret is filled only on success.
 */
int session_options_parse(struct session_options *ret, const char *text, const char *origin);
void session_options_print(const struct session_options *o, struct outbuf *out);
/*
 * The options for a sink. The caller sets fd, recordings and filters. Borrowed; valid as long as o.
 */
struct sink_options session_options_of_sink(const struct session_options *o,
					    const struct sink_ops *sink);
void session_options_done(struct session_options *o);

#endif
