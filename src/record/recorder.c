/* SPDX-License-Identifier: MIT */
/* From options to a recording that is ready to start: events, counters, output with everything known beforehand. */

#include "record/recorder.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "record/build_ids.h"
#include "record/features.h"
#include "record/kernel_map.h"
#include "record/sampling.h"
#include "record/synth.h"

/*
 * Per cpu: 512 KiB as perf; for root, whose locked memory has no limit, 4 MiB, which lose some ten times fewer events under
 * load, as long as all of them together take no more than this share of the memory.
 */
enum {
	DEFAULT_BUFFER_BYTES = 512 << 10,
	ROOT_BUFFER_BYTES = 4 << 20,
	BUFFER_BYTES_MAX = 1 << 30,
	MEMORY_SHARE = 64
};

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
	}
	return any ? 0 : capture_events_add_default(&r->events);
}

/* All threads of a process; a thread's own number stands for its process. */
static int add_threads(struct sonde_recorder *r, int32_t pid)
{
	char path[64];
	struct dirent *e;
	int error = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = pid > 0 ? opendir(path) : NULL;
	if (!d)
		return err_set(-ESRCH, "there is no process %d", pid);
	while (error == 0 && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			error = vec_push(&r->tids, (int32_t)atoi(e->d_name));
	closedir(d);
	return error;
}

static int find_target(struct sonde_recorder *r, const struct sonde_record_options *o,
		       bool *ret_system_wide)
{
	TRY(capture_cpus_read("/sys/devices/system/cpu/online", &r->cpus));
	if (!r->cpus.list.n)
		return err_set(-EIO, "/sys/devices/system/cpu/online names no cpu");
	if (o->all_cpus && o->nr_pids)
		say(&r->say, SAY_WARNING,
		    "-p excludes -a: recording the processes, not the whole machine");
	*ret_system_wide = !o->nr_pids && (o->all_cpus || !o->command);
	if (*ret_system_wide)
		return vec_push(&r->tids, -1);
	for (size_t i = 0; i < o->nr_pids; i++)
		TRY(add_threads(r, o->pids[i]));
	r->by_pid = o->nr_pids != 0;
	r->enable_on_exec = !r->by_pid;
	return 0;
}

static size_t default_pages(size_t page, size_t nr_cpus)
{
	const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * page;
	size_t bytes = DEFAULT_BUFFER_BYTES;

	if (geteuid() == 0)
		for (bytes = ROOT_BUFFER_BYTES; bytes > DEFAULT_BUFFER_BYTES; bytes /= 2)
			if (bytes * nr_cpus <= memory / MEMORY_SHARE)
				break;
	return bytes / page ? bytes / page : 1;
}

/* The events and their buffers, all disabled (but for the one that tells of new processes). */
static int open_counters(struct sonde_recorder *r, const struct sonde_record_options *o)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct counters_target target;
	size_t pages = o->mmap_pages;

	target = (struct counters_target){ .cpus = r->cpus.list.v,
					   .nr_cpus = r->cpus.list.n,
					   .tids = r->tids.v,
					   .nr_tids = r->tids.n,
					   .tids_may_vanish = r->by_pid };
	TRY(counters_open(&r->counters, &r->events, &target));
	if (pages > BUFFER_BYTES_MAX / page)
		return err_set(-EINVAL, "-m %zu: at most %zu pages", pages,
			       BUFFER_BYTES_MAX / page);
	if (pages & (pages - 1)) {
		size_t up = 1;

		while (up < pages)
			up *= 2;
		say(&r->say, SAY_NORMAL, "-m %zu: taking %zu pages, the next power of two", pages,
		    up);
		pages = up;
	}
	if (!pages)
		pages = default_pages(page, r->cpus.list.n);
	return counters_map(&r->counters, pages, o->mmap_pages == 0);
}

/* ---- what the file says before the first event ------------------------------------------------------------------- */

