/* SPDX-License-Identifier: MIT */
#include "capture/tracefs.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/near.h"
#include "base/outbuf.h"

enum { FILE_MAX_BYTES = 64 << 20 };

static const char *const usual_places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

/*
 * Finds a tracefs mounted elsewhere: its line in /proc/self/mounts is "SOURCE PLACE tracefs ...".
 */
static void tracefs_find_mount(char *root, size_t size)
{
	FILE *f = fopen("/proc/self/mounts", "re");
	char line[1024], place[256], type[32];

	*root = '\0';
	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %255s %31s", place, type) == 2 && !strcmp(type, "tracefs")) {
			snprintf(root, size, "%s", place);
			break;
		}
	fclose(f);
}

static int tracefs_try_root(struct tracefs *t, const char *root)
{
	char path[sizeof(t->root) + 32];
	int fd;

	snprintf(t->root, sizeof(t->root), "%s", root);
	snprintf(path, sizeof(path), "%s/events/header_page", root);
	/*
	 * opened, because access(2) would check the real user, without the program's capabilities
	 */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int tracefs_open(struct tracefs *ret)
{
	struct tracefs t;
	char mounted[sizeof(t.root)];
	int r = -ENOENT;

	tracefs_find_mount(mounted, sizeof(mounted));
	if (*mounted)
		r = tracefs_try_root(&t, mounted);
	for (size_t i = 0; r < 0 && i < sizeof(usual_places) / sizeof(*usual_places); i++) {
		int s = tracefs_try_root(&t, usual_places[i]);

		/* "no rights" is more informative than "not there" */
		if (s == 0 || r == -ENOENT)
			r = s;
	}
	if (r == -EACCES || r == -EPERM)
		return err_set(
			-EACCES,
			"%s: no right to read the kernel's tracepoints: let a group of yours "
			"read them (as root: mount -o remount,gid=GROUP,mode=0750 %s), or run "
			"as root",
			*mounted ? mounted : usual_places[0], *mounted ? mounted : usual_places[0]);
	/* out of descriptors or memory, which proves nothing about tracefs */
	if (r < 0 && r != -ENOENT && r != -ENOTDIR)
		return err_errno(-r, "cannot read the kernel's tracepoints");
	if (r < 0)
		return err_set(-ENOENT,
			       "tracefs is not mounted, so there are no tracepoints: as root, "
			       "mount -t tracefs nodev %s",
			       usual_places[0]);
	*ret = t;
	return 0;
}

int tracefs_open_copy(const char *folder, struct tracefs *ret)
{
	char path[sizeof(ret->root) + 8];

	if (strlen(folder) >= sizeof(ret->root))
		return err_set(-ENAMETOOLONG, "%s: the name of the folder is too long", folder);
	snprintf(ret->root, sizeof(ret->root), "%s", folder);
	snprintf(path, sizeof(path), "%s/events", folder);
	if (access(path, R_OK | X_OK) < 0)
		return err_errno(errno,
				 "%s has no descriptions of events (a copy of tracefs: "
				 "events/SYSTEM/EVENT/format)",
				 folder);
	return 0;
}

int tracefs_read(const struct tracefs *t, const char *path, char **ret, size_t *ret_len)
{
	struct outbuf o = { 0 };
	char full[1024];
	ssize_t n = 0;
	int fd;

	snprintf(full, sizeof(full), "%s/%s", t->root, path);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(errno, "cannot open %s", full);
	while (o.len < FILE_MAX_BYTES) {
		char *room = outbuf_room(&o, 16384);

		n = room ? read(fd, room, 16384) : 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		outbuf_advance(&o, (size_t)n);
	}
	n = n < 0 ? -errno : 0;
	close(fd);
	outbuf_char(&o, '\0');
	if (n < 0 || o.failed) {
		outbuf_done(&o);
		return n < 0 ? err_errno((int)-n, "cannot read %s", full) : err_nomem();
	}
	*ret = o.data;
	*ret_len = o.len - 1;
	return 0;
}

int tracefs_event_id(const struct tracefs *t, const char *system, const char *event,
		     uint64_t *ret_id)
{
	char path[512], *text, *end;
	size_t len;
	uint64_t id;

	snprintf(path, sizeof(path), "events/%s/%s/id", system, event);
	TRY(tracefs_read(t, path, &text, &len));
	id = strtoull(text, &end, 10);
	free(text);
	if (!len || id == 0)
		return err_set(-EBADMSG, "%s/%s contains no number", t->root, path);
	*ret_id = id;
	return 0;
}

/*
 * The next entry of a directory of events that is not a control file. The entry's type is enough;
 * no stat is needed.
 */
static struct dirent *tracefs_next_dir(DIR *d)
{
	struct dirent *e;

	while ((e = readdir(d)))
		if (e->d_name[0] != '.' && (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN))
			return e;
	return NULL;
}

static int tracefs_match_system(const struct tracefs *t, const char *system, const char *event_glob,
				int (*visit)(void *, const char *, const char *), void *ctx)
{
	char path[sizeof(t->root) + NAME_MAX + 16];
	struct dirent *e;
	DIR *d;
	int r = 0;

	snprintf(path, sizeof(path), "%s/events/%s", t->root, system);
	d = opendir(path);
	if (!d && (errno_no_descriptor(errno) || errno == ENOMEM))
		return err_errno(errno, "cannot list %s", path);
	if (!d)
		return 0;
	while (r >= 0 && (e = tracefs_next_dir(d)))
		if (fnmatch(event_glob, e->d_name, 0) == 0)
			r = visit(ctx, system, e->d_name);
	closedir(d);
	return r;
}

int tracefs_events_match(const struct tracefs *t, const char *system_glob, const char *event_glob,
			 int (*visit)(void *ctx, const char *system, const char *event), void *ctx)
{
	char path[sizeof(t->root) + 16];
	struct dirent *e;
	DIR *d;
	int r = 0;

	snprintf(path, sizeof(path), "%s/events", t->root);
	d = opendir(path);
	if (!d)
		return err_errno(errno, "cannot list %s", path);
	while (r >= 0 && (e = tracefs_next_dir(d)))
		if (fnmatch(system_glob, e->d_name, 0) == 0)
			r = tracefs_match_system(t, e->d_name, event_glob, visit, ctx);
	closedir(d);
	return r < 0 ? r : 0;
}

void tracefs_events_near(const struct tracefs *t, const char *name, char *buf, size_t size)
{
	struct near near;
	char *text, *line, *save = NULL;
	size_t len;

	near_init(&near, name);
	if (tracefs_read(t, "available_events", &text, &len) == 0) {
		for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
			near_offer(&near, line);
		free(text);
	}
	near_text(&near, buf, size);
}
