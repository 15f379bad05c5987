/* SPDX-License-Identifier: MIT */
#include "sources/stream.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/now.h"
#include "base/temp_file.h"
#include "base/write_all.h"

enum {
	READ_BYTES = 1024 * 1024, /* requested from the pipe in one call */
	COPY_BYTES = 256 * 1024,
	EVICT_BYTES = STREAM_MEMORY / 16, /* dropped from memory at once */
	PUNCH_BYTES = STREAM_MEMORY
};

_Static_assert(STREAM_MEMORY % EVICT_BYTES == 0, "pieces do not wrap round");

void stream_init(struct stream *s, int fd, const char *path, const atomic_int *stopped)
{
	*s = (struct stream){
		.fd = fd,
		.path = path,
		.stopped = stopped,
		.spool = -1,
		.copy_fd = -1,
	};
}

void stream_init_made(struct stream *s, int64_t (*make)(void *ctx, void *buf, size_t len),
		      void *ctx, const char *path, uint64_t begin)
{
	*s = (struct stream){
		.fd = -1,
		.make = make,
		.ctx = ctx,
		.path = path,
		.keep_from = begin,
		.mem_begin = begin,
		.end = begin,
		.spool = -1,
		.copy_fd = -1,
	};
}

void stream_done(struct stream *s)
{
	if (s->spool >= 0)
		close(s->spool);
	free(s->ring);
	s->ring = NULL;
	s->spool = -1;
	if (s->done)
		s->done(s->ctx);
	s->done = NULL;
}

int stream_open(struct stream **ret, int fd, const char *path, const atomic_int *stopped)
{
	struct stream *s = malloc(sizeof(*s));

	if (!s)
		return err_nomem();
	stream_init(s, fd, path, stopped);
	*ret = s;
	return 0;
}

void stream_free(struct stream *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	stream_done(s);
	free(s);
}

void stream_let_go(struct stream *s, uint64_t off)
{
	if (off > s->keep_from)
		s->keep_from = off;
}

/* Frees the disk space of released bytes. Some file systems cannot; they keep it until the end. */
static void stream_punch(struct stream *s)
{
	uint64_t to = s->keep_from < s->mem_begin ? s->keep_from : s->mem_begin;

	if (to < s->punched + PUNCH_BYTES)
		return;
	(void)fallocate(s->spool, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)s->punched,
			(off_t)(to - s->punched));
	s->punched = to;
}

/* Drops the oldest bytes from memory. Writes those still needed to the temporary file. */
static int stream_make_room(struct stream *s)
{
	uint64_t end = s->mem_begin + EVICT_BYTES - s->mem_begin % EVICT_BYTES;

	if (s->end - s->mem_begin < STREAM_MEMORY)
		return 0;
	if (s->keep_from < end) {
		const uint8_t *p = s->ring + s->mem_begin % STREAM_MEMORY;
		uint64_t off = s->mem_begin;

		if (s->spool < 0) {
			TRY(s->spool = temp_file_open());
			s->punched = s->mem_begin;
		}
		while (off < end) {
			ssize_t n = pwrite(s->spool, p, end - off, (off_t)off);

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				return err_errno(n ? errno : ENOSPC,
						 "%s: cannot keep its bytes in a temporary file",
						 s->path);
			off += (uint64_t)n;
			p += n;
		}
		stream_punch(s);
	}
	s->mem_begin = end;
	return 0;
}

static bool stream_is_stopped(const struct stream *s)
{
	return s->stopped && atomic_load_explicit(s->stopped, memory_order_relaxed);
}

/*
 * The time to wait until *stopped is checked again, or until *wake_ns. *ret_wakes: the second is
 * sooner. A time that has passed gives 0.
 */
static struct timespec stream_nap(const struct stream *s, int look_ms, bool *ret_wakes)
{
	const uint64_t look_ns = (uint64_t)look_ms * 1000000;
	const uint64_t wake_ns =
		s->wake_ns ? atomic_load_explicit(s->wake_ns, memory_order_relaxed) : 0;
	const uint64_t at_ns = wake_ns ? now_ns(CLOCK_MONOTONIC) : 0;
	uint64_t ns = wake_ns > at_ns ? wake_ns - at_ns : 0;

	*ret_wakes = wake_ns && ns < look_ns;
	if (!*ret_wakes)
		ns = look_ns;
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };
}

/* Waits until the pipe has bytes or its writer has closed it. Returns 0 or -EINTR. */
static int stream_wait_for_bytes(const struct stream *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	for (;;) {
		struct timespec nap;
		bool wakes;
		int n;

		if (stream_is_stopped(s))
			return -EINTR;
		nap = stream_nap(s, STREAM_LOOK_MS, &wakes);
		n = ppoll(&p, 1, &nap, NULL);
		if (n > 0)
			return 0;
		if (!n && (wakes || s->is_impatient))
			return -EINTR;
		if (n < 0)
			return errno == EINTR ? -EINTR
					      : err_errno(errno, "cannot wait for %s", s->path);
	}
}

bool stream_is_ready(struct stream *s, uint64_t off)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	return off < s->end || s->ended || s->make || poll(&p, 1, 0) > 0;
}

