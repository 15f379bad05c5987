/* SPDX-License-Identifier: MIT */
#include "capture/setup/target.h"

#include <ctype.h>
#include <dirent.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/sysfile.h"

#define CPUS_ONLINE  "/sys/devices/system/cpu/online"
#define CPUS_PRESENT "/sys/devices/system/cpu/present"

/* ---- tasks ----------------------------------------------------------------------------------- */

static bool target_has_tid(const struct target *t, int32_t tid)
{
	for (size_t i = 0; i < t->tids.n; i++)
		if (t->tids.v[i] == tid)
			return true;
	return false;
}

/* Returns 1 if no thread of the process is left. */
static int target_each_thread_of(int32_t pid, int (*add)(void *ctx, int32_t pid, int32_t tid),
				 void *ctx)
{
	char path[64];
	struct dirent *e;
	int error = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d && errno_no_descriptor(errno))
		return err_errno(errno, "cannot list %s", path);
	if (!d)
		return 1;
	while (error == 0 && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			error = add(ctx, pid, (int32_t)atoi(e->d_name));
	closedir(d);
	return error;
}

static int target_add_tid(void *ctx, int32_t pid, int32_t tid)
{
	struct target *t = ctx;

	return vec_push(&t->tids, tid);
}

/*
 * Adds all threads of a process; a thread's number selects its process. Returns 1 if no thread is
 * left.
 */
static int target_add_threads(struct target *t, int32_t pid)
{
	return target_each_thread_of(pid, target_add_tid, t);
}

