/* SPDX-License-Identifier: MIT */
/* The beginning and the end of a file. writer_data.c writes the data section. */

#include "formats/perfdata/writer_internal.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/err.h"

enum { BLOCKS_BYTES = 8 << 10 }; /* bytes that truncating in the middle of a block may not free */

/* True for pipe mode with output redirected to a file that is not opened for appending. */
static bool writer_file_can_truncate(int fd, uint64_t *ret_base)
{
	const off_t at = lseek(fd, 0, SEEK_CUR);
	struct stat st;

	if (at < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || fcntl(fd, F_GETFL) & O_APPEND ||
	    st.st_size > at)
		return false;
	*ret_base = (uint64_t)at;
	return true;
}

int perfdata_writer_open(struct perfdata_writer **ret, int take_fd, const char *path, bool pipe)
{
	struct perfdata_writer *w = calloc(1, sizeof(*w));

	if (w)
		w->path = strdup(path);
	if (!w || !w->path) {
		free(w);
		close(take_fd);
		return err_nomem();
	}
	w->fd = take_fd;
	w->is_pipe = pipe;
	w->can_truncate = !pipe || writer_file_can_truncate(take_fd, &w->base);
	w->stop_fd = -1;
	w->attr_bytes = PERFDATA_WRITER_ATTR_SIZE;
	*ret = w;
	return 0;
}

void perfdata_writer_set_stop(struct perfdata_writer *w, int stop_fd)
{
	struct stat st;

	w->stop_fd = stop_fd;
	w->may_block = w->is_pipe && stop_fd >= 0 && fstat(w->fd, &st) == 0 &&
		       (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) &&
		       !(fcntl(w->fd, F_GETFL) & O_NONBLOCK);
}

void perfdata_writer_close(struct perfdata_writer *w)
{
	if (!w)
		return;
	close(w->fd);
	vec_done(&w->features);
	free(w->path);
	free(w);
}

void perfdata_writer_set_layout(struct perfdata_writer *w, bool swap, uint32_t attr_bytes)
{
	w->swap = swap;
	w->attr_bytes = attr_bytes;
}

void perfdata_writer_on_drop(struct perfdata_writer *w, perfdata_writer_drop_fn *on_drop, void *ctx)
{
	w->on_drop = on_drop;
	w->on_drop_ctx = ctx;
}

uint64_t perfdata_writer_data_size(const struct perfdata_writer *w)
{
	return w->data_end - w->header.data.offset;
}

uint64_t perfdata_writer_place(const struct perfdata_writer *w)
{
	return w->data_end;
}

