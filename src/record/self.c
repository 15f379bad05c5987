/* SPDX-License-Identifier: MIT */
#include "record/self.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/outbuf.h"
#include "record/options.h"

/*
 * Systems of tracepoints that a recorder passes when it writes what it has recorded: a record makes further ones. Not
 * those of scheduling, tasks, interrupts and timers, where what the recorder does belongs to the picture.
 */
static bool feeds_back(const char *system)
{
	static const char *const systems[] = {
		"syscalls",
		"raw_syscalls", /* how it is called */
		"block",
		"kmem",
		"writeback",
		"wbt", /* what a write needs */
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
 * In a pid namespace of its own a process does not know the number that the kernel's filters compare. The first
 * namespace has a fixed inode (PROC_PID_INIT_INO).
 */
static bool knows_its_numbers(void)
{
	char name[32] = "";

	return readlink("/proc/self/ns/pid", name, sizeof(name) - 1) < 0 ||
	       !strcmp(name, "pid:[4026531836]");
}

int self_choose(struct capture_events *events, uint32_t choice, bool system_wide,
		const struct say *to)
{
	size_t marked = 0, tracepoints = 0;

	if (choice == RECORD_NO || (choice == RECORD_AUTO && !system_wide))
		return 0;
	vec_foreach(e, &events->list) {
		if (!e->system)
			continue;
		tracepoints++;
		e->exclude_self = choice == RECORD_YES || feeds_back(e->system);
		marked += e->exclude_self;
	}
	if (choice == RECORD_YES && !tracepoints)
		return err_set(-EBADR,
			       "--exclude-self leaves out tracepoints, and none is recorded");
	if (!marked)
		return 0;
	if (!knows_its_numbers()) {
		vec_foreach(e, &events->list)
			e->exclude_self = false;
		say(to, SAY_WARNING,
		    "in a pid namespace the recorder does not know its numbers outside: its own "
		    "events are "
		    "recorded, too");
		return 0;
	}
	if (choice == RECORD_AUTO)
		say(to, SAY_NORMAL,
		    "leaving out what the recorder itself does, for %zu of %zu tracepoints "
		    "(--exclude-self; all is "
		    "recorded with --no-exclude-self)",
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

/* "common_pid != 12 && common_pid != 14": what the kernel calls pid there is the thread. */
static int put_threads(struct outbuf *o)
{
	struct dirent *t;
	DIR *d = opendir("/proc/self/task");
	bool any = false;

	if (!d)
		return err_errno(errno, "/proc/self/task");
	while ((t = readdir(d)))
		if (isdigit((unsigned char)t->d_name[0])) {
			outbuf_fmt(o, "%scommon_pid != %s", any ? " && " : "", t->d_name);
			any = true;
		}
	closedir(d);
	outbuf_char(o, '\0');
	return o->failed ? err_nomem() : 0;
}

int self_add_filters(struct capture_events *events)
{
	struct outbuf o = { 0 };
	int r = 0;

	if (!self_is_excluded(events))
		return 0;
	r = put_threads(&o);
	vec_foreach(e, &events->list)
		if (r == 0 && e->exclude_self)
			r = capture_event_filter(events, e, o.data);
	outbuf_done(&o);
	return r;
}