int target_each_thread(int (*add)(void *ctx, int32_t pid, int32_t tid), void *ctx)
{
	struct dirent *e;
	int r = 0;
	DIR *d = opendir("/proc");

	if (!d)
		return err_errno(errno, "cannot list the processes in /proc");
	while (r >= 0 && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			r = target_each_thread_of(atoi(e->d_name), add, ctx);
	closedir(d);
	return r < 0 ? r : 0;
}

static int target_add_process(struct target *t, int32_t pid)
{
	const int r = target_has_tid(t, pid) ? 0 : target_add_threads(t, pid);

	return r == 1 ? err_set(-ESRCH, "-p: there is no process %d", pid) : r;
}

static int target_add_thread(struct target *t, int32_t tid)
{
	char path[64];
	struct stat st;

	if (target_has_tid(t, tid))
		return 0;
	snprintf(path, sizeof(path), "/proc/%d", tid);
	if (stat(path, &st) < 0)
		return err_set(-ESRCH, "-t: there is no thread %d", tid);
	return vec_push(&t->tids, tid);
}

/* Parses "1,4711"; a comma may end the list. If add is NULL, the list is only checked. */
static int target_each_listed(struct target *t, const char *option, const char *what,
			      const char *list, int (*add)(struct target *, int32_t))
{
	const char *at = list;

	do {
		char *end;
		long id = strtol(at, &end, 10);

		if (end == at || !isdigit((unsigned char)*at) || id <= 0 || id > INT32_MAX ||
		    (*end && *end != ','))
			return err_set(-EBADR, "%s needs %s ids separated by commas, not '%s'",
				       option, what, list);
		if (add)
			TRY(add(t, (int32_t)id));
		at = *end ? end + 1 : end;
	} while (*at);
	return 0;
}

/* A mistake in the list is reported before anything is looked up. */
static int target_add_listed(struct target *t, const char *option, const char *what,
			     const char *list, int (*add)(struct target *, int32_t))
{
	TRY(target_each_listed(t, option, what, list, NULL));
	return target_each_listed(t, option, what, list, add);
}

static int target_find_user(const char *user, uid_t *ret)
{
	char buf[16384], *end;
	struct passwd pw, *found = NULL;
	unsigned long nr;

	if (getpwnam_r(user, &pw, buf, sizeof(buf), &found) == 0 && found) {
		*ret = found->pw_uid;
		return 0;
	}
	errno = 0;
	nr = strtoul(user, &end, 10);
	if (!isdigit((unsigned char)*user) || *end || errno || nr >= UINT32_MAX)
		return err_set(-EBADR, "-u: there is no user '%s'", user);
	*ret = (uid_t)nr;
	return 0;
}

/*
 * True if a process has this user's rights: "Uid: REAL EFFECTIVE ...". The owner of its folder in
 * /proc is not reliable: it is root if the process may not be dumped.
 */
static bool target_belongs_to(int32_t pid, uid_t uid)
{
	char path[64], ids[128];
	unsigned effective;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return sysfile_value(ids, sizeof(ids), path, "Uid") &&
	       sscanf(ids, "%*u %u", &effective) == 1 && effective == uid;
}

static int target_add_user(struct target *t, const char *user)
{
	struct dirent *e;
	uid_t uid;
	int r = 0;
	DIR *d;

	TRY(target_find_user(user, &uid));
	d = opendir("/proc");
	if (!d)
		return err_errno(errno, "cannot list the processes in /proc");
	while (r >= 0 && (e = readdir(d))) {
		const int32_t pid = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : 0;

		if (pid && target_belongs_to(pid, uid))
			r = target_add_threads(t, pid); /* r is 1 if it has just ended */
	}
	closedir(d);
	if (r < 0)
		return r;
	return t->tids.n ? 0 : err_set(-ESRCH, "-u: no process of user '%s' is running", user);
}

/* ---- cpus ------------------------------------------------------------------------------------ */

static int target_by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* "0-3,8", for messages */
static void target_print_cpus(const struct capture_cpus *cpus, char *buf, size_t size)
{
	size_t len = 0;

	*buf = '\0';
	for (size_t i = 0; i < cpus->list.n && len < size; i++) {
		const int first = cpus->list.v[i];

		while (i + 1 < cpus->list.n && cpus->list.v[i + 1] == cpus->list.v[i] + 1)
			i++;
		len += (size_t)snprintf(buf + len, size - len,
					first == cpus->list.v[i] ? "%s%d" : "%s%d-%d",
					len ? "," : "", first, cpus->list.v[i]);
	}
}

static int target_no_such_cpu(int cpu, const struct capture_cpus *online)
{
	struct capture_cpus present = { 0 };
	char list[256];
	bool is_offline;

	/* without the list of present cpus a missing cpu counts as absent */
	is_offline =
		capture_cpus_read(CPUS_PRESENT, &present) == 0 && capture_cpus_has(&present, cpu);
	target_print_cpus(is_offline || !present.list.n ? online : &present, list, sizeof(list));
	vec_done(&present.list);
	if (is_offline)
		return err_set(-ENODEV,
			       "-C: cpu %d is offline; online are %s (as root, echo 1 > "
			       "/sys/devices/system/cpu/cpu%d/online brings it back)",
			       cpu, list, cpu);
	return err_set(-ENODEV, "-C: this machine has no cpu %d; it has %s", cpu, list);
}

/* Replaces all cpus by the cpus of the list, in order and without repeats. */
static int target_choose_cpus(struct target *t, const char *text)
{
	struct capture_cpus chosen = { 0 };
	size_t n = 0;

	if (text[strspn(text, "0123456789,-")] || !isdigit((unsigned char)*text) ||
	    !isdigit((unsigned char)text[strlen(text) - 1]) ||
	    capture_cpus_parse(text, &chosen) < 0)
		return err_set(-EBADR, "-C needs a list of cpus such as 0,2-3, not '%s'", text);
	qsort(chosen.list.v, chosen.list.n, sizeof(int), target_by_number);
	for (size_t i = 0; i < chosen.list.n; i++) {
		const int cpu = chosen.list.v[i];

		if (!capture_cpus_has(&t->cpus, cpu)) {
			vec_done(&chosen.list);
			return target_no_such_cpu(cpu, &t->cpus);
		}
		if (!n || chosen.list.v[n - 1] != cpu)
			chosen.list.v[n++] = cpu;
	}
	chosen.list.n = n;
	vec_done(&t->cpus.list);
	t->cpus = chosen;
	return 0;
}

/* If memory runs out the cpu is not added. */
static void target_add_cpu(struct capture_cpus *to, int cpu)
{
	if (capture_cpus_has(to, cpu) || vec_push(&to->list, cpu) < 0)
		return;
	qsort(to->list.v, to->list.n, sizeof(int), target_by_number);
}

/* Adds the cpus of a that are not in b. */
static void target_add_missing(const struct capture_cpus *a, const struct capture_cpus *b,
			       struct capture_cpus *to)
{
	for (size_t i = 0; i < a->list.n; i++) {
		if (!capture_cpus_has(b, a->list.v[i]))
			target_add_cpu(to, a->list.v[i]);
	}
}

void target_look(struct target *t)
{
	struct capture_cpus now = { 0 };

	if (t->per_thread)
		return;
	if (capture_cpus_read(CPUS_ONLINE, &now) < 0 || !now.list.n) {
		err_clear();
		vec_done(&now.list);
		return;
	}
	if (!t->chosen_cpus)
		target_add_missing(&now, &t->cpus, &t->came);
	target_add_missing(&t->cpus, &now, &t->went);
	vec_done(&now.list);
}

void target_watch(struct target *t)
{
	if (t->system_wide)
		cpu_watch_open(&t->watch, &t->cpus);
	if (!t->per_thread && !t->chosen_cpus)
		cpu_watch_listen(&t->watch);
}

static void target_note_away(void *ctx, int cpu)
{
	struct target *t = ctx;

	target_add_cpu(&t->went, cpu);
}

static void target_note_new(void *ctx, int cpu)
{
	struct target *t = ctx;

	if (!capture_cpus_has(&t->cpus, cpu))
		target_add_cpu(&t->came, cpu);
}

void target_look_back(struct target *t)
{
	target_look(t);
	cpu_watch_came(&t->watch, target_note_new, t);
	cpu_watch_find(&t->watch, target_note_away, t);
}

size_t target_missed(const struct target *t, int *ret_first)
{
	*ret_first = t->went.list.n ? t->went.list.v[0] : 0;
	if (t->came.list.n && (!t->went.list.n || t->came.list.v[0] < *ret_first))
		*ret_first = t->came.list.v[0];
	/* the events of tasks follow the tasks to any cpu */
	return t->system_wide ? t->came.list.n + t->went.list.n : 0;
}

void target_say_changes(const struct target *t, const struct say *to)
{
	char list[256];

	target_print_cpus(&t->came, list, sizeof(list));
	if (t->came.list.n)
		say(to, SAY_WARNING,
		    "cpu %s came online after the recording began: its events are not in the "
		    "recording",
		    list);
	target_print_cpus(&t->went, list, sizeof(list));
	if (t->went.list.n)
		say(to, SAY_WARNING,
		    "cpu %s went offline during the recording: its later events are not in the "
		    "recording",
		    list);
}

/* ---- both ------------------------------------------------------------------------------------ */

/* If targets exclude each other, the narrower one is used, as in perf. */
static void target_say_excluded(const struct capture_options *o, bool by_task, bool whole_cpus,
				const struct say *to)
{
	const char *winner = o->pid ? "-p" : o->tid ? "-t" : "-u";

	if (o->pid && o->tid)
		say(to, SAY_WARNING, "-p excludes -t: the processes are the target");
	if ((o->pid || o->tid) && o->uid)
		say(to, SAY_WARNING, "%s excludes -u: the %s are the target", winner,
		    o->pid ? "processes" : "threads");
	if (by_task && o->cpu)
		say(to, SAY_WARNING, "%s excludes -C: the %s are the target, on all cpus", winner,
		    o->tid && !o->pid ? "threads" : "processes");
	if (by_task && o->all_cpus)
		say(to, SAY_WARNING, "%s excludes -a: only the %s are the target", winner,
		    o->tid && !o->pid ? "threads" : "processes");
	if (whole_cpus && o->per_thread)
		say(to, SAY_WARNING,
		    "cpus as targets exclude --per-thread: using one buffer for each cpu");
}

static int target_find_all(struct target *t, const struct capture_options *o, bool has_command,
			   const struct say *to)
{
	TRY(capture_cpus_read(CPUS_ONLINE, &t->cpus));
	if (!t->cpus.list.n)
		return err_set(-EIO, CPUS_ONLINE " names no cpu");
	t->by_pid = o->pid || o->tid || o->uid;
	t->system_wide = !t->by_pid && (o->all_cpus || o->cpu || !has_command);
	t->workload = !t->by_pid && !t->system_wide;
	t->per_thread = o->per_thread && !t->system_wide;
	target_say_excluded(o, t->by_pid, t->system_wide, to);
	/* The kernel does not let inherited events share a per-thread buffer. */
	t->no_inherit = t->per_thread || o->no_inherit == CAPTURE_YES ||
			(o->no_inherit == CAPTURE_AUTO && o->tid && !o->pid);
	if (t->system_wide) {
		t->chosen_cpus = o->cpu != NULL;
		if (o->cpu)
			TRY(target_choose_cpus(t, o->cpu));
		return vec_push(&t->tids, -1);
	}
	if (t->per_thread) {
		vec_clear(&t->cpus.list);
		TRY(vec_push(&t->cpus.list, -1));
	}
	if (o->pid)
		return target_add_listed(t, "-p", "process", o->pid, target_add_process);
	if (o->tid)
		return target_add_listed(t, "-t", "thread", o->tid, target_add_thread);
	return o->uid ? target_add_user(t, o->uid) : 0;
}

int target_find(struct target *ret, const struct capture_options *opts, bool has_command,
		const struct say *say)
{
	struct target t = { 0 };
	int r = target_find_all(&t, opts, has_command, say);

	if (r < 0) {
		target_done(&t);
		return r;
	}
	*ret = t;
	return 0;
}

void target_done(struct target *t)
{
	vec_done(&t->cpus.list);
	vec_done(&t->came.list);
	vec_done(&t->went.list);
	vec_done(&t->tids);
	cpu_watch_close(&t->watch);
}
