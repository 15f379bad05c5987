/* SPDX-License-Identifier: MIT */
#include "capture/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/counters.h"
#include "capture/probe.h"

static long read_number(const char *path, long fallback)
{
	FILE *f = fopen(path, "re");
	long v;

	if (!f)
		return fallback;
	if (fscanf(f, "%ld", &v) != 1)
		v = fallback;
	fclose(f);
	return v;
}

long kernel_setting(const char *name, long fallback)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	return read_number(path, fallback);
}

bool raise_file_limit(void)
{
	const rlim_t system_max = (rlim_t)read_number("/proc/sys/fs/nr_open", 1 << 20);
	struct rlimit now, wanted;

	if (getrlimit(RLIMIT_NOFILE, &now) < 0)
		return false;
	wanted = (struct rlimit){ system_max, system_max };
	if (now.rlim_cur >= system_max)
		return false;
	if (setrlimit(RLIMIT_NOFILE, &wanted) == 0)
		return true;
	wanted = (struct rlimit){ now.rlim_max, now.rlim_max };
	return now.rlim_cur < now.rlim_max && setrlimit(RLIMIT_NOFILE, &wanted) == 0;
}

const char *event_name_user(struct capture_events *events, const char *name)
{
	char longer[320];

	snprintf(longer, sizeof(longer), "%s%su", name, strchr(name, ':') ? "" : ":");
	return arena_strdup(&events->arena, longer);
}

static bool is_foreign(int32_t tid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", tid);
	return stat(path, &st) == 0 && st.st_uid != geteuid();
}

static int no_rights(const struct capture_event *e, int32_t tid, int error)
{
	const long paranoid = kernel_setting("perf_event_paranoid", 2);
	const long needed = e->system ? -1 : tid < 0 ? 0 : 1;

	if (tid > 0 && is_foreign(tid))
		return err_set(-error,
			       "no right to record %s in process %d: it belongs to another user; "
			       "run as root, or give the program CAP_PERFMON and CAP_SYS_PTRACE",
			       e->name, tid);
	return err_set(
		-error,
		"no right to record %s%s: kernel.perf_event_paranoid is %ld; run as root, give the "
		"program CAP_PERFMON "
		"(setcap cap_perfmon+ep), or as root: sysctl kernel.perf_event_paranoid=%ld%s",
		e->name, tid < 0 ? " on whole cpus" : "", paranoid, needed,
		!e->system && tid > 0 && !e->attr.exclude_kernel && !e->chose_levels
			? "; user space alone is allowed: add :u to the event"
			: "");
}

int explain_open(const struct capture_event *e, int cpu, int32_t tid, size_t wanted_fds, int error)
{
	struct rlimit files = { 0 };
	const char *culprit = NULL;

	if (error == EINVAL || error == EOPNOTSUPP || error == EACCES || error == EPERM)
		culprit = capture_culprit(&e->attr, tid, cpu);
	if (culprit && (error == EINVAL || error == EOPNOTSUPP))
		return err_set(-error, "%s: cannot be recorded with %s", e->name, culprit);
	if (culprit)
		return err_set(
			-error,
			"no right to record %s with %s: kernel.perf_event_paranoid is %ld; run "
			"as root, or give the program CAP_PERFMON (setcap cap_perfmon+ep)",
			e->name, culprit, kernel_setting("perf_event_paranoid", 2));
	switch (error) {
	case EACCES:
	case EPERM:
		return no_rights(e, tid, error);
	case EMFILE:
	case ENFILE:
		getrlimit(RLIMIT_NOFILE, &files);
		return err_set(-error,
			       "too few file descriptors: this recording needs %zu (one for each "
			       "event, cpu and thread) and "
			       "%s allows %llu; raise it, or name fewer events",
			       wanted_fds, error == EMFILE ? "ulimit -n" : "the system",
			       (unsigned long long)files.rlim_cur);
	case ENOENT:
	case ENXIO:
	case ENODEV:
	case EOPNOTSUPP:
		return err_set(-error, "%s: this machine or its kernel cannot record it%s", e->name,
			       e->attr.type == PERF_TYPE_SOFTWARE ||
					       e->attr.type == PERF_TYPE_TRACEPOINT
				       ? ""
				       : " (a virtual machine often has no hardware counters); "
					 "cpu-clock and the other software "
					 "events always work");
	case ESRCH:
		return err_set(-error, "no process has the number %d", tid);
	case EINVAL:
		return err_set(-error,
			       "%s: the kernel refuses this combination (cpu %d, period or "
			       "frequency %llu; at most %ld Hz are allowed)",
			       e->name, cpu, (unsigned long long)e->attr.sample_period,
			       kernel_setting("perf_event_max_sample_rate", 100000));
	case ENOSYS:
		return err_set(-error,
			       "this kernel is built without perf events (CONFIG_PERF_EVENTS)");
	case EBUSY:
		return err_set(-error, "%s: another profiler holds the counters", e->name);
	}
	return err_errno(error, "%s: cannot be opened on cpu %d", e->name, cpu);
}

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
		"that; choose fewer pages with -m, "
		"or raise one of the two",
		kib, nr_cpus, kernel_setting("perf_event_mlock_kb", 516), limit);
}
