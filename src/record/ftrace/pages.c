/* SPDX-License-Identifier: MIT */
/* Pages of the kernel's buffers are moved to a file for each cpu. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "record/ftrace/ftrace.h"

enum { PIPE_BYTES = 1 << 20 };

static int pages_open_cpu(struct ftrace *f, struct ftrace_cpu *c)
{
	TRY(ftrace_buffers_open_cpu(&f->buffers, c->cpu, &c->raw_fd));
	if (asprintf(&c->path, "%s.cpu%d", f->output.path, c->cpu) < 0) {
		c->path = NULL;
		return err_nomem();
	}
	c->file_fd = open(c->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (c->file_fd < 0 && errno == EEXIST)
		return err_set(-EEXIST,
			       "%s exists: it may have the events of a recorder that was killed, "
			       "of which 'trace-cmd restore -o FILE %s.cpu*' makes a trace.dat; "
			       "remove it, or name another file with -o",
			       c->path, f->output.path);
	if (c->file_fd < 0)
		return err_errno(errno, "cannot make %s", c->path);
	if (pipe2(c->pipe, O_CLOEXEC | O_NONBLOCK) < 0) {
		c->pipe[0] = c->pipe[1] = -1;
		return err_errno(errno, "cannot make a pipe");
	}
	/* a smaller one works, too */
	fcntl(c->pipe[0], F_SETPIPE_SZ, PIPE_BYTES);
	return 0;
}

int ftrace_pages_open(struct ftrace *f)
{
	vec_foreach(c, &f->cpus)
		TRY(pages_open_cpu(f, c));
	return 0;
}

static int pages_empty_pipe(struct ftrace_cpu *c, size_t bytes)
{
	while (bytes) {
		const ssize_t n = splice(c->pipe[0], NULL, c->file_fd, NULL, bytes, SPLICE_F_MOVE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(n ? errno : EIO, "cannot write %s", c->path);
		bytes -= (size_t)n;
		c->bytes += (uint64_t)n;
	}
	return 0;
}

/* Returns the number of bytes that were moved. */
static ssize_t pages_splice(const struct ftrace *f, struct ftrace_cpu *c)
{
	const size_t most =
		PIPE_BYTES / f->buffers.layout.page_bytes * f->buffers.layout.page_bytes;
	const ssize_t n =
		splice(c->raw_fd, NULL, c->pipe[1], NULL, most, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return err_errno(errno, "cannot read the buffer of cpu %d", c->cpu);
	TRY(pages_empty_pipe(c, (size_t)n));
	return n;
}

/* A page that is not full cannot be moved: it is copied, with its end zeroed. */
static int pages_read_rest(const struct ftrace *f, struct ftrace_cpu *c)
{
	const size_t len = f->buffers.layout.page_bytes;
	char *page = calloc(1, len);
	int e = page ? 0 : err_nomem();

	while (e == 0) {
		const ssize_t n = read(c->raw_fd, page, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || (size_t)n > len)
			break;
		memset(page + n, 0, len - (size_t)n);
		if (write(c->file_fd, page, len) != (ssize_t)len)
			e = err_errno(errno, "cannot write %s", c->path);
		else
			c->bytes += len;
	}
	free(page);
	return e;
}

int ftrace_pages_move(struct ftrace *f, bool is_last)
{
	vec_foreach(c, &f->cpus) {
		ssize_t n;

		do {
			n = pages_splice(f, c);
			TRY((int)n);
		} while (n > 0);
		if (is_last)
			TRY(pages_read_rest(f, c));
	}
	return 0;
}

int ftrace_pages_end(struct ftrace *f)
{
	vec_foreach(c, &f->cpus) {
		char path[64];
		size_t len;

		if (c->raw_fd >= 0)
			close(c->raw_fd);
		c->raw_fd = -1;
		snprintf(path, sizeof(path), "per_cpu/cpu%d/stats", c->cpu);
		TRY(tracefs_read(&f->buffers.instance.at, path, &c->stats, &len));
		c->events = ftrace_buffers_stat(c->stats, "read events: ");
		c->lost = ftrace_buffers_lost(c->stats);
	}
	return 0;
}

uint64_t ftrace_pages_bytes(const struct ftrace *f)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < f->cpus.n; i++)
		bytes += f->cpus.v[i].bytes;
	return bytes;
}

static void pages_close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void ftrace_pages_done(struct ftrace *f, bool keeps_files)
{
	vec_foreach(c, &f->cpus) {
		pages_close_fd(c->raw_fd);
		pages_close_fd(c->pipe[0]);
		pages_close_fd(c->pipe[1]);
		if (c->file_fd >= 0 && !keeps_files)
			unlink(c->path);
		pages_close_fd(c->file_fd);
		free(c->path);
		free(c->stats);
	}
	vec_done(&f->cpus);
}
