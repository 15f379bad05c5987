/* SPDX-License-Identifier: MIT */
#include "sinks/fd_writer.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

#define FILE_CHUNK  (1u << 20)
#define OTHER_CHUNK (256u << 10)
#define SLACK       (64u << 10) /* a chunk and one more line fit without growing */

int fd_writer_init(struct fd_writer *w, int fd)
{
	struct stat st;

	*w = (struct fd_writer){ .fd = fd, .chunk_bytes = OTHER_CHUNK };
	if (fstat(fd, &st) < 0)
		return err_errno(errno, "cannot write output");
	if (S_ISREG(st.st_mode))
		w->chunk_bytes = FILE_CHUNK;
	if (!outbuf_room(&w->out, w->chunk_bytes + SLACK))
		return err_nomem();
	return 0;
}

int fd_writer_flush(struct fd_writer *w)
{
	const char *p = w->out.data, *end = p + w->out.len;

	if (w->out.failed)
		return err_nomem();
	w->out.len = 0;
	while (p < end) {
		ssize_t n = write(w->fd, p, (size_t)(end - p));

		if (n >= 0) {
			p += n;
		} else if (errno == EAGAIN) {
			struct pollfd pfd = { .fd = w->fd, .events = POLLOUT };

			if (poll(&pfd, 1, -1) < 0 && errno != EINTR)
				return err_errno(errno, "cannot write output");
		} else if (errno != EINTR) {
			return err_errno(errno, "cannot write output");
		}
	}
	return 0;
}

void fd_writer_done(struct fd_writer *w)
{
	outbuf_done(&w->out);
}
