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

enum { DATA_FILES_MAX = UINT16_MAX };

/* The number in "data.12"; -1 for any other name. */
static int directory_file_number(const char *name)
{
	char *end;
	long n;

	if (strncmp(name, "data.", 5) || name[5] < '0' || name[5] > '9' ||
	    (name[5] == '0' && name[6]))
		return -1;
	n = strtol(name + 5, &end, 10);
	return *end || n > DATA_FILES_MAX ? -1 : (int)n;
}

static int directory_by_number(const void *a, const void *b)
{
	const int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static const char *directory_file_path(struct perfdata_source *s, const char *name)
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
		return s->data_files.v[file - 1].behind;
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
	s->file.path = directory_file_path(s, "data");
	if (s->file.path)
		s->behind_first = directory_behind_offset(s, s->file.path);
	if (!s->behind_first)
		return err_nomem();
	s->file.fd = openat(dir, "data", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (s->file.fd < 0)
		return err_errno(errno, "cannot open %s", s->file.path);
	return 0;
}

/* Recorders number them from 0, so there is one with the previous number. */
static void directory_report_missing(struct perfdata_source *s, int nr)
{
	if (s->nr_data_files_known < nr)
		defects_add(s->opts.defects, DEFECT_MISSING_FILE,
			    (uint64_t)(nr - s->nr_data_files_known), "%.120s/data.%d", s->opts.path,
			    s->nr_data_files_known);
	s->nr_data_files_known = s->nr_data_files_known < nr ? nr : s->nr_data_files_known;
}

static int directory_add_file(struct perfdata_source *s, int dir, int number)
{
	struct perfdata_data_file f = { .number = number };
	struct stat st;
	char name[32];

	snprintf(name, sizeof(name), "data.%d", number);
	f.path = directory_file_path(s, name);
	if (f.path)
		f.behind = directory_behind_offset(s, f.path);
	if (!f.behind)
		return err_nomem();
	f.fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	if (f.fd < 0 && errno == ELOOP)
		return err_set(-ELOOP, "%s is a symbolic link, which is not followed", f.path);
	if (f.fd < 0)
		return err_errno(errno, "cannot open %s", f.path);
	if (vec_push(&s->data_files, f) < 0) {
		close(f.fd);
		return err_nomem();
	}
	TRY(source_check_file(f.fd, f.path, s->opts.force, &st));
	s->data_files.v[s->data_files.n - 1].bytes = (uint64_t)st.st_size;
	return 0;
}

int perfdata_directory_files(struct perfdata_source *s, int dir)
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
		const int number = directory_file_number(e->d_name);

		if (number >= 0)
			r = vec_push(&numbers, number);
	}
	closedir(d);
	if (numbers.n)
		qsort(numbers.v, numbers.n, sizeof(*numbers.v), directory_by_number);
	for (size_t i = 0; i < numbers.n && r == 0; i++) {
		directory_report_missing(s, numbers.v[i]);
		s->nr_data_files_known = numbers.v[i] + 1;
		r = directory_add_file(s, dir, numbers.v[i]);
	}
	vec_done(&numbers);
	return r;
}

/* Another recorder's file may be empty because nothing happened on its cpu. */
static void directory_compare_size(struct perfdata_source *s, const struct perfdata_data_file *f,
				   uint64_t written)
{
	if (!f->bytes && written)
		defects_add(s->opts.defects, DEFECT_MISSING_FILE, 1, "%.120s is empty", f->path);
	else if (f->bytes < written)
		defects_add(s->opts.defects, DEFECT_TRUNCATED, 1,
			    "%.80s has %llu bytes, its recorder wrote %llu", f->path,
			    (unsigned long long)f->bytes, (unsigned long long)written);
}

/*
 * u64 version | if sonde recorded: u64 number of files | after the end of recording: their sizes,
 * u64 each
 */
int perfdata_directory_format_read(struct perfdata_source *s, struct bytes *b)
{
	uint64_t nr = 0, written = 0;
	size_t k = 0;

	TRY(bytes_skip(b, "version", 8));
	if (!s->behind_first || !bytes_left(b))
		return 0;
	TRY(bytes_u64(b, "number of files", &nr));
	if (nr > DATA_FILES_MAX)
		return bytes_fail(b, -EBADMSG, "%llu files", (unsigned long long)nr);
	directory_report_missing(s, (int)nr);
	for (uint64_t i = 0; i < nr && bytes_left(b); i++) {
		TRY(bytes_u64(b, "size of a file", &written));
		while (k < s->data_files.n && (uint64_t)s->data_files.v[k].number < i)
			k++;
		if (k < s->data_files.n && (uint64_t)s->data_files.v[k].number == i)
			directory_compare_size(s, &s->data_files.v[k], written);
	}
	return 0;
}

/* u64 nr | nr x { u64 id, file, cpu, tid }: the number of the file with a counter's records */
void perfdata_directory_ids_look(struct perfdata_source *s, const uint8_t *rec, size_t len)
{
	enum { HEAD = 16, ENTRY = 32 };
	uint64_t nr = len < HEAD ? 0 : get_u64(rec + 8, s->file.swap);

	for (size_t at = HEAD; nr && at + ENTRY <= len; at += ENTRY, nr--) {
		const uint64_t number = get_u64(rec + at + 8, s->file.swap);

		if (number < DATA_FILES_MAX)
			directory_report_missing(s, (int)number + 1);
	}
}

int perfdata_directory_unzip(struct perfdata_source *s, const struct unzip_options *like)
{
	vec_foreach(f, &s->data_files) {
		struct unzip_options o = *like;

		o.fd = f->fd;
		o.begin = 0;
		o.end = f->bytes;
		o.path = f->path;
		o.behind_offset = f->behind;
		TRY(unzip_open(&f->unzip, &o));
	}
	return 0;
}

bool perfdata_directory_file(const struct perfdata_source *s, unsigned i, struct source_file *ret)
{
	const struct perfdata_data_file *f;

	if (i >= s->data_files.n)
		return false;
	f = &s->data_files.v[i];
	*ret = (struct source_file){
		.fd = f->fd,
		.stream = f->unzip ? unzip_stream(f->unzip) : NULL,
		.path = f->path,
		.end = f->unzip ? UINT64_MAX : f->bytes,
	};
	return true;
}

void perfdata_directory_close(struct perfdata_source *s)
{
	vec_foreach(f, &s->data_files) {
		close(f->fd);
		unzip_close(f->unzip);
	}
	vec_done(&s->data_files);
}

const struct unzip *perfdata_unzip_of(const struct perfdata_source *s, unsigned file)
{
	return file ? s->data_files.v[file - 1].unzip : s->unzip;
}
