/* SPDX-License-Identifier: MIT */
/* How events are sampled: what perf record writes into the attrs for the same options. */
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

/* Call chains: how the part of user space is found. */
enum callchain_mode { CALLCHAIN_NONE, CALLCHAIN_FP, CALLCHAIN_DWARF, CALLCHAIN_LBR };

struct callchain {
	enum callchain_mode mode;
	uint16_t max_frames;  /* 0: what the kernel allows */
	uint32_t stack_bytes; /* of DWARF */
};

/* Targets and when they are recorded decide the flags, after sampling_parse(). */
struct sampling {
	bool system_wide;    /* a dummy event carries comm, fork, mmap */
	bool has_cpus;       /* whole cpus, or some of them: samples tell the cpu */
	bool per_thread;     /* no buffer of a cpu: times only when asked for */
	bool inherit;        /* children are recorded, too */
	bool workload;       /* a command alone is recorded */
	bool is_switched;    /* events go on and off (-D, --control): a dummy event stays on */
	bool enable_on_exec; /* events begin with the command */
	struct callchain callchain;
	bool has_data; /* addresses of data, and what is mapped there */
	struct capture_clock clock;
	uint64_t period; /* 0: by frequency */
	uint64_t
		freq_hz; /* 0: 4000, for events that have no period of their own; UINT64_MAX: what is allowed */
	uint64_t intr_regs, user_regs;      /* masks */
	uint64_t branches;                  /* PERF_SAMPLE_BRANCH_*, 0 none */
	const struct capture_options *opts; /* lent */
};

/* Settings about samples, parsed: what can be said before targets are known. */
int sampling_parse(struct sampling *ret, const struct capture_options *opts, const struct say *say);
/* "any_call,u" as bits. */
int sampling_parse_branches(const char *option, const char *text, uint64_t *ret);
/* The most that the kernel takes of a stack: so many that 16 bits hold it, in words of 8. */
enum { SAMPLING_STACK_BYTES_MAX = UINT16_MAX & ~7 };

/* "fp", "fp,32", "dwarf", "dwarf,4096", "lbr"; "" is fp. option: for messages. */
int sampling_parse_callchain(struct callchain *ret, const char *option, const char *text);

/* Completes the attrs; may append the dummy event. Frequencies above the kernel's limit are lowered aloud. */
int sampling_configure(struct capture_events *events, const struct sampling *s,
		       const struct say *say);
/* What the text of one event says beside the options. */
int sampling_obey_terms(struct capture_event *e, const struct sampling *s, const struct say *say);
/* What members of groups share, when each is configured for itself. */
void sampling_join_groups(struct capture_events *events);
/* One event's call chains. */
void sampling_set_callchain(struct capture_event *e, const struct callchain *c,
			    const struct sampling *s, const struct say *say);

/* Bytes of the sample_id trailer that records of this attr carry. */
size_t sampling_trailer_bytes(const struct perf_event_attr *a);

#endif
