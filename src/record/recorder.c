/* SPDX-License-Identifier: MIT */
/* From options to a recording that is ready to start: events, counters, output with everything known beforehand. */

#include "record/recorder.h"
#include "record/subject.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "record/drain/buffers.h"
#include "record/setup/self.h"
#include "record/setup/values.h"

/* ---- what to record ---------------------------------------------------------------------------------------------- */

static int parse_events(struct sonde_recorder *r, const struct sonde_record_options *o)
{
	bool any = false;

	for (size_t i = 0; i < o->nr_events; i++) {
		if (o->events[i].events) {
			TRY(capture_events_add(&r->events, o->events[i].events));
			any = true;
		}
		if (o->events[i].filter)
			TRY(capture_events_filter(&r->events, o->events[i].filter));
		if (o->events[i].cgroup)
			TRY(capture_events_cgroups(&r->events, o->events[i].cgroup));
	}
	TRY(capture_events_check_cgroups(&r->events));
	return any ? 0 : capture_events_add_default(&r->events);
}

/* The events and their buffers, all disabled (but for the one that tells of new processes). */
static int open_counters(struct sonde_recorder *r)
{
	const struct target *t = &r->target;
	struct counters_target target = { .cpus = t->cpus.list.v,
					  .nr_cpus = t->cpus.list.n,
					  .tids = t->tids.v,
					  .nr_tids = t->tids.n,
					  .tids_may_vanish = t->by_pid,
					  .per_thread = t->per_thread };
	size_t pages;

	TRY(buffers_choose(r->opts.mmap_pages, r->mmap_pages,
			   t->per_thread ? t->tids.n : t->cpus.list.n, &r->say, &pages));
	target.wakeup_bytes = buffers_wakeup_bytes(pages, r->flow.level > 0);
	TRY(counters_open(&r->counters, &r->events, &target));
	target_watch(&r->target);
	return counters_map(&r->counters, pages, r->mmap_pages == 0);
}

/* ---- the life of a recorder -------------------------------------------------------------------------------------- */

static int check_command(struct sonde_recorder *r, const struct sonde_record_options *o)
{
	r->command_name = strdup(o->command[0]);
	if (!r->command_name)
		return err_nomem();
	r->cannot_run = workload_check(o->command);
	if (!r->cannot_run)
		return 0;
	r->cannot_run_why = strdup(err_text());
	return r->cannot_run_why ? 0 : err_nomem();
}

/* Settings that are known and that no part of the recorder obeys. */
static int refuse(const struct record_options *o)
{
	if (o->kcore)
		return err_set(-EBADR,
			       "--kcore is not taken, because the file holds the kernel's symbols "
			       "itself; its code is not copied");
	return 0;
}

/* Who runs, what is mapped and what the kernel allows is told there. */
static int need_proc(void)
{
	if (access("/proc/self/stat", F_OK) == 0)
		return 0;
	return err_set(-ENOENT, "/proc is not mounted, without which processes and their mappings "
				"are unknown: as root, mount -t proc proc /proc");
}

/* What was asked for, before anything is opened. */
static int understand(struct sonde_recorder *r, const struct sonde_record_options *o)
{
	TRY(record_options_parse(&r->opts, o->settings));
	TRY(refuse(&r->opts));
	r->is_pipe = output_is_pipe(r->opts.output);
	if (r->opts.output && !*r->opts.output)
		return err_set(-EBADR, "-o needs the name of a file, or - for the standard output");
	TRY(need_proc());
	flow_exclude(&r->opts, &r->say);
	TRY(parts_parse(r));
	TRY(describing_parse(&r->describing, &r->opts));
	if (r->opts.mmap_pages)
		TRY(buffers_parse(r->opts.mmap_pages, &r->say, &r->mmap_pages));
	TRY(flow_parse(&r->flow, &r->opts, &r->say));
	TRY(sampling_parse(&r->sampling, &r->opts, &r->say));
	if (r->opts.buildid_mmap && !counters_know_build_ids())
		return err_set(
			-EOPNOTSUPP,
			"--buildid-mmap: this kernel tells no build ids with mappings (Linux "
			"5.12 and later do): leave the option out");
	TRY(delay_parse(&r->delay, r->opts.delay));
	TRY(control_parse(&r->control, r->opts.control));
	TRY(realtime_parse(&r->realtime, r->opts.realtime));
	if (r->delay.until_told && !r->control.is_given)
		say(&r->say, SAY_WARNING,
		    "-D -1 without --control: nobody can enable the events, none will be recorded");
	TRY(parse_events(r, o));
	TRY(target_find(&r->target, &r->opts, o->command != NULL, &r->say));
	if (r->events.cgroups.n && !r->target.system_wide)
		return err_set(-EBADR,
			       "-G needs -a or -C: control groups are recorded on whole cpus, not "
			       "in a process");
	return 0;
}

