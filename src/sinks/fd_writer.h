/* SPDX-License-Identifier: MIT */
/*
 * Buffered output to a file descriptor. Formatters append to `out`, which is written in large
 * chunks: 1 MiB to a file, 256 KiB to anything else.
 *
 *	struct fd_writer w;
 *	TRY(fd_writer_init(&w, fd));
 *	outbuf_str(&w.out, "text\n");
 *	TRY(fd_writer_tick(&w));        // after each line or so
 *	TRY(fd_writer_flush(&w));       // at the end
 *	fd_writer_done(&w);
 */
#ifndef SONDE_SINKS_FD_WRITER_H
#define SONDE_SINKS_FD_WRITER_H

#include "base/outbuf.h"

struct fd_writer {
	struct outbuf out;
	size_t chunk_bytes;
	int fd; /* the caller's */
};

int fd_writer_init(struct fd_writer *w, int fd);
/*
 * Writes the complete buffer. -EPIPE if the reader closed it; the caller handles SIGPIPE. -ENOMEM
 * after a failed append.
 */
int fd_writer_flush(struct fd_writer *w);
void fd_writer_done(struct fd_writer *w);

static inline int fd_writer_tick(struct fd_writer *w)
{
	if (__builtin_expect(w->out.len < w->chunk_bytes && !w->out.failed, 1))
		return 0;
	return fd_writer_flush(w);
}

#endif
