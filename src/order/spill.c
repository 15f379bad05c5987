/* SPDX-License-Identifier: MIT */
#include "order/spill.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/temp_file.h"

enum { DEFAULT_PIECE_ENTRIES = 512 * 1024 };

void spill_init(struct spill *s, size_t piece_entries)
{
	*s = (struct spill){ .fd = -1,
			     .piece_entries =
				     piece_entries ? piece_entries : DEFAULT_PIECE_ENTRIES };
}

void spill_done(struct spill *s)
{
	free(s->piece);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct spill){ .fd = -1 };
}

bool spill_full(const struct spill *s)
{
	return s->nr == s->piece_entries;
}

int spill_add(struct spill *s, const struct spill_entry *e)
{
	if (s->nr == s->capacity) {
		size_t capacity = s->capacity ? s->capacity * 2 : 4096;
		struct spill_entry *piece = reallocarray(s->piece, capacity, sizeof(*piece));

		if (!piece)
			return err_nomem();
		s->piece = piece;
		s->capacity = capacity;
	}
	s->piece[s->nr++] = *e;
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct spill_entry *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->file_off > b->file_off) - (a->file_off < b->file_off);
}

int spill_write(struct spill *s, uint64_t *ret_begin, uint64_t *ret_end)
{
	const char *p = (const char *)s->piece;
	size_t left = s->nr * sizeof(*s->piece);
	uint64_t off = s->entries_written * sizeof(*s->piece);

	if (s->fd < 0)
		TRY(s->fd = temp_file_open());
	qsort(s->piece, s->nr, sizeof(*s->piece), compare);
	while (left) {
		ssize_t n = pwrite(s->fd, p, left, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(n ? errno : ENOSPC,
					 "cannot sort the recording: writing a temporary file "
					 "failed (set TMPDIR to a place with room)");
		p += n;
		off += (uint64_t)n;
		left -= (size_t)n;
	}
	*ret_begin = s->entries_written;
	s->entries_written += s->nr;
	*ret_end = s->entries_written;
	s->nr = 0;
	return 0;
}

int spill_read(const struct spill *s, uint64_t from, struct spill_entry *ret, size_t nr)
{
	char *p = (char *)ret;
	size_t left = nr * sizeof(*ret);
	uint64_t off = from * sizeof(*ret);

	while (left) {
		ssize_t n = pread(s->fd, p, left, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(n ? errno : EIO,
					 "cannot read the temporary file that sorts the recording");
		p += n;
		off += (uint64_t)n;
		left -= (size_t)n;
	}
	return 0;
}
