/* SPDX-License-Identifier: MIT */
/* Sampling of events: produces the attrs that perf record writes for the same options. */
#ifndef SONDE_CAPTURE_SETUP_SAMPLING_H
#define SONDE_CAPTURE_SETUP_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "capture/counters.h"
#include "capture/events.h"
#include "capture/say.h"
#include "capture/setup/clock.h"
#include "capture/setup/options.h"

/* How the user-space part of a call chain is found. */
enum callchain_mode { CALLCHAIN_NONE, CALLCHAIN_FP, CALLCHAIN_DWARF, CALLCHAIN_LBR };

struct callchain {
	enum callchain_mode mode;
	uint16_t max_frames;  /* 0 means as many as the kernel allows */
	uint32_t stack_bytes; /* size of the copied stack, for DWARF */
};

/*
 * The flags depend on the targets and on the time of recording; they are set after
 * sampling_parse().
 */
struct sampling {
	bool system_wide; /* a dummy event carries comm, fork, mmap */
	bool has_cpus;    /* complete cpus, or some of them: samples contain the cpu */
	bool per_thread;  /* there are no per-cpu buffers: times are recorded only on request */
	bool inherit;     /* children are also recorded */
	bool workload;    /* only a command is recorded */
	/* events are switched on and off (-D, --control): a dummy event stays on */
	bool is_switched;
	bool enable_on_exec; /* events start with the command */
	struct callchain callchain;
	bool has_data; /* addresses of data, and mappings of data */
	struct capture_clock clock;
	uint64_t period; /* 0 means by frequency */
	/*
	 * 0 means 4000, for events without their own period; UINT64_MAX means the maximum allowed
	 */
	uint64_t freq_hz;
	uint64_t intr_regs, user_regs;      /* masks */
	uint64_t branches;                  /* PERF_SAMPLE_BRANCH_*, 0 if none */
	const struct capture_options *opts; /* borrowed */
};

/* Parses the settings about samples, as far as possible before targets are known. */
int sampling_parse(struct sampling *ret, const struct capture_options *opts, const struct say *say);
/* Parses "any_call,u" to bits. */
int sampling_parse_branches(const char *option, const char *text, uint64_t *ret);
/* The kernel's limit for a copied stack: the largest 16-bit number that is a multiple of 8. */
enum { SAMPLING_STACK_BYTES_MAX = UINT16_MAX & ~7 };

/* Parses "fp", "fp,32", "dwarf", "dwarf,4096", "lbr"; "" means fp. option: for messages. */
int sampling_parse_callchain(struct callchain *ret, const char *option, const char *text);

/*
 * Completes the attrs; may append the dummy event. Frequencies above the kernel's limit are lowered
 * and reported.
 */
int sampling_configure(struct capture_events *events, const struct sampling *s,
		       const struct say *say);
/* Applies the terms of one event, after the options. */
int sampling_obey_terms(struct capture_event *e, const struct sampling *s, const struct say *say);
/* Applies the settings that the members of a group share, after each event is configured. */
void sampling_join_groups(struct capture_events *events);
/* Sets one event's call chains. */
void sampling_set_callchain(struct capture_event *e, const struct callchain *c,
			    const struct sampling *s, const struct say *say);

/* The size of the sample_id trailer in records of this attr. */
size_t sampling_trailer_bytes(const struct perf_event_attr *a);

#endif
