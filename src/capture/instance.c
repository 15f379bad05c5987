/* SPDX-License-Identifier: MIT */
#include "capture/instance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sysfile.h"

#define INSTANCE_PREFIX "sonde-"

/* When the process started, in ticks since boot; 0 if there is none. */
static unsigned long long instance_start_time(long pid)
{
	enum { START_TIME = 20 }; /* words behind the name */
	char line[1024], *at;

	if (!sysfile_line(line, sizeof(line), "/proc/%ld/stat", pid))
		return 0;
	at = strrchr(line, ')');
	for (int i = 0; at && i < START_TIME; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static bool instance_is_stale(const char *name)
{
	unsigned long long started;
	long pid;
	int end = 0;

	if (sscanf(name, INSTANCE_PREFIX "%ld-%llu%n", &pid, &started, &end) != 2 || name[end])
		return false;
	return instance_start_time(pid) != started;
}

void trace_instance_remove_stale(const struct tracefs *top, const struct say *say_to)
{
	char path[PATH_MAX];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/instances", top->root);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		if (!instance_is_stale(d->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/instances/%s", top->root, d->d_name);
		if (rmdir(path) == 0)
			say(say_to, SAY_WARNING,
			    "removed %s: its recorder has died, and events were still written to "
			    "it",
			    path);
		else
			say(say_to, SAY_WARNING,
			    "%s is left of a recorder that has died, and cannot be removed: %s",
			    path, strerror(errno));
	}
	if (dir)
		closedir(dir);
}

int trace_instance_make(struct trace_instance *ret, const struct tracefs *top)
{
	const long pid = (long)getpid();
	int n;

	n = snprintf(ret->at.root, sizeof(ret->at.root), "%s/instances/" INSTANCE_PREFIX "%ld-%llu",
		     top->root, pid, instance_start_time(pid));
	if (n >= (int)sizeof(ret->at.root))
		return err_set(-ENAMETOOLONG, "the path of tracefs is too long: %s", top->root);
	if (mkdir(ret->at.root, 0700) < 0) {
		const int e = errno;

		n = err_errno(e, "cannot make the tracefs instance %s%s", ret->at.root,
			      e == EACCES || e == EPERM ? " (it takes root)" : "");
		ret->at.root[0] = '\0';
		return n;
	}
	n = trace_instance_write(ret, "tracing_on", "0");
	if (n < 0) {
		n = err_errno(-n, "cannot switch off %s", ret->at.root);
		trace_instance_remove(ret);
	}
	return n < 0 ? n : 0;
}

int trace_instance_write(const struct trace_instance *i, const char *path, const char *text)
{
	char whole[PATH_MAX];
	ssize_t n;
	int fd, e = 0;

	snprintf(whole, sizeof(whole), "%s/%s", i->at.root, path);
	fd = open(whole, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	if (n < 0)
		e = -errno;
	close(fd);
	return e;
}

void trace_instance_remove(struct trace_instance *i)
{
	if (i->at.root[0])
		rmdir(i->at.root);
	i->at.root[0] = '\0';
}
