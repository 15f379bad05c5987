/* SPDX-License-Identifier: MIT */
#include "capture/running/markers.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "capture/running/build_ids.h"

enum { PROBES_MAX_BYTES = 16 << 20 };

struct marker {
	const char *key; /* "NAME@BUILD_ID": perf sorts by it */
	const char *name, *build_id, *file;
};

struct markers {
	VEC(struct marker) list;
	struct arena arena; /* contains all text */
};

static int markers_compare(const void *a, const void *b)
{
	const struct marker *x = a, *y = b;

	return strcmp(x->key, y->key);
}

/* perf, too, leaves out files that were replaced since they were stored. */
static bool markers_file_has_id(const char *file, const char *build_id)
{
	char hex[BUILD_ID_HEX_CHARS];
	const int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct build_id id = { 0 };
	struct stat st;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		id = build_id_of_file(fd);
	close(fd);
	return id.len && !strcmp(build_id_hex(&id, hex), build_id);
}

/* %SYSTEM:NAME=... */
static int markers_add_line(struct markers *m, const char *line, const char *file,
			    const char *build_id)
{
	const size_t len = strcspn(line, "=\n");
	struct marker marker = { .file = file, .build_id = build_id };
	char *key;

	if (*line != '%' || line[len] != '=' || !memchr(line, ':', len))
		return 0;
	marker.name = arena_strndup(&m->arena, line + 1, len - 1);
	marker.key = key = arena_alloc(&m->arena, len + strlen(build_id) + 1);
	if (!marker.name || !key)
		return err_nomem();
	strcpy(stpcpy(stpcpy(key, marker.name), "@"), build_id);
	return vec_push(&m->list, marker);
}

static int markers_add_file(struct markers *m, const char *path, const char *file,
			    const char *build_id)
{
	FILE *f = fopen(path, "re");
	size_t capacity = 0, read = 0;
	char *line = NULL;
	ssize_t n;
	int r = 0;

	if (!f)
		return 0;
	while (r == 0 && read < PROBES_MAX_BYTES && (n = getline(&line, &capacity, f)) > 0) {
		read += (size_t)n;
		r = markers_add_line(m, line, file, build_id);
	}
	free(line);
	fclose(f);
	return r;
}

/* An entry of .build-id: a link to the folder of one file. */
static int markers_add_entry(struct markers *m, const char *dir, const char *first,
			     const char *rest)
{
	static const char up[] = "../..";
	char link[PATH_MAX], path[PATH_MAX], probes[PATH_MAX + 16], *file, *build_id;
	ssize_t n;

	if (snprintf(path, sizeof(path), "%s/.build-id/%s/%s", dir, first, rest) >=
	    (int)sizeof(path))
		return 0;
	n = readlink(path, link, sizeof(link) - 1);
	if (n <= (ssize_t)strlen(up) || strncmp(link, up, strlen(up)))
		return 0;
	link[n] = '\0';
	if (!strrchr(link + strlen(up), '/'))
		return 0;
	*strrchr(link, '/') = '\0';
	file = arena_strdup(&m->arena, link + strlen(up));
	build_id = arena_alloc(&m->arena, strlen(first) + strlen(rest) + 1);
	if (!file || !build_id)
		return err_nomem();
	strcpy(stpcpy(build_id, first), rest);
	if (*file != '/' || !markers_file_has_id(file, build_id))
		return 0;
	snprintf(probes, sizeof(probes), "%s/probes", path);
	return markers_add_file(m, probes, file, build_id);
}

static int markers_add_folder(struct markers *m, const char *dir, const char *first)
{
	char path[PATH_MAX];
	struct dirent *e;
	int r = 0;
	DIR *d;

	if (snprintf(path, sizeof(path), "%s/.build-id/%s", dir, first) >= (int)sizeof(path))
		return 0;
	d = opendir(path);
	while (d && r == 0 && (e = readdir(d)))
		if (e->d_name[0] != '.')
			r = markers_add_entry(m, dir, first, e->d_name);
	if (d)
		closedir(d);
	return r;
}

static int markers_collect(struct markers *m, const char *dir)
{
	char path[PATH_MAX];
	struct dirent *e;
	int r = 0;
	DIR *d;

	if (snprintf(path, sizeof(path), "%s/.build-id", dir) >= (int)sizeof(path))
		return 0;
	d = opendir(path);
	while (d && r == 0 && (e = readdir(d)))
		if (e->d_name[0] != '.' && strlen(e->d_name) == 2)
			r = markers_add_folder(m, dir, e->d_name);
	if (d)
		closedir(d);
	return r;
}

static void markers_visit(const struct marker *m,
			  void (*visit)(void *ctx, const struct sonde_listed_event *event),
			  void *ctx)
{
	char text[PATH_MAX + 128];
	const struct sonde_listed_event e = {
		.size = sizeof(e),
		.kind = SONDE_EVENT_SDT,
		.name = m->name,
		.description = text,
		.file = m->file,
		.build_id = m->build_id,
	};

	snprintf(text, sizeof(text),
		 "A marker in %s; perf probe %s makes a tracepoint of it, which can be recorded.",
		 m->file, m->name);
	visit(ctx, &e);
}

int markers_each(const char *dir, void (*visit)(void *ctx, const struct sonde_listed_event *event),
		 void *ctx)
{
	const char *home = getenv("HOME");
	struct markers m = { 0 };
	char usual[PATH_MAX];
	int r;

	snprintf(usual, sizeof(usual), "%s/.debug", home ? home : "");
	r = markers_collect(&m, dir ? dir : usual);
	if (m.list.n)
		qsort(m.list.v, m.list.n, sizeof(*m.list.v), markers_compare);
	for (size_t i = 0; r == 0 && i < m.list.n; i++)
		markers_visit(&m.list.v[i], visit, ctx);
	vec_done(&m.list);
	arena_done(&m.arena);
	return r;
}
