/* SPDX-License-Identifier: MIT */
#include "record/sampling.h"

#include <string.h>

#include "base/err.h"
#include "capture/counters.h"
#include "record/values.h"

enum { DEFAULT_HZ = 4000 };

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

static bool is_software(const struct capture_event *e, uint64_t config)
{
	return e->attr.type == PERF_TYPE_SOFTWARE && e->attr.config == config;
}

/* One of the events carries the records of state. */
static void track(struct perf_event_attr *a)
{
	a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = 1;
	a->ksymbol = a->bpf_event = 1;
}

static void configure(struct capture_event *e, const struct sampling *s, uint64_t freq_hz)
{
	struct perf_event_attr *a = &e->attr;

	/* IDENTIFIER everywhere: a file with mixed attrs decodes without guessing, and time lies at one place. */
	a->sample_type =
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	a->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	a->disabled = a->sample_id_all = 1;
	a->inherit = s->inherit;
	if (e->system || is_software(e, PERF_COUNT_SW_BPF_OUTPUT)) {
		a->sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
		a->sample_period = 1;
	}
	if (s->period) {
		a->sample_period = s->period;
	} else if (s->freq_hz || !a->sample_period) {
		a->freq = 1;
		a->sample_freq = freq_hz;
		a->sample_type |= PERF_SAMPLE_PERIOD;
	}
	if (s->callchain) {
		a->sample_type |= PERF_SAMPLE_CALLCHAIN;
		a->exclude_callchain_user = s->opts->kernel_callchains;
		a->exclude_callchain_kernel = s->opts->user_callchains;
	}
	if (s->system_wide)
		a->sample_type |= PERF_SAMPLE_CPU;
	a->enable_on_exec = s->enable_on_exec;
}

int sampling_parse(struct sampling *ret, const struct record_options *opts)
{
	struct sampling s = { .opts = opts };

	if (opts->count && opts->freq)
		return err_set(-EBADR, "-c and -F exclude each other");
	if (opts->kernel_callchains && opts->user_callchains)
		return err_set(-EBADR, "--kernel-callchains excludes --user-callchains");
	if (opts->count)
		TRY(record_value_number("-c", opts->count, 0, UINT64_MAX, &s.period));
	if (opts->freq && !strcmp(opts->freq, "max"))
		s.freq_hz = UINT64_MAX;
	else if (opts->freq)
		TRY(record_value_number("-F", opts->freq, 1, UINT64_MAX - 1, &s.freq_hz));
	if (opts->call_graph && *opts->call_graph && strcmp(opts->call_graph, "fp"))
		return err_set(-EBADR, "--call-graph %s is not taken: fp is", opts->call_graph);
	s.callchain = opts->call_graph != NULL;
	*ret = s;
	return 0;
}

int sampling_configure(struct capture_events *events, const struct sampling *s,
		       const struct say *say_to)
{
	const uint64_t limit = (uint64_t)kernel_setting("perf_event_max_sample_rate", 100000);
	uint64_t freq_hz = s->freq_hz ? s->freq_hz : DEFAULT_HZ;
	size_t tracking = 0;

	if (freq_hz == UINT64_MAX) {
		say(say_to, SAY_NORMAL,
		    "taking %llu samples a second, as many as kernel.perf_event_max_sample_rate "
		    "allows",
		    (unsigned long long)limit);
		freq_hz = limit;
	} else if (freq_hz > limit) {
		say(say_to, SAY_WARNING,
		    "at most %llu samples a second are allowed "
		    "(kernel.perf_event_max_sample_rate): taking that instead of %llu",
		    (unsigned long long)limit, (unsigned long long)freq_hz);
		freq_hz = limit;
	}
	if (s->system_wide && !is_software(&events->list.v[0], PERF_COUNT_SW_DUMMY)) {
		TRY(capture_events_add_dummy(events));
		tracking = events->list.n - 1;
	}
	for (size_t i = 0; i < events->list.n; i++)
		configure(&events->list.v[i], s, freq_hz);
	track(&events->list.v[tracking].attr);
	/* Processes born while the running ones are being described must not be missed. */
	if (s->system_wide)
		events->list.v[tracking].attr.disabled = 0;
	return 0;
}

size_t sampling_trailer_bytes(const struct perf_event_attr *a)
{
	const uint64_t words = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	return a->sample_id_all ? 8 * (size_t)__builtin_popcountll(a->sample_type & words) : 0;
}
