/* SPDX-License-Identifier: MIT */
#include "capture/rights.h"

#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sysfile.h"
#include "capture/limits.h"
#include "capture/probe.h"

enum { CAP_SYS_ADMIN_BIT = 21, CAP_PERFMON_BIT = 38 };

/* ---- our rights ------------------------------------------------------------------------------ */

/* The number after "KEY:" in /proc/self/status. */
static uint64_t rights_own_status(const char *key, int base)
{
	char value[64];

	return sysfile_value(value, sizeof(value), "/proc/self/status", key)
		       ? strtoull(value, NULL, base)
		       : 0;
}

static bool rights_is_privileged(void)
{
	return rights_own_status("CapEff", 16) &
	       (UINT64_C(1) << CAP_PERFMON_BIT | UINT64_C(1) << CAP_SYS_ADMIN_BIT);
}

/* True if this process is in a separate user namespace: its rights do not apply to the machine. */
static bool rights_is_in_user_namespace(void)
{
	FILE *f = fopen("/proc/self/uid_map", "re");
	unsigned inside = 0, outside = 0, count = UINT32_MAX;
	int n = 0;

	if (f) {
		n = fscanf(f, "%u %u %u", &inside, &outside, &count);
		fclose(f);
	}
	return n == 3 && (inside || outside || count != UINT32_MAX);
}

static bool rights_is_locked_down(void)
{
	char line[128];

	return sysfile_line(line, sizeof(line), "/sys/kernel/security/lockdown") &&
	       strstr(line, "[confidentiality]");
}

/* ---- what the kernel accepts ----------------------------------------------------------------- */

/*
 * The kernel checks for impossible flags first. Any other error comes from a filter that runs
 * before it.
 */
static bool rights_reaches_kernel(void)
{
	return syscall(SYS_perf_event_open, NULL, 0, 0, -1, ~0UL) < 0 && errno == EINVAL;
}

/* Tries an event that every user may open on his own tasks. */
static int rights_try_least(int32_t tid)
{
	const struct perf_event_attr least = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER0,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return capture_open_errno(&least, tid, -1);
}

bool rights_user_space(const struct perf_event_attr *attr, int32_t tid, int cpu)
{
	struct perf_event_attr a = *attr;

	int error;

	a.exclude_kernel = a.exclude_hv = 1;
	error = capture_open_errno(&a, tid, cpu);
	return error != EACCES && error != EPERM;
}

const char *rights_remedy(char *buf, size_t size)
{
	char program[PATH_MAX];
	const ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
	const char *name;

	program[len > 0 ? len : 0] = '\0';
	name = strrchr(program, '/');
	/* an interpreter must not get rights for all its scripts */
	if (len > 0 && name && strncmp(name + 1, "sonde", strlen("sonde")) != 0)
		return "let sudo record (sonde run --sudo, sudo=True of record() in a program)";
	snprintf(buf, size, "give the program the capability (setcap cap_perfmon+ep %s)", program);
	return buf;
}

/* ---- explanations ---------------------------------------------------------------------------- */

static int rights_explain_foreign(const struct capture_event *e, int32_t tid, int error)
{
	char path[64], name[64] = "another user", buf[4096], text[RIGHTS_REMEDY_MAX];
	const char *remedy = rights_remedy(text, sizeof(text));
	struct passwd pw, *found = NULL;
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", tid);
	if (stat(path, &st) < 0 || st.st_uid == geteuid())
		return err_set(-error,
			       "no right to record %s in process %d: it has more rights than we "
			       "have; %s, or run as root",
			       e->name, tid, remedy);
	if (getpwuid_r(st.st_uid, &pw, buf, sizeof(buf), &found) == 0 && found)
		snprintf(name, sizeof(name), "user %s", pw.pw_name);
	return err_set(-error,
		       "no right to record %s in process %d: it belongs to %s; run as that user, "
		       "%s%s, or run as root",
		       e->name, tid, name, remedy,
		       remedy == text ? " (CAP_PERFMON; before Linux 5.10 CAP_SYS_PTRACE, too)"
				      : "");
}