int streams_wait(struct stream *const *streams, size_t n, int timeout_ms)
{
	struct pollfd *fds = calloc(n, sizeof(*fds));
	struct timespec nap;
	bool wakes;
	int r = 0;

	if (!fds)
		return err_nomem();
	for (size_t i = 0; i < n && !r; i++) {
		const struct stream *s = streams[i];

		fds[i] = (struct pollfd){ .fd = s->fd, .events = POLLIN };
		if (stream_is_stopped(s))
			r = -EINTR;
	}
	/* All of them are of one session. */
	nap = stream_nap(streams[0], timeout_ms < STREAM_LOOK_MS ? timeout_ms : STREAM_LOOK_MS,
			 &wakes);
	if (!r)
		r = ppoll(fds, n, &nap, NULL);
	free(fds);
	if (!r && wakes)
		return -EINTR;
	if (r == -1)
		return errno == EINTR ? -EINTR
				      : err_errno(errno, "cannot wait for %s", streams[0]->path);
	return r < 0 ? r : r > 0;
}

static int64_t stream_read_pipe(const struct stream *s, void *buf, size_t len)
{
	for (;;) {
		ssize_t n;

		TRY(stream_wait_for_bytes(s));
		n = read(s->fd, buf, len);
		if (n >= 0)
			return n;
		if (errno != EAGAIN && errno != EINTR)
			return err_errno(errno, "cannot read %s at 0x%llx", s->path,
					 (unsigned long long)s->end);
	}
}

static int stream_write_all(const struct stream *s, int fd, const uint8_t *p, size_t len,
			    const char *failure)
{
	const int r = write_all(fd, p, len);

	return r < 0 ? err_errno(-r, "%s: %s", s->path, failure) : 0;
}

static int stream_write_copy(const struct stream *s, const uint8_t *p, size_t len)
{
	return stream_write_all(s, s->copy_fd, p, len, "the copy cannot be written");
}

/* Reads at least one more byte, unless the stream has ended. */
static int stream_read_more(struct stream *s)
{
	size_t at, room;
	int64_t n;

	if (!s->ring && !(s->ring = malloc(STREAM_MEMORY)))
		return err_nomem();
	TRY(stream_make_room(s));
	at = s->end % STREAM_MEMORY;
	room = STREAM_MEMORY - (size_t)(s->end - s->mem_begin);
	if (room > STREAM_MEMORY - at)
		room = STREAM_MEMORY - at;
	if (room > READ_BYTES)
		room = READ_BYTES;
	n = s->make ? s->make(s->ctx, s->ring + at, room) : stream_read_pipe(s, s->ring + at, room);
	if (n < 0)
		return (int)n;
	if (s->copy_fd >= 0)
		TRY(stream_write_copy(s, s->ring + at, (size_t)n));
	s->ended = !n;
	s->end += (uint64_t)n;
	return 0;
}

int stream_keep_arrived(struct stream *s)
{
	while (!s->ended && stream_is_ready(s, s->end))
		TRY(stream_read_more(s));
	return !s->ended;
}

static int64_t stream_read_spool(const struct stream *s, uint64_t off, void *buf, size_t len)
{
	ssize_t n;

	do
		n = pread(s->spool, buf, len, (off_t)off);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(errno, "%s: cannot read its temporary file", s->path);
	return n;
}

int64_t stream_read(struct stream *s, uint64_t off, void *buf, size_t len)
{
	uint8_t *to = buf;
	size_t at, first;

	while (off >= s->end && !s->ended)
		TRY(stream_read_more(s));
	if (off >= s->end)
		return 0;
	if (off < s->mem_begin) {
		if (s->spool < 0 || off < s->punched)
			return err_set(-EINVAL, "%s: 0x%llx of the stream is not kept any more",
				       s->path, (unsigned long long)off);
		return stream_read_spool(
			s, off, buf, len < s->mem_begin - off ? len : (size_t)(s->mem_begin - off));
	}
	if (len > s->end - off)
		len = (size_t)(s->end - off);
	at = off % STREAM_MEMORY;
	first = len < STREAM_MEMORY - at ? len : STREAM_MEMORY - at;
	memcpy(to, s->ring + at, first);
	memcpy(to + first, s->ring, len - first);
	return (int64_t)len;
}

int stream_copy_to(struct stream *s, int fd)
{
	uint8_t *buf = malloc(COPY_BYTES);
	int e = buf ? 0 : err_nomem();

	s->copy_fd = fd;
	for (uint64_t off = 0; e == 0 && off < s->end;) {
		const int64_t n = stream_read(s, off, buf, COPY_BYTES);

		e = n < 0 ? (int)n : stream_write_copy(s, buf, (size_t)n);
		off += n > 0 ? (uint64_t)n : 0;
	}
	free(buf);
	return e;
}

/* ---- a file in its place --------------------------------------------------------------------- */

static int stream_copy(struct stream *s, int fd, uint8_t *buf)
{
	for (uint64_t off = 0;;) {
		int64_t n = stream_read(s, off, buf, COPY_BYTES);

		if (n == -EINTR && !(s->stopped && atomic_load(s->stopped)))
			continue;
		if (n <= 0)
			return (int)n;
		TRY(stream_write_all(s, fd, buf, (size_t)n,
				     "cannot be copied into a temporary file (set TMPDIR)"));
		off += (uint64_t)n;
		stream_let_go(s, off);
	}
}

int stream_to_file(struct stream *s)
{
	uint8_t *buf = malloc(COPY_BYTES);
	int fd, r;

	if (!buf)
		return err_nomem();
	fd = temp_file_open();
	if (fd < 0) {
		free(buf);
		return fd;
	}
	r = stream_copy(s, fd, buf);
	free(buf);
	if (r < 0) {
		close(fd);
		return r == -EINTR
			       ? err_set(r, "%s: stopped while it was copied into a temporary file",
					 s->path)
			       : r;
	}
	return fd;
}
