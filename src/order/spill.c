/* SPDX-License-Identifier: MIT */
#include "order/spill.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/temp_file.h"

enum { DEFAULT_PIECE_ENTRIES = 512 * 1024 };

void spill_init(struct spill *s, size_t piece_entries)
{
	*s = (struct spill){
		.fd = -1,
		.units_fd = -1,
		.piece_entries = piece_entries ? piece_entries : DEFAULT_PIECE_ENTRIES,
	};
}

void spill_done(struct spill *s)
{
	free(s->piece);
	free(s->units);
	if (s->fd >= 0)
		close(s->fd);
	if (s->units_fd >= 0)
		close(s->units_fd);
	*s = (struct spill){ .fd = -1, .units_fd = -1 };
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

static int spill_compare(const void *pa, const void *pb)
{
	const struct spill_entry *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->file_off > b->file_off) - (a->file_off < b->file_off);
}

static int spill_write_at(int fd, const void *data, size_t len, uint64_t off)
{
	const char *p = data;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(n ? errno : ENOSPC,
					 "cannot sort the recording: writing a temporary file "
					 "failed (set TMPDIR to a place with room)");
		p += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int spill_read_at(int fd, void *data, size_t len, uint64_t off)
{
	char *p = data;

	while (len) {
		ssize_t n = pread(fd, p, len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(
				n ? errno : EIO,
				"cannot read the temporary file used to sort the recording");
		p += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int spill_write(struct spill *s, uint64_t *ret_begin, uint64_t *ret_end)
{
	const size_t bytes = s->nr * sizeof(*s->piece);

	if (s->fd < 0)
		TRY(s->fd = temp_file_open());
	qsort(s->piece, s->nr, sizeof(*s->piece), spill_compare);
	TRY(spill_write_at(s->fd, s->piece, bytes, s->entries_written * sizeof(*s->piece)));
	*ret_begin = s->entries_written;
	s->entries_written += s->nr;
	*ret_end = s->entries_written;
	s->nr = 0;
	return 0;
}

int spill_read(const struct spill *s, uint64_t from, struct spill_entry *ret, size_t nr)
{
	return spill_read_at(s->fd, ret, nr * sizeof(*ret), from * sizeof(*ret));
}

int spill_unit(struct spill *s, const struct unit *unit, uint32_t *ret)
{
	const uint32_t at = s->nr_units % SPILL_UNITS;

	if (s->nr_units && unit_is_same(&s->units[(s->nr_units - 1) % SPILL_UNITS], unit)) {
		*ret = s->nr_units;
		return 0;
	}
	if (!s->units && !(s->units = calloc(SPILL_UNITS, sizeof(*s->units))))
		return err_nomem();
	if (s->nr_units == UINT32_MAX)
		return err_set(-EFBIG, "cannot sort the recording: it has too many packets");
	s->units[at] = *unit;
	*ret = ++s->nr_units;
	if (s->nr_units % SPILL_UNITS)
		return 0;
	if (s->units_fd < 0)
		TRY(s->units_fd = temp_file_open());
	return spill_write_at(s->units_fd, s->units, SPILL_UNITS * sizeof(*s->units),
			      (uint64_t)(s->nr_units - SPILL_UNITS) * sizeof(*s->units));
}

int spill_read_unit(const struct spill *s, uint32_t number, struct unit *ret)
{
	const uint32_t i = number - 1;

	if (i < s->nr_units - s->nr_units % SPILL_UNITS)
		return spill_read_at(s->units_fd, ret, sizeof(*ret), (uint64_t)i * sizeof(*ret));
	*ret = s->units[i % SPILL_UNITS];
	return 0;
}