/* Explains a refusal that is not about the usual rights. */
static int rights_refused_all_the_same(const struct capture_event *e, int error)
{
	if (rights_is_in_user_namespace())
		return err_set(-error,
			       "no right to record %s: this user namespace (a container without "
			       "root) has no rights over the machine; run outside of it",
			       e->name);
	if (rights_is_locked_down())
		return err_set(-error,
			       "no right to record %s: the kernel is locked down "
			       "(confidentiality), which cannot be undone while it runs",
			       e->name);
	return err_set(-error,
		       "no right to record %s, although kernel.perf_event_paranoid (%ld) and our "
		       "rights allow it: a security module (SELinux, AppArmor) forbids it",
		       e->name, kernel_setting("perf_event_paranoid", 2));
}

/* The highest kernel.perf_event_paranoid with which the event could be opened. */
static long rights_needed_level(const struct capture_event *e, int32_t tid, int cpu,
				bool user_space)
{
	if (rights_try_least(0) != 0)
		return 2; /* some distributions have higher levels, which forbid all events */
	if (!e->attr.exclude_kernel && user_space)
		return 1;
	if (e->attr.type == PERF_TYPE_TRACEPOINT)
		return -1;
	return tid < 0 ? 0 : 1;
}

static int rights_too_paranoid(const struct capture_event *e, int32_t tid, int cpu, int error)
{
	const long paranoid = kernel_setting("perf_event_paranoid", 2);
	const bool user_space = rights_user_space(&e->attr, tid, cpu);
	const long needed = rights_needed_level(e, tid, cpu, user_space);
	char remedy[RIGHTS_REMEDY_MAX];

	if (paranoid <= needed)
		return rights_refused_all_the_same(e, error);
	return err_set(-error,
		       "no right to record %s%s: kernel.perf_event_paranoid is %ld and must be at "
		       "most %ld; %s%s, or as root: sysctl kernel.perf_event_paranoid=%ld, "
		       "or run as root",
		       e->name, tid < 0 ? " on whole cpus" : "", paranoid, needed,
		       tid < 0 && needed == 0 ? "record a command or processes of your own, "
		       : user_space && !e->attr.exclude_user &&
				       (e->attr.type != PERF_TYPE_TRACEPOINT)
			       ? "add the modifier u, for user space alone, "
		       : needed == 1 ? "record user space instead (-e cpu-clock:u), "
				     : "",
		       rights_remedy(remedy, sizeof(remedy)), needed);
}

int rights_explain_tracefs(const char *system, int error)
{
	const long paranoid = kernel_setting("perf_event_paranoid", 2);
	char before[1024], remedy[RIGHTS_REMEDY_MAX];

	/* every user may record the system calls of his own processes */
	if (error != -EACCES || paranoid <= -1 || rights_is_privileged() ||
	    strstr(system, "syscalls"))
		return error;
	snprintf(before, sizeof(before), "%s", err_text());
	return err_set(error,
		       "%s; besides, kernel.perf_event_paranoid is %ld, and tracepoints need -1: "
		       "as root, sysctl kernel.perf_event_paranoid=-1, or %s",
		       before, paranoid, rights_remedy(remedy, sizeof(remedy)));
}

int rights_explain(const struct capture_event *e, int32_t tid, int cpu, int error)
{
	if (!rights_reaches_kernel()) {
		if (errno == ENOSYS && !rights_own_status("Seccomp", 10))
			return err_set(
				-error,
				"this kernel is built without perf events (CONFIG_PERF_EVENTS)");
		return err_set(-error, "no right to record anything: a seccomp filter forbids the "
				       "system call perf_event_open (containers have such "
				       "filters); allow it in the container's profile");
	}
	if (tid > 0 && rights_try_least(tid) != 0 && rights_try_least(0) == 0)
		return rights_explain_foreign(e, tid, error);
	return rights_is_privileged() ? rights_refused_all_the_same(e, error)
				      : rights_too_paranoid(e, tid, cpu, error);
}
