/* SPDX-License-Identifier: MIT */
#include "sinks/text/event_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

#define STDIO_BYTES 4096u /* perf does not count the bytes in stdio's last buffer */

static void file_free(struct event_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->temp_path)
		unlink(f->temp_path);
	fd_writer_done(&f->writer);
	free(f->temp_path);
	free(f->path);
	free(f);
}

/*
 * Makes the paths. A slash in an event's name (cpu/cycles/) would separate folders, so it is
 * replaced. perf cannot make files for these events.
 */
static int files_make_paths(struct event_file *f, const struct event_files *all, const char *name)
{
	char *event;

	if (asprintf(&f->path, "%s.%s.dump", all->input, name) < 0) {
		f->path = NULL;
		return err_nomem();
	}
	event = f->path + strlen(all->input) + 1;
	if (all->rules->refuses_slashes && strchr(event, '/'))
		return err_set(-EINVAL, "%s: an event whose name has a slash gets no file in perf",
			       f->path);
	for (; *event; event++) {
		if (*event == '/')
			*event = '_';
	}
	return 0;
}

/*
 * The mode of the files: the recording's permissions. For a pipe, only the user may read and write.
 */
static mode_t files_mode_of(const char *input)
{
	struct stat st;

	return stat(input, &st) == 0 && S_ISREG(st.st_mode) ? st.st_mode & 0666 : 0600;
}

static int files_open_temp(struct event_file *f, mode_t mode)
{
	char *temp;
	int fd;

	if (asprintf(&temp, "%s.%d.part", f->path, (int)getpid()) < 0)
		return err_nomem();
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		int r = err_errno(errno, "cannot write %s", temp);

		free(temp);
		return r;
	}
	f->temp_path = temp;
	f->fd = fd;
	if (fchmod(fd, mode) < 0)
		return err_errno(errno, "cannot set the mode of %s", temp);
	TRY(fd_writer_init(&f->writer, fd));
	return 0;
}

static int file_make(struct event_files *all, const struct sonde_schema *sc,
		     struct event_file **ret)
{
	struct event_file *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return err_nomem();
	f->family = sc->family;
	f->fd = -1;
	r = files_make_paths(f, all, sc->name);
	if (r >= 0)
		r = files_open_temp(f, files_mode_of(all->input));
	if (r >= 0)
		r = vec_push(&all->files, f);
	if (r < 0) {
		file_free(f);
		return r;
	}
	*ret = f;
	return 0;
}

int event_files_get(struct event_files *f, const struct sonde_schema *sc, struct event_file **ret)
{
	while (f->by_schema.n <= sc->id)
		TRY(vec_push(&f->by_schema, NULL));
	if (!f->by_schema.v[sc->id]) {
		vec_foreach(file, &f->files) {
			if ((*file)->family == sc->family)
				f->by_schema.v[sc->id] = *file;
		}
	}
	if (!f->by_schema.v[sc->id])
		TRY(file_make(f, sc, &f->by_schema.v[sc->id]));
	*ret = f->by_schema.v[sc->id];
	return 0;
}

static int files_write_out(struct event_file *f)
{
	f->bytes += f->writer.out.len;
	return fd_writer_flush(&f->writer);
}

int event_file_take(struct event_file *f, struct outbuf *out, size_t start)
{
	if (out->failed)
		return err_nomem();
	outbuf_put(&f->writer.out, out->data + start, out->len - start);
	out->len = start;
	if (f->writer.out.len < f->writer.chunk_bytes && !f->writer.out.failed)
		return 0;
	return files_write_out(f);
}

int event_files_finish(struct event_files *all, struct outbuf *out)
{
	vec_foreach(it, &all->files) {
		struct event_file *f = *it;
		uint64_t bytes;

		TRY(files_write_out(f));
		if (rename(f->temp_path, f->path) < 0)
			return err_errno(errno, "cannot write %s", f->path);
		free(f->temp_path);
		f->temp_path = NULL;
		bytes = f->bytes;
		if (all->rules->counts_full_buffers && bytes)
			bytes = (bytes - 1) / STDIO_BYTES * STDIO_BYTES;
		outbuf_fmt(out, "[ %s script: Wrote %.3f MB %s (%llu samples) ]\n",
			   all->rules->calls_itself_perf ? "perf" : "sonde",
			   (double)bytes / 1024 / 1024, f->path, (unsigned long long)f->nr_samples);
	}
	return 0;
}

void event_files_done(struct event_files *f)
{
	vec_foreach(file, &f->files)
		file_free(*file);
	vec_done(&f->files);
	vec_done(&f->by_schema);
}
