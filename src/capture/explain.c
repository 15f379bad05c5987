/* SPDX-License-Identifier: MIT */
#include "capture/explain.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sysfile.h"
#include "capture/limits.h"
#include "capture/probe.h"
#include "capture/rights.h"

static int explain_source(const struct capture_event *e, int32_t tid)
{
	if (e->chose_levels || e->chose_guest)
		return err_set(-EINVAL,
			       "%s: the kernel refuses it; many event sources can only count on "
			       "all levels: leave out the modifiers behind the last slash",
			       e->name);
	return err_set(-EINVAL,
		       "%s: the kernel refuses it; many event sources can be read, but cannot be "
		       "sampled%s: put it after an event that can, as {cpu-clock,%s}:S",
		       e->name, tid < 0 ? "" : ", and some only with -a", e->name);
}

int explain_member(const struct capture_event *leader, const struct capture_event *e)
{
	if (leader->attr.inherit != e->attr.inherit)
		return err_set(-EINVAL,
			       "%s cannot be in the group of %s: children are recorded for both "
			       "or for neither (inherit, no-inherit)",
			       e->name, leader->name);
	if (e->source && (e->attr.sample_period || e->chose_levels))
		return explain_source(e, 0);
	return err_set(-EINVAL,
		       "%s cannot be in the group of %s: the kernel refuses it there; name it "
		       "outside of the group, or give the group the modifier W (weak), so that it "
		       "is recorded without being a group",
		       e->name, leader->name);
}

/* Counts descriptors one by one, because no descriptor is left to read /proc with. */
static size_t explain_count_open(rlim_t limit)
{
	enum { LOOKED_AT_MAX = 1 << 16 };
	const int end = limit < LOOKED_AT_MAX ? (int)limit : LOOKED_AT_MAX;
	size_t n = 0;

	for (int fd = 0; fd < end; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* ---- an event that could not be opened, by errno --------------------------------------------- */

struct refusal {
	const struct capture_event *e;
	int cpu;
	int32_t tid;
	size_t wanted_fds;
	int error;
};

/*
 * Names an attribute that the kernel refuses, if leaving it out would be enough
 * (capture_culprit()).
 */
static int explain_culprit(const struct refusal *r, const char *culprit)
{
	char remedy[RIGHTS_REMEDY_MAX];

	if (r->error == EINVAL || r->error == EOPNOTSUPP)
		return err_set(-r->error, "%s: cannot be recorded with %s", r->e->name, culprit);
	return err_set(-r->error,
		       "no right to record %s with %s: leave them out, %s, or run as root; "
		       "kernel.perf_event_paranoid is %ld",
		       r->e->name, culprit, rights_remedy(remedy, sizeof(remedy)),
		       kernel_setting("perf_event_paranoid", 2));
}

static int explain_rights(const struct refusal *r)
{
	return rights_explain(r->e, r->tid, r->cpu, r->error);
}

static int explain_own_files(const struct refusal *r)
{
	struct rlimit files = { 0 };

	getrlimit(RLIMIT_NOFILE, &files);
	return err_set(-r->error,
		       "too few file descriptors: this recording needs %zu more (one for each "
		       "event, cpu and thread) in addition to %zu that are open, and ulimit -n "
		       "allows %llu; name fewer events, or raise it",
		       r->wanted_fds, explain_count_open(files.rlim_cur),
		       (unsigned long long)files.rlim_cur);
}

static int explain_all_files(const struct refusal *r)
{
	return err_set(-r->error,
		       "too few file descriptors: this recording needs %zu more (one for "
		       "each event, cpu and thread) and fs.file-max allows %ld to all "
		       "programs together; name fewer events, or raise it",
		       r->wanted_fds, sysfile_number(0, "/proc/sys/fs/file-max"));
}

static int explain_missing(const struct refusal *r)
{
	const uint32_t type = r->e->attr.type;
	const bool is_software = type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT;

	return err_set(-r->error, "%s: this machine or its kernel cannot record it%s", r->e->name,
		       is_software ? ""
				   : " (a virtual machine often has no hardware counters); "
				     "cpu-clock and the other software events always work");
}

static int explain_no_process(const struct refusal *r)
{
	return err_set(-r->error, "there is no process %d", r->tid);
}

static int explain_large_group(const struct refusal *r)
{
	return err_set(-r->error,
		       "%s: its group has too many events: the kernel has 16 KiB for all their "
		       "counts; make smaller groups",
		       r->e->name);
}

static int explain_combination(const struct refusal *r)
{
	if (r->e->source)
		return explain_source(r->e, r->tid);
	return err_set(-r->error,
		       "%s: the kernel refuses this combination (cpu %d, period or "
		       "frequency %llu; at most %ld Hz are allowed)",
		       r->e->name, r->cpu, (unsigned long long)r->e->attr.sample_period,
		       kernel_setting("perf_event_max_sample_rate", 100000));
}

static int explain_busy(const struct refusal *r)
{
	return err_set(-r->error, "%s: another profiler uses the counters", r->e->name);
}

int explain_open(const struct capture_event *e, int cpu, int32_t tid, size_t wanted_fds, int error)
{
	static const struct {
		int error;
		bool has_culprit; /* a single attribute may be the cause */
		int (*explain)(const struct refusal *r);
	} table[] = {
		{ EACCES, true, explain_rights },      { EPERM, true, explain_rights },
		{ ENOSYS, false, explain_rights },     { EMFILE, false, explain_own_files },
		{ ENFILE, false, explain_all_files },  { ENOENT, false, explain_missing },
		{ ENXIO, false, explain_missing },     { ENODEV, false, explain_missing },
		{ EOPNOTSUPP, true, explain_missing }, { ESRCH, false, explain_no_process },
		{ E2BIG, false, explain_large_group }, { EINVAL, true, explain_combination },
		{ EBUSY, false, explain_busy },
	};
	const struct refusal r = { e, cpu, tid, wanted_fds, error };

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (table[i].error != error)
			continue;
		const char *culprit =
			table[i].has_culprit ? capture_culprit(&e->attr, tid, cpu) : NULL;

		return culprit ? explain_culprit(&r, culprit) : table[i].explain(&r);
	}
	return err_errno(error, "%s: cannot be opened on cpu %d", e->name, cpu);
}

/* ---- buffers --------------------------------------------------------------------------------- */

int explain_map(size_t data_pages, size_t nr_cpus, int error)
{
	const size_t kib = (data_pages + 1) * (size_t)sysconf(_SC_PAGESIZE) / 1024;
	struct rlimit locked = { 0 };
	char limit[32] = "unlimited";

	if (error != EPERM)
		return err_errno(error,
				 "no memory for buffers of %zu KiB on each of %zu cpus; choose "
				 "fewer pages with -m",
				 kib, nr_cpus);
	getrlimit(RLIMIT_MEMLOCK, &locked);
	if (locked.rlim_cur != RLIM_INFINITY)
		snprintf(limit, sizeof(limit), "%llu", (unsigned long long)locked.rlim_cur / 1024);
	return err_set(
		-EPERM,
		"buffers of %zu KiB on each of %zu cpus are more locked memory than allowed: "
		"kernel.perf_event_mlock_kb is %ld KiB for each cpu, ulimit -l is %s KiB beyond "
		"that; choose fewer pages with -m, raise ulimit -l, give the program CAP_IPC_LOCK, "
		"or raise kernel.perf_event_mlock_kb",
		kib, nr_cpus, kernel_setting("perf_event_mlock_kb", 516), limit);
}
