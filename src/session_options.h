/* SPDX-License-Identifier: MIT */
/* The text form of a session (the keys are in sonde.h): parsed into this struct, printed from it. */
#ifndef SONDE_SESSION_OPTIONS_H
#define SONDE_SESSION_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "clock.h"

/* Each costs descriptors and windows. */
enum { SESSION_MAX_INPUTS = 256 };

enum session_header { HEADER_NONE, HEADER_WITH, HEADER_ONLY, HEADER_ALL };

struct session_options {
	/* Text: owned, NULL when not given. */
	char *input;  /* of several inputs the first; under compat the last and only one */
	char *inputs; /* lines of keys input and offset, in order; NULL: input alone */
	char *offset; /* what is added to the times of that input; NULL: nothing was said */
	char *time, *cpu, *pid, *tid, *comm, *symbols, *dsos, *switch_on, *switch_off;
	char *symfs, *kallsyms, *vmlinux, *buildid_dir;
	char *fields, *stop_bt, *dlfilters, *evlist;
	char *event;          /* names of those that are wanted */
	char *output, *every; /* of format=perfdata */
	char *max_unpacked;   /* a size */
	char *itrace;         /* "" by itself: as its decoder likes */
	char *graph_function; /* of a trace of calls; none is decoded, so nothing is in it */
	/* Numbers; UINT64_MAX when not given. */
	uint64_t addr_range, max_stack, max_blocks;
	uint64_t window_bytes;
	unsigned nr_inputs;
	/* Words: places in their lists. */
	uint32_t compat;   /* enum sonde_compat */
	uint32_t events;   /* 0 samples, 1 all */
	uint32_t header;   /* enum session_header */
	uint32_t color;    /* 0 never, 1 always */
	uint32_t format;   /* place in sink_names */
	uint32_t clock;    /* enum clock_shown */
	uint32_t terminal; /* flag: a pager shows on one what is written */
	uint32_t progress; /* flag: a line on the terminal of stderr says how far the reading is */
	/* Flags: 0 or 1. */
	uint32_t no_follow; /* flag: no file that the recording names is opened */
	uint32_t callchain, force, kernel_formats, show_on_off_events;
	uint32_t demangle, demangle_kernel, show_kernel_path, inline_frames, full_source_path;
	uint32_t ns, reltime, deltatime, latency, per_event_dump, dump, unsorted, header_info, hits,
		no_events;
	uint32_t show_task, show_mmap, show_switch, show_namespace, show_cgroup, show_lost,
		show_round, show_bpf, show_text_poke;
};

/* Times count from the first sample, in text and in time= alike. */
static inline bool session_counts_from_first(const struct session_options *o)
{
	return o->reltime || o->clock == CLOCK_SHOWN_RELATIVE;
}

/* "1.5", "-0.000000001", "+3"; -EINVAL with a message. */
int session_options_offset(const char *text, int64_t *ret_ns);
/* Leaves the i-th input alone, with what belongs to it. -ENOMEM only. */
int session_options_choose(struct session_options *o, unsigned i);

/* origin: where the text came from, for messages; NULL = "session". ret is filled only on success. */
int session_options_parse(struct session_options *ret, const char *text, const char *origin);
void session_options_print(const struct session_options *o, struct outbuf *out);
void session_options_done(struct session_options *o);

#endif
