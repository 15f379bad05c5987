/* SPDX-License-Identifier: MIT */
/*
 * The files of a recording: DEV.blktrace.CPU, found by the folder or by any one of them. A file
 * with any other name is alone.
 */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sources/blktrace/blktrace.h"

enum { MOST_FILES = UINT16_MAX, LAST_CPU = INT32_MAX };

static const char infix[] = ".blktrace.";

/* The cpu in "sda.blktrace.12", and the length of the device's name; -1 for any other name. */
static int64_t files_cpu_of_name(const char *name, size_t *ret_device_len)
{
	const char *at = NULL, *digits;
	uint64_t cpu = 0;

	for (const char *p = strstr(name, infix); p; p = strstr(p + 1, infix))
		at = p;
	if (!at || at == name)
		return -1;
	digits = at + sizeof(infix) - 1;
	if (!*digits || (*digits == '0' && digits[1]))
		return -1;
	for (; *digits >= '0' && *digits <= '9' && cpu <= LAST_CPU; digits++)
		cpu = cpu * 10 + (uint64_t)(*digits - '0');
	if (*digits || cpu > LAST_CPU)
		return -1;
	*ret_device_len = (size_t)(at - name);
	return (int64_t)cpu;
}

static int file_add(struct blktrace_source *s, int fd, const char *path, int64_t cpu)
{
	struct blktrace_file file = {
		.path = arena_strdup(&s->arena, path),
		.fd = fd,
		.cpu = (uint32_t)cpu,
	};
	struct stat st;

	if (!file.path || vec_push(&s->files, file) < 0) {
		close(fd);
		return err_nomem();
	}
	TRY(source_check_file(fd, path, s->opts.force, &st));
	s->files.v[s->files.n - 1].bytes = (uint64_t)st.st_size;
	return 0;
}

static int files_open_path(struct blktrace_source *s, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? err_errno(errno, "cannot open %s", path) : file_add(s, fd, path, 0);
}

/* ---- several files --------------------------------------------------------------------------- */

/* The files of a folder that belong to the recording. */
struct files_names {
	const char *folder; /* "" for the working directory */
	const char *device; /* "sda"; NULL for all devices */
	size_t device_len;
	VEC(char *) names, packed; /* packed: "sda.blktrace.0.gz" */
};

static void files_names_done(struct files_names *l)
{
	vec_foreach(name, &l->names)
		free(*name);
	vec_foreach(name, &l->packed)
		free(*name);
	vec_done(&l->names);
	vec_done(&l->packed);
}

/* The length of "sda.blktrace.0.gz" without its end; of other names the complete length. */
static size_t files_unpacked_len(const char *name)
{
	static const char *const ends[] = { ".gz", ".xz", ".zst", ".bz2", ".lz4" };
	const size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		const size_t end = strlen(ends[i]);

		if (len > end && !strcmp(name + len - end, ends[i]))
			return len - end;
	}
	return len;
}

static int files_take_name(struct files_names *l, const char *name)
{
	const size_t bare_len = files_unpacked_len(name);
	size_t len = 0;
	char bare[NAME_MAX + 1], *copy;
	int r;

	if (bare_len >= sizeof(bare))
		return 0;
	memcpy(bare, name, bare_len);
	bare[bare_len] = '\0';
	if (files_cpu_of_name(bare, &len) < 0 ||
	    (l->device && (len != l->device_len || memcmp(bare, l->device, len) != 0)))
		return 0;
	copy = strdup(name);
	r = !copy            ? -ENOMEM
	    : name[bare_len] ? vec_push(&l->packed, copy)
			     : vec_push(&l->names, copy);
	if (r < 0) {
		free(copy);
		return err_nomem();
	}
	return 0;
}

/* A packed file that the folder has not unpacked as well; NULL if there is none. */
static const char *files_find_packed(struct files_names *l)
{
	vec_foreach(packed, &l->packed) {
		const size_t len = files_unpacked_len(*packed);
		bool is_unpacked = false;

		vec_foreach(name, &l->names)
			is_unpacked |= strlen(*name) == len && !memcmp(*name, *packed, len);
		if (!is_unpacked)
			return *packed;
	}
	return NULL;
}

/* Devices in the order of their names, cpus in the order of their numbers. */
static int files_by_device_and_cpu(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t x_len = 0, y_len = 0;
	int64_t x_cpu = files_cpu_of_name(x, &x_len), y_cpu = files_cpu_of_name(y, &y_len);
	int r = memcmp(x, y, x_len < y_len ? x_len : y_len);

	if (r || x_len != y_len)
		return r ? r : (x_len > y_len) - (x_len < y_len);
	return (x_cpu > y_cpu) - (x_cpu < y_cpu);
}

