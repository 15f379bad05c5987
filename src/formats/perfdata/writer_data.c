/* SPDX-License-Identifier: MIT */
/* The data section: records are appended, and the last ones are dropped if the disk is full. */
#include "formats/perfdata/writer_internal.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/err.h"

enum { RESERVE_BYTES = 64 << 10, SCAN_BYTES = 64 << 10 };

int perfdata_writer_write_failed(const struct perfdata_writer *w, int error)
{
	if (error == EPIPE)
		return err_set(-EPIPE, "%s: the reader has closed it", w->path);
	if (error == ECANCELED)
		return err_set(-ECANCELED, "%s: the reader has stopped reading", w->path);
	if (error == ENOSPC || error == EDQUOT)
		return err_set(-error, "%s: %s: make room there or write elsewhere (-o FILE)",
			       w->path,
			       error == EDQUOT ? "the disk quota is used up" : "the disk is full");
	if (error == EFBIG)
		return err_set(-error,
			       "%s: the file size limit is reached (ulimit -f, or the file "
			       "system's): raise it or write elsewhere (-o FILE)",
			       w->path);
	return err_errno(error, "%s: cannot write", w->path);
}

/*
 * How many of the first `written` bytes of iov are complete records. A piece of iov need not end
 * with a record (rings wrap).
 */
static uint64_t data_whole_records(const struct perfdata_writer *w, const struct iovec *iov,
				   int nr_iov, uint64_t written)
{
	uint64_t pos = 0, start = 0;

	for (int i = 0; i < nr_iov; i++) {
		/*
		 * pos may be beyond this piece if a record crosses its end. Records are 8-aligned,
		 * so headers never cross.
		 */
		while (pos < start + iov[i].iov_len) {
			const uint8_t *rec = (const uint8_t *)iov[i].iov_base + (pos - start);
			uint16_t size = get_u16(rec + 6, w->swap);

			if (size < sizeof(struct perfdata_record_header) || pos + size > written)
				return pos;
			pos += size;
		}
		start += iov[i].iov_len;
	}
	return pos;
}

void perfdata_writer_truncate(struct perfdata_writer *w, uint64_t end)
{
	w->data_end = end;
	if (!w->can_truncate)
		return;
	end += w->base;
	if (ftruncate(w->fd, (off_t)end) < 0 || lseek(w->fd, (off_t)end, SEEK_SET) < 0)
		return; /* the header, which is written at the end, says where the data ends */
}

/* Returns <0 with errno ECANCELED if the wait was ended. */
static int data_wait_for_reader(const struct perfdata_writer *w)
{
	struct pollfd fds[] = { { .fd = w->fd, .events = POLLOUT },
				{ .fd = w->stop_fd, .events = POLLIN } };

	if (poll(fds, 2, -1) < 0)
		return errno == EINTR ? 0 : -1;
	if (!fds[1].revents)
		return 0;
	errno = ECANCELED;
	return -1;
}

/* Like writev(), but waits for the reader only as long as allowed. */
static ssize_t data_write_some(const struct perfdata_writer *w, const struct iovec *iov, int nr_iov)
{
	ssize_t n;

	for (;;) {
		/* a writable pipe takes this much at once */
		if (!w->may_block)
			n = writev(w->fd, iov, nr_iov);
		else if (data_wait_for_reader(w) < 0)
			return -1;
		else
			n = write(w->fd, iov->iov_base,
				  iov->iov_len < PIPE_BUF ? iov->iov_len : PIPE_BUF);
		if (n < 0 && errno == EINTR)
			continue;
		if (n >= 0 || errno != EAGAIN || data_wait_for_reader(w) < 0)
			return n;
	}
}

int perfdata_writer_append(struct perfdata_writer *w, const struct iovec *iov, int nr_iov)
{
	struct iovec rest[IOV_MAX];
	uint64_t written = 0, total = 0;
	int first = 0;

	if (w->broken)
		return perfdata_writer_write_failed(w, w->broken);
	if (nr_iov > IOV_MAX)
		return err_set(-EINVAL, "more than %d pieces in one write", IOV_MAX);
	for (int i = 0; i < nr_iov; i++) {
		rest[i] = iov[i];
		total += iov[i].iov_len;
	}
	while (written < total) {
		ssize_t n = data_write_some(w, rest + first, nr_iov - first);

		if (n <= 0) {
			int error = n ? errno : ENOSPC;

			w->broken = w->can_truncate ? 0 : error;
			perfdata_writer_truncate(
				w, w->data_end + data_whole_records(w, iov, nr_iov, written));
			return perfdata_writer_write_failed(w, error);
		}
		written += (uint64_t)n;
		while (first < nr_iov && (size_t)n >= rest[first].iov_len)
			n -= (ssize_t)rest[first++].iov_len;
		if (first < nr_iov) {
			rest[first].iov_base = (char *)rest[first].iov_base + n;
			rest[first].iov_len -= (size_t)n;
		}
	}
	w->data_end += total;
	if (w->data_end - w->next_back >= RESERVE_BYTES) {
		w->back = w->next_back;
		w->next_back = w->data_end;
	}
	return 0;
}

int perfdata_writer_give_up(struct perfdata_writer *w, uint64_t room)
{
	const uint64_t begin = w->header.data.offset;
	const uint64_t target = w->data_end - begin > room ? w->data_end - room : begin;
	uint64_t pos = w->back <= target ? w->back : begin, keep_end = pos, from = 0;
	uint8_t *buf = malloc(SCAN_BYTES);
	const size_t head_bytes = sizeof(struct perfdata_record_header);
	size_t have = 0;
	char path[32];
	int fd;

	if (!w->can_truncate || w->data_end == begin) {
		free(buf);
		return 0;
	}
	if (!buf)
		return err_nomem();
	/* a redirected output was opened for writing only */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", w->fd);
	fd = w->is_pipe ? open(path, O_RDONLY | O_CLOEXEC) : w->fd;
	while (pos < w->data_end) {
		const uint8_t *rec;
		uint16_t size;

		if (!have || pos + head_bytes > from + have) {
			ssize_t n = pread(fd, buf, SCAN_BYTES, (off_t)(w->base + pos));

			if (n < (ssize_t)head_bytes)
				break;
			from = pos;
			have = (size_t)n;
		}
		rec = buf + (pos - from);
		size = get_u16(rec + 6, w->swap);
		if (size < head_bytes)
			break;
		if (pos + size > from + have && pos > from) {
			have = 0; /* the buffer must contain all of it */
			continue;
		}
		if (pos + size <= target)
			keep_end = pos + size;
		else if (w->on_drop)
			w->on_drop(w->on_drop_ctx, rec,
				   size < from + have - pos ? size : (size_t)(from + have - pos));
		pos += size;
	}
	free(buf);
	if (fd >= 0 && fd != w->fd)
		close(fd);
	perfdata_writer_truncate(w, keep_end);
	return 1;
}
