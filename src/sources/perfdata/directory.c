/* SPDX-License-Identifier: MIT */
/*
 * Recordings that are directories (perf record --threads): DIR/data is a complete perf.data.
 * DIR/data.N, one file for each buffer, hold more records, without headers. They are files 1 and up
 * of the source, in the order of their numbers.
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
static int directory_part_number(const char *name)
{
	char *end;
	long n;

	if (strncmp(name, "data.", 5) || name[5] < '0' || name[5] > '9' ||
	    (name[5] == '0' && name[6]))
		return -1;
	n = strtol(name + 5, &end, 10);
	return *end || n > PARTS_MAX ? -1 : (int)n;
}

static int directory_by_number(const void *a, const void *b)
{
	const int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static const char *directory_part_path(struct perfdata_source *s, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", s->opts.path, name);
	return arena_strdup(&s->arena, path);
}

static const char *directory_behind_offset(struct perfdata_source *s, const char *path)
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

int perfdata_directory_head(int dir, char ret[NAME_MAX + 1])
{
	struct stat st;

	strcpy(ret, "data");
	return fstatat(dir, ret, &st, 0) == 0;
}

int perfdata_directory_open(struct perfdata_source *s, int dir)
{
	s->file.path = directory_part_path(s, "data");
	if (s->file.path)
		s->behind_first = directory_behind_offset(s, s->file.path);
	if (!s->behind_first)
		return err_nomem();
	s->file.fd = openat(dir, "data", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (s->file.fd < 0)
		return err_errno(errno, "cannot open %s", s->file.path);
	return 0;
}

/* Recorders count them from 0: there is one with the number below nr. */
static void directory_report_missing(struct perfdata_source *s, int nr)
{
	if (s->nr_parts_known < nr)
		defects_add(s->opts.defects, DEFECT_MISSING_FILE,
			    (uint64_t)(nr - s->nr_parts_known), "%.120s/data.%d", s->opts.path,
			    s->nr_parts_known);
	s->nr_parts_known = s->nr_parts_known < nr ? nr : s->nr_parts_known;
}

static int directory_add_part(struct perfdata_source *s, int dir, int number)
{
	struct perfdata_part part = { .number = number };
	struct stat st;
	char name[32];

	snprintf(name, sizeof(name), "data.%d", number);
	part.path = directory_part_path(s, name);
	if (part.path)
		part.behind = directory_behind_offset(s, part.path);
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
		const int number = directory_part_number(e->d_name);

		if (number >= 0)
			r = vec_push(&numbers, number);
	}
	closedir(d);
	if (numbers.n)
		qsort(numbers.v, numbers.n, sizeof(*numbers.v), directory_by_number);
	for (size_t i = 0; i < numbers.n && r == 0; i++) {
		directory_report_missing(s, numbers.v[i]);
		s->nr_parts_known = numbers.v[i] + 1;
		r = directory_add_part(s, dir, numbers.v[i]);
	}
	vec_done(&numbers);
	return r;
}

/* An empty file of another recorder may be that of a cpu on which nothing happened. */
static void directory_compare_size(struct perfdata_source *s, const struct perfdata_part *part,
				   uint64_t written)
{
	if (!part->bytes && written)
		defects_add(s->opts.defects, DEFECT_MISSING_FILE, 1, "%.120s is empty", part->path);
	else if (part->bytes < written)
		defects_add(s->opts.defects, DEFECT_TRUNCATED, 1,
			    "%.80s has %llu bytes, its recorder wrote %llu", part->path,
			    (unsigned long long)part->bytes, (unsigned long long)written);
}

/*
 * u64 version | from sonde also: u64 number of parts | after the recorder has ended: their sizes,
 * u64 each
 */
int perfdata_directory_format_read(struct perfdata_source *s, struct bytes *b)
{
	uint64_t nr = 0, written = 0;
	size_t part = 0;

	TRY(bytes_skip(b, "version", 8));
	if (!s->behind_first || !bytes_left(b))
		return 0;
	TRY(bytes_u64(b, "number of files", &nr));
	if (nr > PARTS_MAX)
		return bytes_fail(b, -EBADMSG, "%llu files", (unsigned long long)nr);
	directory_report_missing(s, (int)nr);
	for (uint64_t i = 0; i < nr && bytes_left(b); i++) {
		TRY(bytes_u64(b, "size of a file", &written));
		while (part < s->parts.n && (uint64_t)s->parts.v[part].number < i)
			part++;
		if (part < s->parts.n && (uint64_t)s->parts.v[part].number == i)
			directory_compare_size(s, &s->parts.v[part], written);
	}
	return 0;
}

/* u64 nr | nr x { u64 id, part, cpu, tid }: each counter with the part that its records are in */
void perfdata_directory_ids_look(struct perfdata_source *s, const uint8_t *rec, size_t len)
{
	enum { HEAD = 16, ENTRY = 32 };
	uint64_t nr = len < HEAD ? 0 : get_u64(rec + 8, s->file.swap);

	for (size_t at = HEAD; nr && at + ENTRY <= len; at += ENTRY, nr--) {
		const uint64_t part = get_u64(rec + at + 8, s->file.swap);

		if (part < PARTS_MAX)
			directory_report_missing(s, (int)part + 1);
	}
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
