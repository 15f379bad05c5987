/* SPDX-License-Identifier: MIT */
#include "capture/step_back.h"

#include <errno.h>
#include <string.h>

#include "capture/limits.h"
#include "capture/rights.h"
#include "formats/perfdata/attr.h"

/* "cpu-clock" with the modifier letters that perf derives from the attr. */
static const char *step_back_clock_name(struct capture_events *events,
					const struct perf_event_attr *a)
{
	char name[96];

	perfdata_attr_name(a, name, sizeof(name));
	return arena_strdup(&events->arena, name);
}

/* "name" with the modifier u, owned by the list; NULL if out of memory. */
static const char *step_back_name_user(struct capture_events *events, const char *name)
{
	return capture_events_join(events, name, strchr(name, ':') ? "" : ":", "u");
}

static bool step_back_is_cycles(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_HARDWARE && a->config == PERF_COUNT_HW_CPU_CYCLES;
}

/*
 * Tracepoints are in the kernel. System calls are recorded with their caller's registers, so they
 * count as user space.
 */
static bool step_back_happens_in_user_space(const struct capture_event *e)
{
	return e->attr.type != PERF_TYPE_TRACEPOINT ||
	       (e->system && !strcmp(e->system, "syscalls"));
}

/* ---- steps ----------------------------------------------------------------------------------- */

static bool step_back_raise_files(struct steps_back *s, const struct refused_event *r,
				  const struct say *to)
{
	if (s->no_file_limit)
		return false;
	s->no_file_limit = true;
	return raise_file_limit();
}

/* Drivers without support for levels and guests refuse an attr that excludes any. */
static bool step_back_include_guests(struct steps_back *s, const struct refused_event *r,
				     const struct say *to)
{
	if (!r->event->source || !r->event->attr.exclude_guest || r->event->chose_guest)
		return false;
	r->event->attr.exclude_guest = 0;
	return true;
}

static void step_back_drop_lost(struct perf_event_attr *a)
{
	a->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
}

/* Uses the single-number weight, which older kernels support. */
static void step_back_drop_weights(struct perf_event_attr *a)
{
	if (a->sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
		a->sample_type ^= PERF_SAMPLE_WEIGHT_TYPE;
}

static void step_back_drop_bpf_event(struct perf_event_attr *a)
{
	a->bpf_event = 0;
}

static void step_back_drop_ksymbol(struct perf_event_attr *a)
{
	a->ksymbol = 0;
}

static void step_back_drop_guests(struct perf_event_attr *a)
{
	a->exclude_guest = a->exclude_host = 0;
}

/*
 * Features of newer kernels, newest first; dropped one by one until an older kernel accepts the
 * attr.
 */
static bool step_back_drop_newest(struct steps_back *s, const struct refused_event *r,
				  const struct say *to)
{
	static const struct {
		const char *name;
		void (*drop)(struct perf_event_attr *a);
	} features[] = {
		{ "counts of what is lost", step_back_drop_lost },
		{ "weights in parts", step_back_drop_weights },
		{ "records of BPF programs", step_back_drop_bpf_event },
		{ "records of kernel symbols", step_back_drop_ksymbol },
		{ "leaving out guests", step_back_drop_guests },
	};

	if (r->any_open || s->dropped == sizeof(features) / sizeof(*features))
		return false;
	say(to, SAY_VERBOSE, "the kernel refuses the event as it is: trying without %s",
	    features[s->dropped].name);
	vec_foreach(e, &r->events->list)
		features[s->dropped].drop(&e->attr);
	s->dropped++;
	return true;
}

static bool step_back_less_precise(struct steps_back *s, const struct refused_event *r,
				   const struct say *to)
{
	struct perf_event_attr *a = &r->event->attr;

	if (!a->precise_ip || a->type == PERF_TYPE_SOFTWARE)
		return false;
	a->precise_ip--;
	return true;
}

static bool step_back_clock_for_cycles(struct steps_back *s, const struct refused_event *r,
				       const struct say *to)
{
	struct capture_event *e = r->event;

	if (!step_back_is_cycles(&e->attr))
		return false;
	e->attr.type = PERF_TYPE_SOFTWARE;
	e->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	e->name = step_back_clock_name(r->events, &e->attr);
	say(to, SAY_WARNING,
	    "this machine cannot count cycles (often a virtual machine): recording %s instead",
	    e->name);
	return e->name != NULL;
}

static bool step_back_user_space_only(struct steps_back *s, const struct refused_event *r,
				      const struct say *to)
{
	struct capture_event *e = r->event;
	struct perf_event_attr *a = &e->attr;

	if (a->exclude_kernel || a->exclude_user || e->chose_levels ||
	    !step_back_happens_in_user_space(e) || !rights_user_space(a, r->tid, r->cpu))
		return false;
	a->exclude_kernel = 1;
	a->exclude_hv = !e->is_default; /* as in perf */
	/* events on the way from user space are still recorded */
	if (a->type == PERF_TYPE_TRACEPOINT)
		return true;
	e->name =
		a->type == PERF_TYPE_SOFTWARE && !strncmp(e->name, "cpu-clock", 9) && e->is_default
			? step_back_clock_name(r->events, a)
			: step_back_name_user(r->events, e->name);
	if (e->name && !capture_is_dummy(a))
		say(to, SAY_WARNING, "kernel.perf_event_paranoid is %ld: user space only (%s)",
		    kernel_setting("perf_event_paranoid", 2), e->name);
	return e->name != NULL;
}

/* ---- choosing a step ------------------------------------------------------------------------- */

struct step {
	int error;
	bool (*take)(struct steps_back *s, const struct refused_event *r, const struct say *say);
};

static bool step_back_by(const struct step *steps, size_t nr, struct steps_back *s,
			 const struct refused_event *r, const struct say *to)
{
	for (size_t i = 0; i < nr; i++)
		if (steps[i].error == r->error && steps[i].take(s, r, to))
			return true;
	return false;
}

bool step_back(struct steps_back *s, const struct refused_event *r, const struct say *to)
{
	static const struct step steps[] = {
		{ EMFILE, step_back_raise_files },      { EINVAL, step_back_include_guests },
		{ EINVAL, step_back_drop_newest },      { EOPNOTSUPP, step_back_less_precise },
		{ ENOENT, step_back_clock_for_cycles }, { ENXIO, step_back_clock_for_cycles },
		{ ENODEV, step_back_clock_for_cycles }, { EACCES, step_back_user_space_only },
		{ EPERM, step_back_user_space_only },
	};

	return step_back_by(steps, sizeof(steps) / sizeof(*steps), s, r, to);
}

bool step_back_for_counts(struct steps_back *s, const struct refused_event *r, const struct say *to)
{
	static const struct step steps[] = {
		{ EMFILE, step_back_raise_files },
		{ EINVAL, step_back_include_guests },
		{ EACCES, step_back_user_space_only },
		{ EPERM, step_back_user_space_only },
	};

	return step_back_by(steps, sizeof(steps) / sizeof(*steps), s, r, to);
}