static int writer_events(const struct sonde_recorder *r, struct perfdata_writer_event **ret_events,
			 uint64_t **ret_ids)
{
	struct perfdata_writer_event *events = calloc(r->events.list.n, sizeof(*events));
	uint64_t *ids = calloc(r->counters.list.n + 1, sizeof(*ids));
	size_t n = 0;

	if (!events || !ids) {
		free(events);
		free(ids);
		return err_nomem();
	}
	for (size_t i = 0; i < r->events.list.n; i++) {
		events[i] = (struct perfdata_writer_event){ .attr = &r->events.list.v[i].attr,
							    .name = r->events.list.v[i].name,
							    .ids = ids + n };
		/* counters lie in the order of the events */
		while (n < r->counters.list.n && r->counters.list.v[n].event == i) {
			ids[n] = r->counters.list.v[n].id;
			n++;
			events[i].nr_ids++;
		}
	}
	*ret_events = events;
	*ret_ids = ids;
	return 0;
}

static int collect_features(const struct sonde_recorder *r, const struct sonde_record_options *o,
			    const struct perfdata_writer_event *events, struct kernel_map *kernel,
			    struct features *f)
{
	struct outbuf desc = { 0 }, kernel_id = { 0 };

	perfdata_put_event_desc(&desc, events, r->events.list.n);
	TRY(features_add(f, FEAT_EVENT_DESC, &desc));
	TRY(features_add_tracing(f, &r->events));
	TRY(features_add_system(f, o->argv));
	TRY(features_add_topology(f));
	build_ids_put_kernel(&kernel_id);
	TRY(features_add(f, FEAT_BUILD_ID, &kernel_id));
	return features_add(f, PERFDATA_PRIVATE_KALLSYMS, &kernel->symbols_zstd);
}

static int write_beginning(struct sonde_recorder *r, const struct sonde_record_options *o,
			   struct kernel_map *kernel)
{
	struct perfdata_writer_event *events = NULL;
	struct features f = { 0 };
	uint64_t *ids = NULL;
	int e, fd;

	TRY(writer_events(r, &events, &ids));
	e = collect_features(r, o, events, kernel, &f);
	if (e == 0)
		e = r->output.is_pipe
			    ? output_pipe(&r->output, &fd)
			    : output_open(&r->output, o->output ? o->output : "perf.data", &fd);
	if (e == 0)
		e = perfdata_writer_open(&r->writer, fd, r->output.path, r->output.is_pipe);
	if (e == 0)
		e = perfdata_writer_begin(r->writer, events, r->events.list.n, f.list.v, f.list.n);
	features_done(&f);
	free(events);
	free(ids);
	return e;
}

/* Records of what is there already. */
static int write_state(struct sonde_recorder *r, const struct kernel_map *kernel)
{
	struct synth s = { .trailer_bytes = sampling_trailer_bytes(&r->events.list.v[0].attr),
			   .dso_names = r->wants_dsos ? &r->dso_names : NULL };
	int e;

	synth_id_index(&s, &r->counters);
	synth_kernel_map(&s, kernel);
	synth_modules(&s);
	synth_thread_map(&s, r->tids.v, r->tids.n);
	synth_cpu_map(&s, r->cpus.list.v, r->cpus.list.n);
	if (r->tids.v[0] < 0)
		synth_all_tasks(&s);
	else if (r->by_pid)
		synth_threads(&s, r->tids.v, r->tids.n);
	if (r->command_name && r->tids.v[0] >= 0)
		synth_name(&s, r->workload.pid);
	synth_plain(&s, RECORD_FINISHED_INIT);
	e = s.out.failed ? err_nomem()
			 : perfdata_writer_append(r->writer,
						  &(struct iovec){ s.out.data, s.out.len }, 1);
	outbuf_done(&s.out);
	return e;
}

/* Whether samples hold addresses beside those of tracepoints: of user space, of the kernel. */
static void find_addresses(const struct sonde_recorder *r, bool callchain, bool *ret_user,
			   bool *ret_kernel)
{
	*ret_user = *ret_kernel = false;
	for (size_t i = 0; i < r->events.list.n; i++) {
		const struct perf_event_attr *a = &r->events.list.v[i].attr;
		const bool samples =
			a->type != PERF_TYPE_TRACEPOINT &&
			!(a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_DUMMY);

		if (!samples && (!callchain || a->type != PERF_TYPE_TRACEPOINT))
			continue;
		*ret_user |= samples ? !a->exclude_user : !a->exclude_callchain_user;
		*ret_kernel |= !a->exclude_kernel && (samples || !a->exclude_callchain_kernel);
	}
}

