/* SPDX-License-Identifier: MIT */
#include "record/target.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"

/* All threads of a process; a thread's own number stands for its process. */
static int add_threads(struct target *t, int32_t pid)
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
			error = vec_push(&t->tids, (int32_t)atoi(e->d_name));
	closedir(d);
	return error;
}

/* "1,4711" */
static int add_processes(struct target *t, const char *list)
{
	const char *at = list;

	for (;;) {
		char *end;
		long pid = strtol(at, &end, 10);

		if (end == at || pid <= 0 || pid > INT32_MAX || (*end && *end != ','))
			return err_set(-EBADR, "-p needs process ids separated by commas, not '%s'",
				       list);
		TRY(add_threads(t, (int32_t)pid));
		if (!*end)
			return 0;
		at = end + 1;
	}
}

static int find(struct target *t, const struct record_options *o, bool has_command,
		const struct say *to)
{
	TRY(capture_cpus_read("/sys/devices/system/cpu/online", &t->cpus));
	if (!t->cpus.list.n)
		return err_set(-EIO, "/sys/devices/system/cpu/online names no cpu");
	if (o->all_cpus && o->pid)
		say(to, SAY_WARNING,
		    "-p excludes -a: recording the processes, not the whole machine");
	t->by_pid = o->pid != NULL;
	t->system_wide = !t->by_pid && (o->all_cpus || !has_command);
	t->enable_on_exec = !t->by_pid && !t->system_wide;
	if (t->system_wide)
		return vec_push(&t->tids, -1);
	return t->by_pid ? add_processes(t, o->pid) : 0;
}

int target_find(struct target *ret, const struct record_options *opts, bool has_command,
		const struct say *say)
{
	struct target t = { 0 };
	int r = find(&t, opts, has_command, say);

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
	vec_done(&t->tids);
}
