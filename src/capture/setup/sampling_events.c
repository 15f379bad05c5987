/* SPDX-License-Identifier: MIT */
/*
 * How -e sets the sampling of single events, in addition to the options for all: terms and groups.
 */

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "capture/limits.h"
#include "capture/setup/sampling.h"

/* ---- terms ----------------------------------------------------------------------------------- */

static void sampling_clear_callchain(struct perf_event_attr *a)
{
	a->sample_type &= ~(uint64_t)(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
				      PERF_SAMPLE_STACK_USER | PERF_SAMPLE_BRANCH_STACK);
	a->sample_max_stack = 0;
	a->sample_regs_user = 0;
	a->sample_stack_user = 0;
	a->branch_sample_type = 0;
	a->exclude_callchain_user = a->exclude_callchain_kernel = 0;
}

/*
 * Applies the terms: call-graph= decides; max-stack= alone means fp; stack-size= alone changes the
 * size of the option's dwarf.
 */
static int sampling_choose_callchain(const struct capture_event *e, struct callchain *ret)
{
	const struct event_terms *t = &e->terms;
	const long max_frames = kernel_setting("perf_event_max_stack", 127);
	char option[300];

	snprintf(option, sizeof(option), "event '%.250s': call-graph=", e->name);
	if (t->call_graph && !strcmp(t->call_graph, "no"))
		*ret = (struct callchain){ .mode = CALLCHAIN_NONE };
	else if (t->call_graph)
		TRY(sampling_parse_callchain(ret, option, t->call_graph));
	else if (t->max_frames)
		*ret = (struct callchain){ .mode = CALLCHAIN_FP };
	if (t->max_frames > (uint64_t)max_frames)
		return err_set(-EBADR,
			       "event '%s': max-stack is at most %ld here "
			       "(kernel.perf_event_max_stack)",
			       e->name, max_frames);
	if (t->stack_bytes > SAMPLING_STACK_BYTES_MAX)
		return err_set(-EBADR, "event '%s': stack-size is at most %d bytes", e->name,
			       SAMPLING_STACK_BYTES_MAX);
	if (t->max_frames)
		ret->max_frames = (uint16_t)t->max_frames;
	if (t->stack_bytes)
		ret->stack_bytes = (uint32_t)(t->stack_bytes + 7) & ~7u;
	return 0;
}

static int sampling_obey_callchain(struct capture_event *e, const struct sampling *s,
				   const struct say *to)
{
	const struct event_terms *t = &e->terms;
	struct callchain c = s->callchain;

	if (!t->call_graph && !t->max_frames && !t->stack_bytes)
		return 0;
	TRY(sampling_choose_callchain(e, &c));
	if (s->callchain.mode != CALLCHAIN_NONE)
		sampling_clear_callchain(&e->attr);
	if (c.mode == CALLCHAIN_DWARF)
		e->attr.sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
	sampling_set_callchain(e, &c, s, to);
	return 0;
}

static int sampling_obey_branches(struct capture_event *e)
{
	struct perf_event_attr *a = &e->attr;
	char option[300];
	uint64_t mask;

	if (!e->terms.branch_type)
		return 0;
	if (!strcmp(e->terms.branch_type, "no")) {
		a->sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
		return 0;
	}
	snprintf(option, sizeof(option), "event '%.250s': branch_type=", e->name);
	TRY(sampling_parse_branches(option, e->terms.branch_type, &mask));
	a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	a->branch_sample_type = mask;
	return 0;
}

int sampling_obey_terms(struct capture_event *e, const struct sampling *s, const struct say *to)
{
	const struct event_terms *t = &e->terms;
	struct perf_event_attr *a = &e->attr;

	if (t->rate != RATE_UNSAID) {
		a->freq = t->rate == RATE_FREQ;
		a->sample_period = t->rate_value;
		a->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
		a->sample_type |= a->freq ? PERF_SAMPLE_PERIOD : 0;
	}
	if (t->time != TERM_UNSAID)
		a->sample_type &= ~(uint64_t)PERF_SAMPLE_TIME;
	if (t->time == TERM_YES)
		a->sample_type |= PERF_SAMPLE_TIME;
	if (t->inherit != TERM_UNSAID)
		a->inherit = t->inherit == TERM_YES;
	if (t->overwrite != TERM_UNSAID && (t->overwrite == TERM_YES) != s->opts->overwrite)
		return err_set(
			-EBADR,
			"event '%s': either all events of a recording are overwritten or none: %s",
			e->name,
			s->opts->overwrite ? "leave out --overwrite" : "the option --overwrite");
	TRY(sampling_obey_callchain(e, s, to));
	return sampling_obey_branches(e);
}

/* ---- groups ---------------------------------------------------------------------------------- */

/*
 * A group starts and ends with its leader. With S only the leader samples. Its samples contain the
 * counts of all members, so that readers make one event of each. Members then have the leader's
 * sample_type.
 */
static void sampling_join_group(struct capture_event *e, const struct capture_event *leader,
				bool is_alone)
{
	struct perf_event_attr *a = &e->attr;

	if (e != leader)
		a->disabled = a->enable_on_exec = 0;
	if (!leader->sample_read)
		return;
	a->sample_type |= PERF_SAMPLE_READ;
	if (is_alone)
		return;
	a->read_format |= PERF_FORMAT_GROUP;
	/* the kernel does not add children's counts up in a group */
	if (e->terms.inherit == TERM_UNSAID)
		a->inherit = 0;
	if (e == leader)
		return;
	if (e->terms.rate == RATE_UNSAID) {
		a->freq = 0;
		a->sample_period = 0;
	}
	a->sample_type = leader->attr.sample_type;
}

void sampling_join_groups(struct capture_events *events)
{
	/* a leader precedes its members */
	vec_foreach(e, &events->list)
		sampling_join_group(e, &events->list.v[e->leader],
				    capture_events_members(events, e->leader) == 1);
}