/* With kptr_restrict 0 the kernel shows its addresses to those who may profile it. */
static void say_hidden(const struct say *to)
{
	const long restricted = kernel_setting("kptr_restrict", 0);

	if (restricted > 0)
		say(to, SAY_WARNING,
		    "the kernel hides its addresses (kernel.kptr_restrict is %ld): kernel "
		    "addresses will have no names",
		    restricted);
	else
		say(to, SAY_WARNING,
		    "the kernel shows its addresses only with CAP_SYSLOG or with "
		    "kernel.perf_event_paranoid below 2 (it is %ld): kernel addresses will have no "
		    "names",
		    kernel_setting("perf_event_paranoid", 2));
}

static int write_start(struct sonde_recorder *r, const struct sonde_record_options *o)
{
	struct kernel_map kernel = { 0 };
	bool wants_symbols;
	int e;

	find_addresses(r, o->callchain, &r->wants_dsos, &wants_symbols);
	/* A recording without kernel symbols is still one: names are missing then, and the reader says so. */
	if (kernel_map_read(&kernel, wants_symbols) == 0 && !kernel.reference_addr && wants_symbols)
		say_hidden(&r->say);
	e = write_beginning(r, o, &kernel);
	if (e == 0)
		e = write_state(r, &kernel);
	kernel_map_done(&kernel);
	return e;
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

static int open_recorder(struct sonde_recorder *r, const struct sonde_record_options *o)
{
	struct sampling sampling = { .callchain = o->callchain,
				     .kernel_callchains = o->kernel_callchains,
				     .user_callchains = o->user_callchains,
				     .period = o->period,
				     .freq_hz = o->freq_hz };

	r->output.is_pipe = output_is_pipe(o->output);
	r->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->wake_fd < 0)
		return err_errno(errno, "cannot make an eventfd");
	TRY(strpool_init(&r->dso_names));
	TRY(parse_events(r, o));
	TRY(find_target(r, o, &sampling.system_wide));
	if (o->command)
		TRY(check_command(r, o));
	if (r->cannot_run)
		return 0;
	sampling.enable_on_exec = r->enable_on_exec;
	TRY(sampling_configure(&r->events, &sampling, &r->say));
	if (o->command) {
		TRY(workload_fork(&r->workload, o->command, r->output.is_pipe));
		if (r->enable_on_exec)
			TRY(vec_push(&r->tids, (int32_t)r->workload.pid));
	}
	TRY(open_counters(r, o));
	TRY(write_start(r, o));
	r->drain = (struct drain){ .counters = &r->counters,
				   .is_live = r->output.is_pipe,
				   .writer = r->writer,
				   .dso_names = r->wants_dsos ? &r->dso_names : NULL };
	return 0;
}

int sonde_recorder_open(struct sonde_recorder **ret, const struct sonde_record_options *opts)
{
	struct sonde_record_options known = { 0 };
	struct sonde_recorder *r;
	int e;

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
	r->wake_fd = -1;
	e = open_recorder(r, opts);
	if (e < 0) {
		output_discard(&r->output);
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

	atomic_fetch_add(&r->stops, 1);
	/* the flag alone says it as well, at the next timeout */
	if (write(r->wake_fd, &one, sizeof(one)) < 0)
		errno = saved;
	errno = saved;
}

void sonde_recorder_close(struct sonde_recorder *r)
{
	if (!r)
		return;
	workload_close(&r->workload);
	counters_close(&r->counters);
	perfdata_writer_close(r->writer);
	output_done(&r->output);
	drain_done(&r->drain);
	strpool_done(&r->dso_names);
	capture_events_done(&r->events);
	vec_done(&r->cpus.list);
	vec_done(&r->tids);
	free(r->command_name);
	free(r->cannot_run_why);
	if (r->wake_fd >= 0)
		close(r->wake_fd);
	free(r);
}