static int writer_write_at(struct perfdata_writer *w, uint64_t offset, const void *p, size_t len)
{
	while (len) {
		ssize_t n = pwrite(w->fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return perfdata_writer_write_failed(w, n ? errno : ENOSPC);
		p = (const char *)p + n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* Writes 8-byte words, in the file's byte order. */
static void writer_put_words(const struct perfdata_writer *w, struct outbuf *o, const void *words,
			     size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		perfdata_put_u64(o, get_u64((const char *)words + 8 * i, w->swap));
}

static int writer_write_header(struct perfdata_writer *w, const struct perfdata_header *h)
{
	uint64_t words[sizeof(*h) / 8];

	for (size_t i = 0; i < sizeof(*h) / 8; i++)
		words[i] = get_u64((const char *)h + 8 * i, w->swap);
	return writer_write_at(w, 0, words, sizeof(words));
}

static void writer_set_bit(struct perfdata_header *h, uint64_t feature)
{
	if (feature < NR_FEATURES)
		h->features[feature / 64] |= UINT64_C(1) << feature % 64;
}

static void writer_pad8(struct outbuf *o)
{
	outbuf_pad(o, '\0', (size_t)(-o->len & 7));
}

static int writer_begin_pipe(struct perfdata_writer *w, const struct perfdata_writer_event *events,
			     size_t nr_events, const struct perfdata_writer_feature *features,
			     size_t nr_features)
{
	struct outbuf o = { 0 };
	int r = perfdata_put_pipe_beginning(&o, events, nr_events, features, nr_features);

	if (r == 0)
		r = perfdata_writer_append(w, &(struct iovec){ o.data, o.len }, 1);
	outbuf_done(&o);
	w->header.data.offset = w->back = w->next_back = w->data_end;
	return r;
}

/*
 * Everything before the data is built in memory, and the header's own bytes are written last. A
 * recorder killed in between leaves a file that begins with zeros, not a header that refers to
 * missing data.
 */
int perfdata_writer_begin(struct perfdata_writer *w, const struct perfdata_writer_event *events,
			  size_t nr_events, const struct perfdata_writer_feature *features,
			  size_t nr_features)
{
	struct outbuf o = { 0 };
	uint64_t ids_off, body_off;
	int r;

	if (w->is_pipe)
		return writer_begin_pipe(w, events, nr_events, features, nr_features);
	w->header = (struct perfdata_header){
		.magic = PERFDATA_MAGIC,
		.size = sizeof(w->header),
		.attr_size = w->attr_bytes + sizeof(struct perfdata_section),
	};
	ids_off = sizeof(w->header) + 16 + nr_features * sizeof(struct placed_feature);
	w->header.attrs.offset = ids_off;
	for (size_t i = 0; i < nr_events; i++)
		w->header.attrs.offset += events[i].nr_ids * sizeof(uint64_t);
	w->header.attrs.size = nr_events * w->header.attr_size;
	body_off = w->header.attrs.offset + w->header.attrs.size;
	for (size_t i = 0; i < nr_features; i++) {
		struct placed_feature f = { features[i].feature, body_off, features[i].len };

		TRY(vec_push(&w->features, f));
		body_off += (features[i].len + 7) & ~UINT64_C(7);
	}
	w->header.data.offset = body_off;

	outbuf_put(&o, &w->header, sizeof(w->header));
	writer_put_words(w, &o, &(uint64_t){ PERFDATA_INDEX_MAGIC }, 1);
	perfdata_put_u32(&o, get_u32(&(uint32_t){ (uint32_t)nr_features }, w->swap));
	perfdata_put_u32(&o, 0);
	writer_put_words(w, &o, w->features.v, w->features.n * sizeof(*w->features.v) / 8);
	for (size_t i = 0; i < nr_events; i++)
		writer_put_words(w, &o, events[i].ids, events[i].nr_ids);
	for (size_t i = 0; i < nr_events; i++) {
		struct perfdata_section ids = { ids_off, events[i].nr_ids * sizeof(uint64_t) };

		outbuf_put(&o, events[i].attr, w->attr_bytes);
		writer_put_words(w, &o, &ids, 2);
		ids_off += ids.size;
	}
	for (size_t i = 0; i < nr_features; i++) {
		outbuf_put(&o, features[i].body, features[i].len);
		writer_pad8(&o);
	}
	r = o.failed ? err_nomem()
		     : writer_write_at(w, sizeof(w->header),
				       (const char *)o.data + sizeof(w->header),
				       o.len - sizeof(w->header));
	if (r == 0)
		r = writer_write_header(w, &w->header);
	outbuf_done(&o);
	w->data_end = w->back = w->next_back = w->header.data.offset;
	if (r == 0 && lseek(w->fd, (off_t)w->data_end, SEEK_SET) < 0)
		r = err_errno(errno, "%s: cannot seek", w->path);
	return r;
}

static const struct perfdata_writer_feature *writer_find_late(
	const struct perfdata_writer_feature *late, size_t nr_late, uint64_t feature)
{
	for (size_t i = 0; i < nr_late; i++)
		if (late[i].feature == feature)
			return &late[i];
	return NULL;
}

/* Rewrites in place a body that was written at the start. Its size does not change. */
static int writer_rewrite_note(struct perfdata_writer *w, const struct perfdata_writer_end *end)
{
	struct perfdata_end note = { 0 };

	if (!end || !end->note)
		return 0;
	end->note(end->ctx, &note);
	for (size_t i = 0; i < w->features.n; i++)
		if (w->features.v[i].feature == PERFDATA_PRIVATE_END)
			return writer_write_at(w, w->features.v[i].offset, &note, sizeof(note));
	return 0;
}

/*
 * Writes after the data: the last records, the table, one section per feature in ascending order,
 * then the late bodies. *ret_bytes is their size.
 */
static int writer_write_end(struct perfdata_writer *w, const struct perfdata_writer_feature *late,
			    size_t nr_late, const struct perfdata_writer_end *end,
			    uint64_t *ret_bytes)
{
	struct perfdata_header h = w->header;
	struct outbuf o = { 0 };
	uint64_t late_off, records_bytes;
	int r = end ? end->records(end->ctx, &o) : 0;

	records_bytes = o.len;
	late_off = w->data_end + records_bytes;

	for (size_t i = 0; i < w->features.n; i++)
		writer_set_bit(&h, w->features.v[i].feature);
	for (size_t i = 0; i < nr_late; i++)
		writer_set_bit(&h, late[i].feature);
	h.data.size = perfdata_writer_data_size(w) + records_bytes;
	for (int i = 0; i < 4; i++)
		late_off += (uint64_t)__builtin_popcountll(h.features[i]) *
			    sizeof(struct perfdata_section);
	for (uint64_t feature = 0; feature < NR_FEATURES; feature++) {
		const struct perfdata_writer_feature *l = writer_find_late(late, nr_late, feature);
		struct perfdata_section s = { 0 };

		if (!(h.features[feature / 64] >> feature % 64 & 1))
			continue;
		if (l) {
			s = (struct perfdata_section){ late_off, l->len };
			late_off += l->len;
		} else {
			for (size_t i = 0; i < w->features.n; i++)
				if (w->features.v[i].feature == feature)
					s = (struct perfdata_section){ w->features.v[i].offset,
								       w->features.v[i].size };
		}
		writer_put_words(w, &o, &s, 2);
	}
	for (uint64_t feature = 0; feature < NR_FEATURES; feature++) {
		const struct perfdata_writer_feature *l = writer_find_late(late, nr_late, feature);

		if (l)
			outbuf_put(&o, l->body, l->len);
	}
	if (r == 0)
		r = o.failed ? err_nomem() : writer_write_at(w, w->data_end, o.data, o.len);
	*ret_bytes = o.len;
	outbuf_done(&o);
	if (r == 0)
		r = writer_rewrite_note(w, end);
	/*
	 * The header is written last. Until then the file looks like a killed recorder's, which
	 * readers accept.
	 */
	if (r == 0)
		r = writer_write_header(w, &h);
	if (r == 0)
		w->data_end += records_bytes;
	return r;
}

/*
 * A reader of a pipe has seen everything by now. Among the late features only build ids still help
 * it.
 */
static int writer_write_pipe_end(struct perfdata_writer *w,
				 const struct perfdata_writer_feature *late, size_t nr_late,
				 const struct perfdata_writer_end *end, uint64_t *ret_bytes)
{
	const uint64_t before = w->data_end;
	struct outbuf o = { 0 };
	int r = end ? end->records(end->ctx, &o) : 0;

	for (size_t i = 0; i < nr_late; i++) {
		if (late[i].feature == FEAT_BUILD_ID)
			perfdata_put_pipe_feature(&o, &late[i]);
	}
	if (r == 0 && o.failed)
		r = err_nomem();
	else if (r == 0 && o.len)
		r = perfdata_writer_append(w, &(struct iovec){ o.data, o.len }, 1);
	if (r < 0) /* the caller will write all of them again */
		perfdata_writer_truncate(w, before);
	*ret_bytes = o.len;
	outbuf_done(&o);
	return r;
}

static bool writer_is_full(int error)
{
	return error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
}

/* 1 if there is more room now, 0 if nothing could make room. */
static int writer_make_room(struct perfdata_writer *w, const struct perfdata_writer_end *end,
			    uint64_t bytes)
{
	if (end && end->make_room)
		return end->make_room(end->ctx, bytes);
	return perfdata_writer_give_up(w, bytes);
}

int perfdata_writer_finish(struct perfdata_writer *w, const struct perfdata_writer_feature *late,
			   size_t nr_late, const struct perfdata_writer_end *end)
{
	bool any = false;
	uint64_t bytes, room = 0;
	int r, made;

	/* On a full disk some data is dropped for the table, without which perf reads nothing. */
	while (writer_is_full(r = w->is_pipe ? writer_write_pipe_end(w, late, nr_late, end, &bytes)
					     : writer_write_end(w, late, nr_late, end, &bytes))) {
		room = room ? 2 * room : bytes + BLOCKS_BYTES;
		made = writer_make_room(w, end, room);
		if (made < 0)
			r = made;
		if (made <= 0)
			break;
		any = true;
	}
	if (r < 0 && w->is_pipe)
		return r;
	if (r < 0) {
		perfdata_writer_truncate(w, w->data_end);
		writer_rewrite_note(w, end); /* at least that, which takes no room */
		return r;
	}
	return any;
}

int perfdata_writer_resume(struct perfdata_writer *w)
{
	/* The header is first: a file marked as finished must have its table. */
	TRY(writer_write_header(w, &w->header));
	perfdata_writer_truncate(w, w->data_end);
	return 0;
}