static int files_list_names(struct files_names *l, int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!d) {
		r = err_errno(errno, "cannot read %s", *l->folder ? l->folder : ".");
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (entry = readdir(d)))
		r = files_take_name(l, entry->d_name);
	closedir(d);
	if (l->names.n)
		qsort(l->names.v, l->names.n, sizeof(*l->names.v), files_by_device_and_cpu);
	return r;
}

static int files_open_listed(struct blktrace_source *s, struct files_names *l, int dir)
{
	const char *packed = files_find_packed(l);

	if (packed)
		return err_set(-EBADMSG,
			       "%s%s%s is packed: unpack it, sonde reads only unpacked files of a "
			       "directory",
			       l->folder, *l->folder ? "/" : "", packed);
	if (l->names.n > MOST_FILES)
		return err_set(-E2BIG, "%s: %zu files, of which a recording has at most %d",
			       s->opts.path, l->names.n, MOST_FILES);
	for (size_t i = 0; i < l->names.n; i++) {
		const char *name = l->names.v[i];
		size_t len;
		char path[4096];
		int fd = openat(dir, name,
				O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);

		snprintf(path, sizeof(path), "%s%s%s", l->folder, *l->folder ? "/" : "", name);
		if (fd < 0 && errno == ELOOP)
			return err_set(-ELOOP, "%s is a symbolic link, which is not followed",
				       path);
		if (fd < 0)
			return err_errno(errno, "cannot open %s", path);
		TRY(file_add(s, fd, path, files_cpu_of_name(name, &len)));
	}
	return 0;
}

static int files_open_folder(struct blktrace_source *s, struct files_names *l)
{
	int dir = open(*l->folder ? l->folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (dir < 0 && l->device) /* --sandbox allows the named file alone */
		return err_errno(errno,
				 "cannot open %s, which has the files of the other cpus (name "
				 "it in place of %s)",
				 *l->folder ? l->folder : ".", s->opts.path);
	if (dir < 0)
		return err_errno(errno, "cannot open %s", l->folder);
	r = files_list_names(l, dir);
	if (r == 0)
		r = files_open_listed(s, l, dir);
	close(dir);
	files_names_done(l);
	return r;
}

/* The file of one cpu selects the files of all. */
static int files_open_siblings(struct blktrace_source *s, const char *path, const char *name,
			       size_t device_len)
{
	const size_t len = name > path ? (size_t)(name - path - 1) : 0;
	struct files_names l = {
		.folder = arena_strndup(&s->arena, path, len ? len : (size_t)(name > path)),
		.device = name,
		.device_len = device_len,
	};

	return l.folder ? files_open_folder(s, &l) : err_nomem();
}

static bool files_is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int blktrace_files_open(struct blktrace_source *s)
{
	const char *path = s->opts.path, *slash = strrchr(path, '/'),
		   *name = slash ? slash + 1 : path;
	size_t device_len;

	if (s->opts.stream) {
		const struct blktrace_file file = { .path = s->opts.stream->path, .fd = -1 };

		return vec_push(&s->files, file) < 0 ? err_nomem() : 0;
	}
	if (s->opts.is_copied) {
		s->opts.is_copied = false; /* the descriptor is the file's from here on */
		return file_add(s, s->opts.fd, path, 0);
	}
	s->is_folder = files_is_folder(path);
	if (s->is_folder)
		return files_open_folder(s, &(struct files_names){ .folder = path });
	if (files_cpu_of_name(name, &device_len) >= 0)
		return files_open_siblings(s, path, name, device_len);
	return files_open_path(s, path);
}

/* How well a file shows that the directory has a recording. */
enum head_rank { HEAD_NONE, HEAD_UNREADABLE, HEAD_EMPTY, HEAD_OTHER, HEAD_RECORD };

static enum head_rank files_rank_of(int dir, const char *name)
{
	uint8_t head[sizeof(struct blktrace_header_7)];
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return HEAD_UNREADABLE;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, head, sizeof(head), 0);
	close(fd);
	return n < 0                                 ? HEAD_UNREADABLE
	       : !n                                  ? HEAD_EMPTY
	       : blktrace_probe(head, (size_t)n) > 0 ? HEAD_RECORD
						     : HEAD_OTHER;
}

/* A file with records if there is any: the others may be damaged, packed or empty. */
int blktrace_head_file(int dir, char ret[NAME_MAX + 1])
{
	struct files_names l = { .folder = "" };
	enum head_rank best = HEAD_NONE;
	int r = files_list_names(&l, dir);

	for (size_t i = 0; i < l.names.n + l.packed.n && r == 0 && best < HEAD_RECORD; i++) {
		const char *name = i < l.names.n ? l.names.v[i] : l.packed.v[i - l.names.n];
		const enum head_rank rank = files_rank_of(dir, name);

		if (rank > best)
			snprintf(ret, NAME_MAX + 1, "%s", name);
		best = rank > best ? rank : best;
	}
	files_names_done(&l);
	return r < 0 ? r : best > HEAD_NONE;
}