/* Whether the recorder's own events are recorded; the header's command line tells it. */
static int choose_self(struct sonde_recorder *r)
{
	const uint32_t choice = r->opts.exclude_self;

	TRY(self_choose(&r->events, choice, r->target.system_wide, &r->say));
	if (choice != RECORD_AUTO || !r->argv || !self_is_excluded(&r->events))
		return 0;
	r->own_argv = self_command_line(r->argv);
	if (!r->own_argv)
		return err_nomem();
	r->argv = r->own_argv;
	return 0;
}

/* Each ring goes to the thread of its cpu and into a file of its own. */
static int start_threads(struct sonde_recorder *r)
{
	const size_t n = r->counters.rings.list.n;
	struct drain_lane *lanes = calloc(n, sizeof(*lanes));
	int *fds = calloc(n + r->counters.list.n, sizeof(*fds)), e = 0;

	if (!lanes || !fds)
		e = err_nomem();
	if (e == 0) {
		drain_lanes_fill(&r->counters, &r->target.cpus, r->target.by_pid, lanes, fds);
		for (size_t i = 0; i < n; i++)
			lanes[i].outlet = r->file.lanes[i].outlet;
	}
	if (e == 0)
		e = drain_threads_new(&r->threads, &r->flow.threads, &r->drain, lanes, n,
				      r->wake_fd, parts_timeout(r, DRAIN_SLEEP_MS));
	free(lanes);
	free(fds);
	r->drain.nr_rings = 0;
	return e;
}

static int open_recorder(struct sonde_recorder *r, const struct sonde_record_options *o)
{
	/* looked at first: what is opened next may get its number */
	const bool has_stdout = fcntl(STDOUT_FILENO, F_GETFD) >= 0;

	r->argv = o->argv;
	r->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->give_up_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->wake_fd < 0 || r->give_up_fd < 0)
		return err_errno(errno, "cannot make an eventfd");
	TRY(understand(r, o));
	subject_say_begin(r, o->command != NULL);
	if (r->is_pipe && !has_stdout)
		return err_set(-EBADF,
			       "the standard output, where the recording goes (-o -), is closed: "
			       "name a file with -o FILE, or a reader behind a |");
	if (o->command)
		TRY(check_command(r, o));
	if (r->cannot_run)
		return 0;
	r->sampling.system_wide = r->target.system_wide;
	r->sampling.workload = r->target.workload;
	r->sampling.enable_on_exec = r->target.workload && !r->delay.begins_off;
	r->sampling.is_switched = r->delay.is_given || r->control.is_given;
	r->sampling.has_cpus = r->target.system_wide || r->target.chosen_cpus;
	r->sampling.per_thread = r->target.per_thread;
	r->sampling.inherit = !r->target.no_inherit;
	TRY(sampling_configure(&r->events, &r->sampling, &r->say));
	if (r->opts.dry_run)
		return 0;
	TRY(control_open(&r->control));
	if (o->command) {
		TRY(workload_fork(&r->workload, o->command, r->is_pipe));
		if (r->target.workload)
			TRY(vec_push(&r->target.tids, (int32_t)r->workload.pid));
	}
	TRY(choose_self(r));
	TRY(open_counters(r));
	TRY(flow_settle(&r->flow, &r->opts, &r->counters, &r->target, &r->say));
	TRY(drain_find_times(&r->events, &r->counters, &r->untimed, &r->drain.times));
	TRY(parts_open(r));
	TRY(parts_begin(r));
	TRY(realtime_begin(&r->realtime));
	outlet_follow_priority(r->file.outlet);
	r->drain =
		(struct drain){ .rings = r->counters.rings.list.v,
				.nr_rings = r->counters.rings.list.n,
				.outlet = r->file.outlet,
				.affinity = r->flow.places.sets ? &r->flow.places : NULL,
				.times = r->drain.times,
				.has_build_ids = r->opts.buildid_mmap,
				.untimed = &r->untimed,
				.is_live = r->is_pipe,
				/* records of state come first, samples of older times much later */
				.has_no_rounds = r->counters.rings.backward.n != 0,
				.least_bytes = r->flow.least_bytes,
				.follow = r->parts.follow.forked ? &r->parts.follow : NULL,
				.dsos = r->dsos,
				.bpf = r->bpf };
	if (r->flow.has_threads)
		TRY(start_threads(r));
	/* All threads of the recorder are there now, whose numbers may be part of the filters. */
	TRY(self_add_filters(&r->events, r->opts.exclude_self, &r->say));
	if (r->own_argv && !self_is_excluded(&r->events))
		r->argv = o->argv;
	return counters_filter(&r->counters, &r->events);
}

