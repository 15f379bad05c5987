/* SPDX-License-Identifier: MIT */
#include "capture/setup/sampling.h"

#include <string.h>

#include "base/err.h"
#include "capture/counters.h"
#include "capture/limits.h"
#include "formats/perfdata/attr.h"
#include "capture/setup/registers.h"

enum { DEFAULT_HZ = 4000 };

static bool sampling_is_software(const struct capture_event *e, uint64_t config)
{
	return e->attr.type == PERF_TYPE_SOFTWARE && e->attr.config == config;
}

/*
 * True for events on every call of a kernel function: the kernel does not walk user stacks there.
 */
static bool sampling_is_function(const struct capture_event *e)
{
	return e->system && !strcmp(e->system, "ftrace") && !strcmp(e->event, "function");
}

/* Makes one event carry the state records. */
static void sampling_track(struct perf_event_attr *a, const struct sampling *s)
{
	a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = 1;
	a->ksymbol = 1;
	a->bpf_event = !s->opts->no_bpf_event;
	a->mmap_data = s->has_data || a->sample_type & PERF_SAMPLE_STACK_USER;
	a->build_id = s->opts->buildid_mmap;
	a->namespaces = s->opts->namespaces;
	a->cgroup = s->opts->all_cgroups;
	a->context_switch = s->opts->switch_events;
}

/* ---- one event ------------------------------------------------------------------------------- */

static void sampling_set_period(struct perf_event_attr *a, const struct sampling *s,
				uint64_t freq_hz)
{
	if (s->period) {
		a->sample_period = s->period;
	} else if (s->freq_hz || !a->sample_period) {
		a->freq = 1;
		a->sample_freq = freq_hz;
		a->sample_type |= PERF_SAMPLE_PERIOD;
	}
	if (s->opts->no_samples)
		a->sample_freq = 0;
}

static void sampling_set_dwarf(struct capture_event *e, const struct callchain *c,
			       const struct sampling *s, const struct say *to)
{
	struct perf_event_attr *a = &e->attr;

	a->exclude_callchain_user = 1;
	if (sampling_is_function(e)) {
		say(to, SAY_WARNING,
		    "%s: the kernel records no user stacks there: taking fp instead", e->name);
		return;
	}
	a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	a->sample_regs_user |= s->user_regs ? capture_registers_least() : capture_registers_all();
	a->sample_stack_user = c->stack_bytes;
}

static void sampling_set_lbr(struct capture_event *e, const struct say *to)
{
	struct perf_event_attr *a = &e->attr;

	if (a->exclude_user) {
		say(to, SAY_WARNING,
		    "%s: --call-graph lbr is for user space only: taking fp instead", e->name);
		return;
	}
	a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	a->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
				PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS |
				PERF_SAMPLE_BRANCH_HW_INDEX;
}

void sampling_set_callchain(struct capture_event *e, const struct callchain *c,
			    const struct sampling *s, const struct say *to)
{
	struct perf_event_attr *a = &e->attr;

	if (c->mode == CALLCHAIN_NONE)
		return;
	a->sample_type |= PERF_SAMPLE_CALLCHAIN;
	a->sample_max_stack = c->max_frames;
	a->exclude_callchain_user = s->opts->kernel_callchains || sampling_is_function(e);
	a->exclude_callchain_kernel = s->opts->user_callchains;
	if (c->mode == CALLCHAIN_DWARF)
		sampling_set_dwarf(e, c, s, to);
	else if (c->mode == CALLCHAIN_LBR)
		sampling_set_lbr(e, to);
}

/* Registers and branches. Dummy events never sample, so they get none. */
static void sampling_set_machine_state(struct capture_event *e, const struct sampling *s)
{
	struct perf_event_attr *a = &e->attr;

	if (capture_is_dummy(&e->attr)) {
		/* set by --call-graph lbr */
		a->sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type = 0;
		return;
	}
	if (s->intr_regs) {
		a->sample_type |= PERF_SAMPLE_REGS_INTR;
		a->sample_regs_intr = s->intr_regs;
	}
	if (s->user_regs) {
		a->sample_type |= PERF_SAMPLE_REGS_USER;
		a->sample_regs_user |= s->user_regs;
	}
	if (s->branches) {
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type = s->branches;
	}
}

static uint64_t sampling_sample_type(const struct sampling *s)
{
	const struct capture_options *o = s->opts;
	/* one buffer per thread needs no order between cpus */
	const bool has_time = o->timestamp != CAPTURE_NO &&
			      (o->timestamp == CAPTURE_YES || s->inherit || !s->per_thread);
	/*
	 * IDENTIFIER is always set: a file with mixed attrs is decoded without guessing, and the
	 * time has a fixed place.
	 */
	uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;

	type |= has_time ? PERF_SAMPLE_TIME : 0;
	type |= s->has_cpus || o->sample_cpu == CAPTURE_YES ? PERF_SAMPLE_CPU : 0;
	type |= s->has_data ? PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC : 0;
	type |= o->raw_samples ? PERF_SAMPLE_TIME | PERF_SAMPLE_RAW | PERF_SAMPLE_CPU : 0;
	type |= o->phys_data ? PERF_SAMPLE_PHYS_ADDR : 0;
	type |= o->data_page_size ? PERF_SAMPLE_DATA_PAGE_SIZE : 0;
	type |= o->code_page_size ? PERF_SAMPLE_CODE_PAGE_SIZE : 0;
	type |= o->weight ? PERF_SAMPLE_WEIGHT_STRUCT : 0;
	type |= o->transaction ? PERF_SAMPLE_TRANSACTION : 0;
	type |= o->all_cgroups ? PERF_SAMPLE_CGROUP : 0;
	return type;
}

