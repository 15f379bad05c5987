/* SPDX-License-Identifier: MIT */
/* -G: which events are recorded in which control groups. */
#include "capture/cgroups.h"

#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/events.h"
#include "capture/limits.h"

bool capture_cgroup_tree(char ret[PATH_MAX])
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	bool is_found = false, is_own = false;
	char strings[4 * PATH_MAX];
	struct mntent m;

	while (f && !is_own && getmntent_r(f, &m, strings, sizeof(strings))) {
		is_own = !strcmp(m.mnt_type, "cgroup") && hasmntopt(&m, "perf_event");
		if (strlen(m.mnt_dir) < PATH_MAX &&
		    (is_own || (!is_found && !strcmp(m.mnt_type, "cgroup2")))) {
			strcpy(ret, m.mnt_dir);
			is_found = true;
		}
	}
	if (f)
		endmntent(f);
	return is_found;
}

static int cgroup_open(struct capture_events *l, const char *option, const char *name,
		       const struct capture_cgroup **ret)
{
	struct capture_cgroup g = { .name = name };
	char tree[PATH_MAX], path[PATH_MAX];
	int error;

	vec_foreach(known, &l->cgroups)
		if (!strcmp(known->name, name)) {
			*ret = known;
			return 0;
		}
	TRY(need_descriptors(1));
	if (!capture_cgroup_tree(tree))
		return err_set(-ENOENT,
			       "%s: no control group hierarchy is mounted; as root: mount -t "
			       "cgroup2 none /sys/fs/cgroup",
			       option);
	if (snprintf(path, sizeof(path), "%s/%s", tree, name) >= (int)sizeof(path))
		return err_set(-EBADR, "%s %.64s...: the name is too long", option, name);
	g.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g.fd < 0) {
		error = errno;
		return error == ENOENT || error == ENOTDIR
			       ? err_set(-EBADR, "%s %s: there is no such control group in %s",
					 option, name, tree)
			       : err_errno(error, "%s %s: cannot open %s", option, name, path);
	}
	if (vec_push(&l->cgroups, g) < 0) {
		close(g.fd);
		return err_nomem();
	}
	*ret = &l->cgroups.v[l->cgroups.n - 1];
	return 0;
}

static void cgroups_set_event(struct capture_event *e, const struct capture_cgroup *g)
{
	e->cgroup = g ? g->name : NULL;
	e->cgroup_fd = g ? g->fd : -1;
}

int capture_events_cgroups(struct capture_events *l, const char *option, const char *names)
{
	const struct capture_cgroup *g = NULL;

	if (!l->list.n)
		return err_set(-EBADR,
			       "%s %s precedes all events: put it after the -e that it belongs to",
			       option, names);
	for (const char *at = names;; at++) {
		const size_t len = strcspn(at, ",");

		g = NULL;
		if (len) {
			const char *name = arena_strndup(&l->arena, at, len);

			if (!name)
				return err_nomem();
			if (l->nr_cgroups >= l->list.n)
				return err_set(-EBADR,
					       "%s %s: %s is for event number %zu, but only %zu "
					       "events precede it; each control group is for one "
					       "event, a single one is for all",
					       option, names, name, l->nr_cgroups + 1, l->list.n);
			TRY(cgroup_open(l, option, name, &g));
			cgroups_set_event(&l->list.v[l->nr_cgroups], g);
		}
		l->nr_cgroups++;
		at += len;
		if (!*at)
			break;
	}
	if (l->nr_cgroups == 1)
		vec_foreach(e, &l->list)
			cgroups_set_event(e, g);
	return 0;
}