int sonde_recorder_open(struct sonde_recorder **ret, const struct sonde_record_options *opts)
{
	struct sonde_record_options known = { 0 };
	struct sonde_recorder *r;
	int e;

	NOT_NULL(ret, -EINVAL);
	NOT_NULL(opts, -EINVAL);
	if (!opts->size)
		return err_set(-EINVAL, "sonde_record_options.size is not set");
	/* a caller built with an older header knows fewer options, one with a newer header more */
	memcpy(&known, opts, opts->size < sizeof(known) ? opts->size : sizeof(known));
	opts = &known;
	r = calloc(1, sizeof(*r));
	if (!r)
		return err_nomem();
	r->say = r->counters.say = (struct say){ opts->say, opts->say_ctx };
	r->workload.pidfd = r->workload.go_fd = r->workload.error_fd = -1;
	r->wake_fd = r->give_up_fd = r->parts.asked_fd = -1;
	e = open_recorder(r, opts);
	if (e < 0) {
		output_discard(&r->file.output);
		sonde_recorder_close(r);
		return e;
	}
	*ret = r;
	return 0;
}

void sonde_recorder_stop(struct sonde_recorder *r)
{
	const uint64_t one = 1;
	const int saved = errno;

	if (!r)
		return; /* without a cause: signal handlers call this */
	if (atomic_fetch_add(&r->stops, 1) && write(r->give_up_fd, &one, sizeof(one)) < 0)
		errno = saved; /* full: it has said so often enough */
	/* the flag alone says it as well, at the next timeout */
	if (write(r->wake_fd, &one, sizeof(one)) < 0)
		errno = saved;
	errno = saved;
}

void sonde_recorder_switch(struct sonde_recorder *r)
{
	if (r)
		parts_ask(r);
}

void sonde_recorder_close(struct sonde_recorder *r)
{
	if (!r)
		return;
	drain_threads_free(r->threads);
	realtime_end(&r->realtime);
	workload_close(&r->workload);
	parts_done(r);
	counters_close(&r->counters);
	recorder_file_close(&r->file);
	drain_done(&r->drain);
	tally_done(&r->left);
	dsos_free(r->dsos);
	bpf_watch_close(&r->bpf_watch);
	bpf_programs_free(r->bpf);
	build_id_cache_done(&r->cache);
	hash64_done(&r->untimed);
	flow_done(&r->flow);
	capture_events_done(&r->events);
	target_done(&r->target);
	delay_done(&r->delay);
	control_close(&r->control);
	record_options_done(&r->opts);
	free(r->own_argv);
	free(r->command_name);
	free(r->cannot_run_why);
	if (r->wake_fd >= 0)
		close(r->wake_fd);
	if (r->give_up_fd >= 0)
		close(r->give_up_fd);
	free(r);
}