static int sampling_configure_event(struct capture_event *e, const struct sampling *s,
				    uint64_t freq_hz, const struct say *to)
{
	struct perf_event_attr *a = &e->attr;
	const struct capture_options *o = s->opts;

	a->sample_type |= sampling_sample_type(s);
	a->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	if (o->stat || o->running_time)
		a->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	a->inherit_stat = o->stat;
	a->disabled = a->sample_id_all = 1;
	a->inherit = s->inherit;
	if (e->system || sampling_is_software(e, PERF_COUNT_SW_BPF_OUTPUT)) {
		a->sample_type |=
			PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
		a->sample_period = 1;
	}
	sampling_set_period(a, s, freq_hz);
	sampling_set_callchain(e, &s->callchain, s, to);
	sampling_set_machine_state(e, s);
	if (s->clock.is_chosen) {
		a->use_clockid = 1;
		a->clockid = s->clock.id;
	}
	a->enable_on_exec = s->enable_on_exec;
	if (o->no_buffering) {
		a->watermark = 0;
		a->wakeup_events = 1;
	}
	if (o->all_user || o->all_kernel) {
		a->exclude_kernel = o->all_user;
		a->exclude_user = o->all_kernel;
	}
	TRY(sampling_obey_terms(e, s, to));
	if (o->period == CAPTURE_YES)
		a->sample_type |= PERF_SAMPLE_PERIOD;
	else if (o->period == CAPTURE_NO)
		a->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	return 0;
}

/* ---- all events ------------------------------------------------------------------------------ */

static int sampling_allowed_hz(const struct sampling *s, const struct say *to, uint64_t *ret_hz)
{
	const uint64_t limit = (uint64_t)kernel_setting("perf_event_max_sample_rate", 100000);
	const uint64_t wanted = s->freq_hz ? s->freq_hz : DEFAULT_HZ;

	*ret_hz = wanted < limit ? wanted : limit;
	if (wanted == UINT64_MAX)
		say(to, SAY_NORMAL,
		    "recording %llu samples a second, as many as kernel.perf_event_max_sample_rate "
		    "allows",
		    (unsigned long long)limit);
	else if (wanted > limit && s->freq_hz && s->opts->strict_freq)
		return err_set(-EINVAL,
			       "-F %llu: kernel.perf_event_max_sample_rate allows %llu samples a "
			       "second, and --strict-freq does not accept fewer",
			       (unsigned long long)wanted, (unsigned long long)limit);
	else if (wanted > limit)
		say(to, SAY_WARNING,
		    "at most %llu samples a second are allowed "
		    "(kernel.perf_event_max_sample_rate): taking that instead of %llu",
		    (unsigned long long)limit, (unsigned long long)wanted);
	return 0;
}

/* The levels (u, k) are part of its name. */
static int sampling_rename_dummy(struct capture_events *events, struct capture_event *e)
{
	char name[96];

	perfdata_attr_name(&e->attr, name, sizeof(name));
	e->name = arena_strdup(&events->arena, name);
	return e->name ? 0 : err_nomem();
}

/*
 * True if any event is written to an overwriting ring: with --overwrite all events are, otherwise
 * the events with the term overwrite.
 */
static bool sampling_any_overwrites(const struct capture_events *events, const struct sampling *s)
{
	bool any = s->opts->overwrite;

	for (size_t i = 0; i < events->list.n; i++)
		any |= events->list.v[i].attr.write_backward;
	return any;
}

int sampling_configure(struct capture_events *events, const struct sampling *s,
		       const struct say *to)
{
	size_t tracking = 0;
	uint64_t freq_hz;

	TRY(sampling_allowed_hz(s, to, &freq_hz));
	/* Overwriting must not lose forks and earlier mappings. ftrace's buffers have none. */
	if ((s->system_wide || s->is_switched || sampling_any_overwrites(events, s) ||
	     events->list.v[0].in_ftrace) &&
	    !capture_is_dummy(&events->list.v[0].attr)) {
		TRY(capture_events_add_dummy(events));
		tracking = events->list.n - 1;
	}
	for (size_t i = 0; i < events->list.n; i++)
		TRY(sampling_configure_event(&events->list.v[i], s, freq_hz, to));
	for (size_t i = 0; i < events->list.n; i++)
		if (s->opts->overwrite && i != tracking)
			events->list.v[i].attr.write_backward = 1;
	if (s->opts->group)
		TRY(capture_events_group_all(events));
	sampling_join_groups(events);
	if (tracking)
		TRY(sampling_rename_dummy(events, &events->list.v[tracking]));
	sampling_track(&events->list.v[tracking].attr, s);
	/* Processes born while the running ones are being described must not be missed. */
	if (s->system_wide || (s->is_switched && !s->workload))
		events->list.v[tracking].attr.disabled = 0;
	else if (s->is_switched)
		events->list.v[tracking].attr.enable_on_exec = 1;
	return 0;
}

size_t sampling_trailer_bytes(const struct perf_event_attr *a)
{
	const uint64_t words = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	return a->sample_id_all ? 8 * (size_t)__builtin_popcountll(a->sample_type & words) : 0;
}
