/* SPDX-License-Identifier: MIT */
/* How events are sampled: what perf record writes into the attrs for the same options. */
#ifndef SONDE_RECORD_SAMPLING_H
#define SONDE_RECORD_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/events.h"
#include "capture/say.h"
#include "record/options.h"

struct sampling {
	bool system_wide; /* whole cpus: samples tell the cpu; a dummy event carries comm, fork, mmap */
	bool inherit;     /* children are recorded, too */
	bool enable_on_exec; /* a workload alone is recorded */
	bool callchain;
	uint64_t period; /* 0: by frequency */
	uint64_t
		freq_hz; /* 0: 4000, for events that have no period of their own; UINT64_MAX: what is allowed */
	const struct record_options *opts;
};

/* Settings about samples, parsed: what can be said before targets are known. */
int sampling_parse(struct sampling *ret, const struct record_options *opts);
/* Completes the attrs; may append the dummy event. Frequencies above the kernel's limit are lowered aloud. */
int sampling_configure(struct capture_events *events, const struct sampling *s,
		       const struct say *say);

/* Bytes of the sample_id trailer that records of this attr carry. */
size_t sampling_trailer_bytes(const struct perf_event_attr *a);

#endif
