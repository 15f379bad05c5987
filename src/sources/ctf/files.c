/* SPDX-License-Identifier: MIT */
/*
 * The files of a trace: `metadata`, and every other regular file of the folder whose name does not
 * begin with a dot. Files of one stream are parts of it, in the order of their first packets.
 */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sources/ctf/ctf.h"

enum {
	MOST_FILES = UINT16_MAX,
	FIRST_BYTES = 64 * 1024,            /* the header of a first packet has at most so many */
	MOST_SLOT_BYTES = 256 * 1024 * 1024 /* of all files */
};

static const char metadata_name[] = "metadata";

static const char *files_path_of(struct ctf_source *s, const char *name)
{
	const size_t len = strlen(s->opts.path);
	char path[4096];

	snprintf(path, sizeof(path), "%s%s%s", s->opts.path,
		 len && s->opts.path[len - 1] == '/' ? "" : "/", name);
	return arena_strdup(&s->arena, path);
}

/* ---- metadata -------------------------------------------------------------------------------- */

static int files_read_all(int fd, const char *path, uint8_t *to, size_t len)
{
	for (size_t at = 0; at < len;) {
		const ssize_t n = pread(fd, to + at, len - at, (off_t)at);

		if (n < 0)
			return err_errno(errno, "cannot read %s", path);
		if (!n)
			return err_set(-EBADMSG, "%s shrank while it was read", path);
		at += (size_t)n;
	}
	return 0;
}

