/* SPDX-License-Identifier: MIT */
/*
 * Recordings that are directories (perf record --threads): DIR/data is a whole perf.data, DIR/data.N hold more records,
 * one file for each buffer, without headers. They are files 1 and up of the source, in the order of their numbers.
 */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sources/perfdata/perfdata.h"
#include "sources/perfdata/unzip.h"

enum { PARTS_MAX = UINT16_MAX };

/* The number of "data.12"; -1: no such name. */
static int part_number(const char *name)
{
	char *end;
	long n;

	if (strncmp(name, "data.", 5) || name[5] < '0' || name[5] > '9' ||
	    (name[5] == '0' && name[6]))
		return -1;
	n = strtol(name + 5, &end, 10);
	return *end || n > PARTS_MAX ? -1 : (int)n;
}

static int by_number(const void *a, const void *b)
{
	const int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static const char *part_path(struct perfdata_source *s, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", s->opts.path, name);
	return arena_strdup(&s->arena, path);
}

static const char *behind_offset(struct perfdata_source *s, const char *path)
{
	char text[4096 + 8];

	snprintf(text, sizeof(text), " of %s", path);
	return arena_strdup(&s->arena, text);
}

const char *perfdata_behind_offset(const struct perfdata_source *s, unsigned file)
{
	if (file)
		return s->parts.v[file - 1].behind;
	return s->behind_first ? s->behind_first : "";
}

int perfdata_directory_open(struct perfdata_source *s, int dir)
{
	s->file.path = part_path(s, "data");
	if (s->file.path)
		s->behind_first = behind_offset(s, s->file.path);
	if (!s->behind_first)
		return err_nomem();
	s->file.fd = openat(dir, "data", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (s->file.fd < 0)
		return err_errno(errno, "cannot open %s", s->file.path);
	return 0;
}

/* Recorders count them from 0. */
static void tell_missing(struct perfdata_source *s, int from, int to)
{
	if (from < to)
		defects_add(s->opts.defects, DEFECT_MISSING_FILE, (uint64_t)(to - from),
			    "%.120s/data.%d", s->opts.path, from);
}

static int add_part(struct perfdata_source *s, int dir, int number)
{
	struct perfdata_part part = { 0 };
	struct stat st;
	char name[32];

	snprintf(name, sizeof(name), "data.%d", number);
	part.path = part_path(s, name);
	if (part.path)
		part.behind = behind_offset(s, part.path);
	if (!part.behind)
		return err_nomem();
	part.fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	if (part.fd < 0 && errno == ELOOP)
		return err_set(-ELOOP, "%s is a symbolic link, which is not followed", part.path);
	if (part.fd < 0)
		return err_errno(errno, "cannot open %s", part.path);
	if (vec_push(&s->parts, part) < 0) {
		close(part.fd);
		return err_nomem();
	}
	TRY(source_check_file(part.fd, part.path, s->opts.force, &st));
	s->parts.v[s->parts.n - 1].bytes = (uint64_t)st.st_size;
	return 0;
}

int perfdata_directory_parts(struct perfdata_source *s, int dir)
{
	VEC(int) numbers = { 0 };
	struct dirent *e;
	int fd = dup(dir), r = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		r = err_errno(errno, "cannot read %s", s->opts.path);
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (e = readdir(d))) {
		const int number = part_number(e->d_name);

		if (number >= 0)
			r = vec_push(&numbers, number);
	}
	closedir(d);
	if (numbers.n)
		qsort(numbers.v, numbers.n, sizeof(*numbers.v), by_number);
	for (size_t i = 0; i < numbers.n && r == 0; i++) {
		tell_missing(s, i ? numbers.v[i - 1] + 1 : 0, numbers.v[i]);
		r = add_part(s, dir, numbers.v[i]);
	}
	vec_done(&numbers);
	return r;
}

int perfdata_directory_unzip(struct perfdata_source *s, const struct unzip_options *like)
{
	vec_foreach(part, &s->parts) {
		struct unzip_options o = *like;

		o.fd = part->fd;
		o.begin = 0;
		o.end = part->bytes;
		o.path = part->path;
		o.behind_offset = part->behind;
		TRY(unzip_open(&part->unzip, &o));
	}
	return 0;
}

bool perfdata_directory_file(const struct perfdata_source *s, unsigned i, struct source_file *ret)
{
	const struct perfdata_part *part;

	if (i >= s->parts.n)
		return false;
	part = &s->parts.v[i];
	*ret = (struct source_file){ .fd = part->fd,
				     .stream = part->unzip ? unzip_stream(part->unzip) : NULL,
				     .path = part->path,
				     .end = part->unzip ? UINT64_MAX : part->bytes };
	return true;
}

void perfdata_directory_close(struct perfdata_source *s)
{
	vec_foreach(part, &s->parts) {
		close(part->fd);
		unzip_close(part->unzip);
	}
	vec_done(&s->parts);
}

const struct unzip *perfdata_unzip_of(const struct perfdata_source *s, unsigned file)
{
	return file ? s->parts.v[file - 1].unzip : s->unzip;
}
