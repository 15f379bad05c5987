/* SPDX-License-Identifier: MIT */
#include "capture/setup/self.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/size.h"
#include "base/vec.h"
#include "capture/setup/options.h"

/*
 * Systems of tracepoints that a recorder hits when it writes its data: each record would cause
 * further ones. Scheduling, tasks, interrupts and timers are not among them: the recorder's
 * activity there is part of the measurement.
 */
static bool self_feeds_back(const char *system)
{
	static const char *const systems[] = {
		"syscalls",
		"raw_syscalls", /* system calls */
		"block",
		"kmem",
		"writeback",
		"wbt", /* needed by a write */
		"filemap",
		"pagemap",
		"fs_dax",
		"iomap",
		"netfs",
		"fscache",
		"cachefiles",
		"vfs",
		/* file systems */
		"ext4",
		"jbd2",
		"xfs",
		"btrfs",
		"f2fs",
		"erofs",
		"fuse",
		"nfs",
		"nfs4",
		"nfsd",
		"cifs",
		"smb3",
		"9p",
		"afs",
		"bcachefs",
		"ceph",
		"gfs2",
		"hugetlbfs",
		"nilfs2",
		"ocfs2",
		"overlayfs",
		"zonefs",
	};

	for (size_t i = 0; i < sizeof(systems) / sizeof(*systems); i++)
		if (!strcmp(system, systems[i]))
			return true;
	return false;
}

/*
 * A process in a separate pid namespace does not know the number that the kernel's filters compare.
 * The first namespace has a fixed inode (PROC_PID_INIT_INO).
 */
static bool self_knows_its_numbers(void)
{
	char name[32] = "";

	return readlink("/proc/self/ns/pid", name, sizeof(name) - 1) < 0 ||
	       !strcmp(name, "pid:[4026531836]");
}

int self_choose(struct capture_events *events, uint32_t choice, bool system_wide,
		const struct say *to)
{
	size_t marked = 0, tracepoints = 0;

	if (choice == CAPTURE_NO || (choice == CAPTURE_AUTO && !system_wide))
		return 0;
	vec_foreach(e, &events->list) {
		if (!e->system)
			continue;
		tracepoints++;
		e->exclude_self = choice == CAPTURE_YES || self_feeds_back(e->system);
		marked += e->exclude_self;
	}
	if (choice == CAPTURE_YES && !tracepoints)
		return err_set(-EBADR,
			       "--exclude-self applies to tracepoints, and none is recorded");
	if (!marked)
		return 0;
	if (!self_knows_its_numbers()) {
		vec_foreach(e, &events->list)
			e->exclude_self = false;
		say(to, SAY_WARNING,
		    "the recorder does not know its pids outside of its pid namespace: its own "
		    "events are recorded, too");
		return 0;
	}
	if (choice == CAPTURE_AUTO)
		say(to, SAY_NORMAL,
		    "excluding the recorder's own events from %zu of %zu tracepoints "
		    "(--exclude-self; --no-exclude-self records them)",
		    marked, tracepoints);
	return 0;
}

bool self_is_excluded(struct capture_events *events)
{
	vec_foreach(e, &events->list)
		if (e->exclude_self)
			return true;
	return false;
}

const char **self_command_line(const char *const *argv)
{
	const char **ret;
	size_t n = 0, at = 1;

	while (argv[n])
		n++;
	ret = calloc(n + 2, sizeof(*ret));
	if (!ret || !n)
		return ret;
	while (at < n && strcmp(argv[at - 1], "record"))
		at++;
	memcpy(ret, argv, at * sizeof(*ret));
	ret[at] = "--exclude-self";
	memcpy(ret + at + 1, argv + at, (n - at) * sizeof(*ret));
	return ret;
}

static int self_compare_ids(const void *a, const void *b)
{
	const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

/* The kernel's filter field "pid" is the thread. */
void self_filter_text(int32_t *tids, size_t nr_tids, struct outbuf *to)
{
	if (nr_tids)
		qsort(tids, nr_tids, sizeof(*tids), self_compare_ids);
	for (size_t first = 0, last; first < nr_tids; first = last + 1) {
		const char *and = first ? " && " : "";

		for (last = first; last + 1 < nr_tids && tids[last + 1] - tids[last] <= 1;)
			last++;
		if (tids[first] == tids[last])
			outbuf_fmt(to, "%scommon_pid != %d", and, tids[first]);
		else
			outbuf_fmt(to, "%s(common_pid < %d || common_pid > %d)", and, tids[first],
				   tids[last]);
	}
	outbuf_char(to, '\0');
}

struct thread_ids {
	VEC(int32_t) list;
};

static int self_find_threads(const char *process, struct thread_ids *ret)
{
	struct dirent *t;
	char path[64];
	DIR *d;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%s/task", process);
	d = opendir(path);
	if (!d)
		return err_errno(errno, "%s", path);
	while (r == 0 && (t = readdir(d)))
		if (isdigit((unsigned char)t->d_name[0]))
			r = vec_push(&ret->list, (int32_t)strtol(t->d_name, NULL, 10));
	closedir(d);
	return r;
}

/* The kernel accepts filters of less than a page, counting the NUL. */
static bool self_filter_fits(struct capture_events *events, const char *filter)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	vec_foreach(e, &events->list) {
		/* the length that capture_event_filter() adds when it joins filters */
		const size_t other = e->filter ? strlen(e->filter) + strlen("() && ()") : 0;

		if (e->exclude_self && other + strlen(filter) >= page)
			return false;
	}
	return true;
}

static int self_add_to_all(struct capture_events *events, const char *filter)
{
	vec_foreach(e, &events->list)
		if (e->exclude_self)
			TRY(capture_event_filter(events, e, filter));
	return 0;
}

/*
 * Drops the filter for all events: with a filter on some of them only, the result would be
 * misleading.
 */
static int self_give_up(struct capture_events *events, uint32_t choice, size_t nr_threads,
			const struct say *to)
{
	if (choice == CAPTURE_YES)
		return err_set(
			-E2BIG,
			"--exclude-self: the %zu threads of this process do not fit into a filter, "
			"which the kernel limits to %ld bytes: record in a process of its own",
			nr_threads, sysconf(_SC_PAGESIZE) - 1);
	vec_foreach(e, &events->list)
		e->exclude_self = false;
	say(to, SAY_WARNING,
	    "the %zu threads of this process do not fit into a filter: its own events are "
	    "recorded, too",
	    nr_threads);
	return 0;
}

static int self_find_reader(const char *reader, struct thread_ids *ret)
{
	const char *rest;
	uint64_t pid;

	if (!reader)
		return 0;
	if (!size_digits(reader, &pid, &rest) || *rest || !pid || pid > INT32_MAX)
		return err_set(-EBADR, "reader=%s is no process", reader);
	return self_find_threads(reader, ret);
}

int self_add_filters(struct capture_events *events, uint32_t choice, const char *reader,
		     const struct say *to)
{
	struct thread_ids tids = { 0 };
	struct outbuf o = { 0 };
	int r;

	if (!self_is_excluded(events))
		return 0;
	r = self_find_threads("self", &tids);
	if (r == 0)
		r = self_find_reader(reader, &tids);
	if (r == 0) {
		self_filter_text(tids.list.v, tids.list.n, &o);
		r = o.failed ? err_nomem()
		    : self_filter_fits(events, o.data)
			    ? self_add_to_all(events, o.data)
			    : self_give_up(events, choice, tids.list.n, to);
	}
	outbuf_done(&o);
	vec_done(&tids.list);
	return r;
}