static int files_read_metadata(struct ctf_source *s, int dir)
{
	const char *path = files_path_of(s, metadata_name);
	int fd, r;
	struct stat st;
	uint8_t *bytes = NULL;

	if (!path)
		return err_nomem();
	fd = openat(dir, metadata_name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return err_errno(errno, "cannot open %s", path);
	r = source_check_file(fd, path, s->opts.force, &st);
	if (r >= 0 && st.st_size > CTF_METADATA_BYTES)
		r = err_set(-E2BIG, "%s has %lld bytes; sonde reads at most %d of metadata", path,
			    (long long)st.st_size, CTF_METADATA_BYTES);
	if (r >= 0 && !(bytes = malloc((size_t)st.st_size + 1)))
		r = err_nomem();
	if (r >= 0)
		r = files_read_all(fd, path, bytes, (size_t)st.st_size);
	if (r >= 0)
		r = ctf_trace_read(&s->trace, path, bytes, (size_t)st.st_size);
	free(bytes);
	close(fd);
	return r;
}

/* ---- files of packets ------------------------------------------------------------------------ */

static int files_add(struct ctf_source *s, int dir, const char *name)
{
	struct ctf_file file = { .path = files_path_of(s, name), .cpu = -1 };
	struct stat st;
	int r;

	if (!file.path)
		return err_nomem();
	file.name = file.path + strlen(file.path) - strlen(name);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(errno, "cannot look at %s", file.path);
	if (!S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	if (s->files.n >= MOST_FILES)
		return err_set(-E2BIG, "%s has more than %d files", s->opts.path, MOST_FILES);
	file.fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	if (file.fd < 0)
		return err_errno(errno, "cannot open %s", file.path);
	r = source_check_file(file.fd, file.path, s->opts.force, &st);
	file.bytes = (uint64_t)st.st_size;
	if (r >= 0 && vec_push(&s->files, file) < 0)
		r = err_nomem();
	if (r < 0)
		close(file.fd);
	return r;
}

static int files_list(struct ctf_source *s, int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!d) {
		r = err_errno(errno, "cannot read %s", s->opts.path);
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (entry = readdir(d)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, metadata_name) != 0)
			r = files_add(s, dir, entry->d_name);
	closedir(d);
	return r;
}

/* ---- order ----------------------------------------------------------------------------------- */

static int files_look_at_first(struct ctf_source *s, struct ctf_file *file, uint8_t *room,
			       uint64_t *slots)
{
	struct ctf_packet packet;
	const char *why;
	size_t need;
	const ssize_t n = pread(file->fd, room, FIRST_BYTES, 0);

	if (n < 0)
		return err_errno(errno, "cannot read %s", file->path);
	if (ctf_packet_read(s, file, 0, room, (size_t)n, 0, slots, &packet, &need, &why) < 0)
		return 0; /* cut() reports it */
	file->class = packet.class;
	file->has_instance = packet.seen & 1u << CTF_ROLE_INSTANCE_ID;
	file->instance = packet.roles[CTF_ROLE_INSTANCE_ID];
	file->has_begin = packet.seen & 1u << CTF_ROLE_BEGIN && packet.class->clock;
	if (file->has_begin)
		file->first_ns = ctf_ns(packet.class->clock, packet.clock);
	return 0;
}

/* An order of files by which events of equal times follow each other as babeltrace2 prints them. */
static int files_by_stream(const void *a, const void *b)
{
	const struct ctf_file *x = a, *y = b;
	const bool x_is_part = x->class && x->has_instance && x->has_begin,
		   y_is_part = y->class && y->has_instance && y->has_begin;
	const uint64_t x_id = x->class ? x->class->id : UINT64_MAX,
		       y_id = y->class ? y->class->id : UINT64_MAX;

	if (x->class && y->class && !x->class->clock && !y->class->clock)
		return strcmp(x->path, y->path);
	if (x_id != y_id)
		return x_id < y_id ? -1 : 1;
	if (x_is_part && y_is_part && x->instance != y->instance)
		return x->instance < y->instance ? -1 : 1;
	if (x_is_part && y_is_part && x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return strcmp(x->path, y->path);
}

static int files_make_streams(struct ctf_source *s)
{
	for (size_t i = 0; i < s->files.n; i++) {
		struct ctf_file *file = &s->files.v[i];
		const struct ctf_file *before = i ? file - 1 : NULL;
		const struct ctf_stream stream = { .class = file->class,
						   .instance = file->instance };
		const bool is_part = before && file->class && before->class == file->class &&
				     file->has_instance && before->has_instance &&
				     file->instance == before->instance && file->has_begin &&
				     before->has_begin;

		if (!is_part && vec_push(&s->streams, stream) < 0)
			return err_nomem();
		file->stream = (uint32_t)s->streams.n - 1;
	}
	return 0;
}

static int files_make_slots(struct ctf_source *s)
{
	const uint64_t nr = s->trace.nr_slots ? s->trace.nr_slots : 1;

	if (nr * s->files.n * 2 * sizeof(uint64_t) > MOST_SLOT_BYTES)
		return err_set(-E2BIG, "%s: %zu files with %llu lengths and tags each are too many",
			       s->opts.path, s->files.n, (unsigned long long)nr);
	vec_foreach(file, &s->files) {
		file->cut_slots = arena_array(&s->arena, nr, sizeof(uint64_t));
		file->slots = arena_array(&s->arena, nr, sizeof(uint64_t));
		if (!file->cut_slots || !file->slots)
			return err_nomem();
	}
	return 0;
}

static int files_order(struct ctf_source *s)
{
	uint8_t *room = malloc(FIRST_BYTES);
	int r = room ? 0 : err_nomem();

	vec_foreach(file, &s->files) {
		if (r >= 0)
			r = files_look_at_first(s, file, room, file->cut_slots);
	}
	free(room);
	if (r >= 0 && s->files.n)
		qsort(s->files.v, s->files.n, sizeof(*s->files.v), files_by_stream);
	return r < 0 ? r : files_make_streams(s);
}

/* Whoever names the file `metadata` means its folder. */
static int files_find_folder(struct ctf_source *s)
{
	const char *slash = strrchr(s->opts.path, '/'), *name = slash ? slash + 1 : s->opts.path;
	struct stat st;

	if (strcmp(name, metadata_name) != 0 || stat(s->opts.path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	s->opts.path = !slash                  ? "."
		       : slash == s->opts.path ? "/"
					       : arena_strndup(&s->arena, s->opts.path,
							       (size_t)(slash - s->opts.path));
	return s->opts.path ? 0 : err_nomem();
}

static int files_open_folder(const struct ctf_source *s)
{
	const int dir = open(s->opts.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? err_errno(errno,
				   "cannot open %s: a CTF trace is a folder with a file "
				   "'metadata', which is to be named",
				   s->opts.path)
		       : dir;
}

/* The trace may be below the named folder. */
static int files_find_below(struct ctf_source *s, int *dir)
{
	char name[NAME_MAX + 1], *slash;

	TRY(ctf_head_file(*dir, name));
	slash = strrchr(name, '/');
	if (!slash)
		return 0;
	*slash = '\0';
	s->opts.path = files_path_of(s, name);
	if (!s->opts.path)
		return err_nomem();
	close(*dir);
	*dir = files_open_folder(s);
	return *dir < 0 ? *dir : 0;
}

int ctf_files_open(struct ctf_source *s)
{
	int dir, r;

	TRY(files_find_folder(s));
	dir = files_open_folder(s);
	if (dir < 0)
		return dir;
	r = files_find_below(s, &dir);
	if (r >= 0)
		r = files_read_metadata(s, dir);
	if (r >= 0)
		r = files_list(s, dir);
	if (dir >= 0)
		close(dir);
	if (r >= 0)
		r = files_make_slots(s);
	return r < 0 ? r : files_order(s);
}
