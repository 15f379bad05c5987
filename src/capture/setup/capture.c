/* SPDX-License-Identifier: MIT */
#include "capture/setup/capture.h"

#include "base/err.h"
#include "capture/setup/buffers.h"
#include "capture/setup/self.h"

enum { STATE_PAGES = 512 };

int capture_parse(struct capture *c)
{
	if (c->opts->mmap_pages)
		TRY(buffers_parse(c->opts->mmap_pages, &c->say, &c->mmap_pages));
	TRY(sampling_parse(&c->sampling, c->opts, &c->say));
	if (c->opts->buildid_mmap && !counters_know_build_ids())
		return err_set(-EOPNOTSUPP,
			       "--buildid-mmap: this kernel reports no build ids with mappings "
			       "(Linux 5.12 and later do); leave the option out");
	return 0;
}

int capture_add_events(struct capture_events *l, const struct sonde_record_event *events, size_t nr)
{
	bool any = false;

	for (const struct sonde_record_event *e = events; e < events + nr; e++) {
		if (e->events) {
			TRY(capture_events_add(l, e->events));
			any = true;
		}
		if (e->filter)
			TRY(capture_events_filter(l, e->filter));
		if (e->trigger)
			TRY(capture_events_trigger(l, e->trigger));
		if (e->cgroup)
			TRY(capture_events_cgroups(l, "-G", e->cgroup));
	}
	TRY(capture_events_check_cgroups(l));
	return any;
}

int capture_name_events(struct capture *c, const struct sonde_record_event *events, size_t nr)
{
	const int any = capture_add_events(&c->events, events, nr);

	TRY(any);
	return any ? 0 : capture_events_add_default(&c->events);
}

int capture_find_target(struct capture *c, bool has_command)
{
	TRY(target_find(&c->target, c->opts, has_command, &c->say));
	capture_events_leave_out(&c->events, c->target.cpus.list.v, c->target.cpus.list.n);
	if (c->events.cgroups.n && !c->target.system_wide)
		return err_set(-EBADR,
			       "-G needs -a or -C: control groups are recorded on whole cpus, not "
			       "in a process");
	return 0;
}

int capture_configure(struct capture *c, const struct capture_steering *steering)
{
	const struct target *t = &c->target;

	c->sampling.system_wide = t->system_wide;
	c->sampling.workload = t->workload;
	c->sampling.enable_on_exec = t->workload && !steering->begins_off;
	c->sampling.is_switched = steering->is_switched;
	c->sampling.has_cpus = t->system_wide || t->chosen_cpus;
	c->sampling.per_thread = t->per_thread;
	c->sampling.inherit = !t->no_inherit;
	return sampling_configure(&c->events, &c->sampling, &c->say);
}

/* The events are in ftrace's buffers, so the rings get records of forks and the like. */
static bool capture_has_state_only(const struct capture *c)
{
	for (size_t i = 0; i < c->events.list.n; i++) {
		const struct capture_event *e = &c->events.list.v[i];

		if (!e->in_ftrace && !capture_is_dummy(&e->attr))
			return false;
	}
	return true;
}

int capture_open(struct capture *c, bool is_zipped)
{
	const struct target *t = &c->target;
	struct counters_target target = {
		.cpus = t->cpus.list.v,
		.nr_cpus = t->cpus.list.n,
		.tids = t->tids.v,
		.nr_tids = t->tids.n,
		.tids_may_vanish = t->by_pid,
		.per_thread = t->per_thread,
	};
	const size_t nr_rings = t->per_thread ? t->tids.n : t->cpus.list.n;
	size_t pages;

	c->counters.say = c->say;
	TRY(self_choose(&c->events, c->opts->exclude_self, t->system_wide, &c->say));
	TRY(buffers_choose(c->opts->mmap_pages, c->mmap_pages, nr_rings, &c->say, &pages));
	if (pages > STATE_PAGES && capture_has_state_only(c))
		pages = STATE_PAGES;
	target.wakeup_bytes = buffers_wakeup_bytes(pages, is_zipped);
	TRY(counters_open(&c->counters, &c->events, &target));
	target_watch(&c->target);
	return counters_map(&c->counters, pages, c->mmap_pages == 0);
}

int capture_filter(struct capture *c)
{
	TRY(self_add_filters(&c->events, c->opts->exclude_self, c->opts->reader, &c->say));
	return counters_filter(&c->counters, &c->events);
}

void capture_done(struct capture *c)
{
	counters_close(&c->counters);
	capture_events_done(&c->events);
	target_done(&c->target);
}
