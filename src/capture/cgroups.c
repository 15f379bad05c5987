/* SPDX-License-Identifier: MIT */
/* -G: which events are of which control groups. */

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/events.h"

/* "rw,perf_event" has "perf_event" */
static bool has_word(const char *list, const char *word)
{
	const size_t len = strlen(word);

	for (const char *p = list; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (!strncmp(p, word, len) && (!p[len] || p[len] == ','))
			return true;
	}
	return false;
}

/*
 * The tree of control groups that perf events go by: that of the controller perf_event when version 1 has it, otherwise
 * that of version 2. Lines of /proc/self/mounts: "SOURCE PLACE TYPE OPTIONS ...".
 */
static int find_tree(char *buf, size_t size)
{
	FILE *f = fopen("/proc/self/mounts", "re");
	char line[4096], place[1024], type[32], options[1024];
	bool is_found = false;

	*buf = '\0';
	while (f && !is_found && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %1023s %31s %1023s", place, type, options) != 3)
			continue;
		is_found = !strcmp(type, "cgroup") && has_word(options, "perf_event");
		if (is_found || (!*buf && !strcmp(type, "cgroup2")))
			snprintf(buf, size, "%s", place);
	}
	if (f)
		fclose(f);
	return *buf ? 0
		    : err_set(-ENOENT,
			      "-G: no tree of control groups is mounted; as root: mount -t cgroup2 "
			      "none /sys/fs/cgroup");
}

static int open_cgroup(struct capture_events *l, const char *name,
		       const struct capture_cgroup **ret)
{
	struct capture_cgroup g = { .name = name };
	char tree[1024], path[PATH_MAX];
	int error;

	vec_foreach(known, &l->cgroups)
		if (!strcmp(known->name, name)) {
			*ret = known;
			return 0;
		}
	TRY(find_tree(tree, sizeof(tree)));
	if (snprintf(path, sizeof(path), "%s/%s", tree, name) >= (int)sizeof(path))
		return err_set(-EBADR, "-G %.64s...: the name is too long", name);
	g.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g.fd < 0) {
		error = errno;
		return error == ENOENT || error == ENOTDIR
			       ? err_set(-EBADR, "-G %s: there is no such control group in %s",
					 name, tree)
			       : err_errno(error, "-G %s: cannot open %s", name, path);
	}
	if (vec_push(&l->cgroups, g) < 0) {
		close(g.fd);
		return err_nomem();
	}
	*ret = &l->cgroups.v[l->cgroups.n - 1];
	return 0;
}

static void set(struct capture_event *e, const struct capture_cgroup *g)
{
	e->cgroup = g ? g->name : NULL;
	e->cgroup_fd = g ? g->fd : -1;
}

int capture_events_cgroups(struct capture_events *l, const char *names)
{
	const struct capture_cgroup *g = NULL;

	if (!l->list.n)
		return err_set(-EBADR,
			       "-G %s comes before any event: it belongs to the -e before it",
			       names);
	for (const char *at = names;; at++) {
		const size_t len = strcspn(at, ",");

		g = NULL;
		if (len) {
			const char *name = arena_strndup(&l->arena, at, len);

			if (!name)
				return err_nomem();
			if (l->nr_cgroups >= l->list.n)
				return err_set(
					-EBADR,
					"-G %s: %s is for event number %zu, and %zu come before "
					"it; "
					"each control group is for one event, and a single one for "
					"all",
					names, name, l->nr_cgroups + 1, l->list.n);
			TRY(open_cgroup(l, name, &g));
			set(&l->list.v[l->nr_cgroups], g);
		}
		l->nr_cgroups++;
		at += len;
		if (!*at)
			break;
	}
	if (l->nr_cgroups == 1)
		vec_foreach(e, &l->list)
			set(e, g);
	return 0;
}
