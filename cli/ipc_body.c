/* SPDX-License-Identifier: MIT */
#include "ipc_body.h"

#include "cell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { IPC_BODY_ALIGNMENT = 64, IPC_BODY_DEEPEST = 8 };

void ipc_body_clear(struct ipc_body *b)
{
	b->nr_nodes = b->nr_buffers = 0;
}

uint64_t ipc_body_len(const struct ipc_body *b)
{
	const struct ipc_buffer *last = b->buffers + b->nr_buffers;

	if (!b->nr_buffers)
		return 0;
	last--;
	return (last->at + last->len + IPC_BODY_ALIGNMENT - 1) / IPC_BODY_ALIGNMENT *
	       IPC_BODY_ALIGNMENT;
}

/* Adds a node. Returns 0 or -ENOMEM. */
static int ipc_body_node(struct ipc_body *b, int64_t length, int64_t null_count)
{
	if (b->nr_nodes == b->nodes_room) {
		const size_t room = 2 * b->nodes_room + 16;
		struct ipc_node *more = reallocarray(b->nodes, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		b->nodes = more;
		b->nodes_room = room;
	}
	b->nodes[b->nr_nodes++] = (struct ipc_node){ length, null_count };
	return 0;
}

static int ipc_body_buffer(struct ipc_body *b, struct ipc_buffer buffer)
{
	if (b->nr_buffers == b->buffers_room) {
		const size_t room = 2 * b->buffers_room + 16;
		struct ipc_buffer *more = reallocarray(b->buffers, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		b->buffers = more;
		b->buffers_room = room;
	}
	buffer.at = ipc_body_len(b);
	b->buffers[b->nr_buffers++] = buffer;
	return 0;
}

static int ipc_body_plain(struct ipc_body *b, const uint8_t *data, uint64_t from, uint64_t len)
{
	if (len && !data)
		return -EINVAL;
	return ipc_body_buffer(
		b, (struct ipc_buffer){ .data = data ? data + from : NULL, .len = len });
}

static int ipc_body_bits(struct ipc_body *b, const uint8_t *bits, int64_t from, int64_t nr)
{
	return ipc_body_buffer(b, (struct ipc_buffer){ .kind = IPC_BUFFER_BITS,
						       .data = bits,
						       .from = from,
						       .nr = nr,
						       .len = (uint64_t)(nr + 7) / 8 });
}

/* from counts in the buffer, not in the array. */
static int ipc_body_validity(struct ipc_body *b, const struct ArrowArray *a, int64_t from,
			     int64_t length)
{
	const uint8_t *valid = a->null_count && a->n_buffers ? a->buffers[0] : NULL;
	int64_t nulls = 0;
	int r;

	for (int64_t i = from; valid && i < from + length; i++)
		nulls += !(valid[i / 8] >> i % 8 & 1);
	r = ipc_body_node(b, length, nulls);
	if (r)
		return r;
	return nulls ? ipc_body_bits(b, valid, from, length) : ipc_body_plain(b, NULL, 0, 0);
}

static int64_t ipc_body_offset(const struct cell_type *t, const void *offsets, int64_t i)
{
	return t->width == 4 ? ((const int32_t *)offsets)[i] : ((const int64_t *)offsets)[i];
}

/* Adds the offsets of rows and returns in *ret_from, *ret_nr what they refer to. */
static int ipc_body_offsets(struct ipc_body *b, const struct cell_type *t, const uint8_t *offsets,
			    int64_t from, int64_t length, int64_t *ret_from, int64_t *ret_nr)
{
	*ret_from = *ret_nr = 0;
	if (length && !offsets)
		return -EINVAL;
	if (length) {
		*ret_from = ipc_body_offset(t, offsets, from);
		*ret_nr = ipc_body_offset(t, offsets, from + length) - *ret_from;
		if (*ret_from < 0 || *ret_nr < 0)
			return -EINVAL;
	}
	return ipc_body_buffer(
		b, (struct ipc_buffer){ .kind = IPC_BUFFER_OFFSETS,
					.width = t->width,
					.data = length ? offsets + (size_t)from * t->width : NULL,
					.nr = length + 1,
					.len = (uint64_t)(length + 1) * t->width });
}

static int ipc_body_add_deep(struct ipc_body *b, const struct ArrowSchema *schema,
			     const struct ArrowArray *a, int64_t from, int64_t length, int depth);

/* from counts in the buffers of the list. */
static int ipc_body_list(struct ipc_body *b, const struct cell_type *t,
			 const struct ArrowSchema *schema, const struct ArrowArray *a, int64_t from,
			 int64_t length, int depth)
{
	int64_t first = from * t->fixed, nr = length * t->fixed;
	int r = 0;

	if (a->n_children != 1 || schema->n_children != 1)
		return -EINVAL;
	if (t->has_offsets)
		r = ipc_body_offsets(b, t, a->buffers[1], from, length, &first, &nr);
	return r ? r
		 : ipc_body_add_deep(b, schema->children[0], a->children[0], first, nr, depth + 1);
}

static int ipc_body_struct(struct ipc_body *b, const struct ArrowSchema *schema,
			   const struct ArrowArray *a, int64_t from, int64_t length, int depth)
{
	int r = a->n_children == schema->n_children ? 0 : -EINVAL;

	for (int64_t i = 0; i < schema->n_children && !r; i++)
		r = ipc_body_add_deep(b, schema->children[i], a->children[i], from, length,
				      depth + 1);
	return r;
}

static int ipc_body_add_deep(struct ipc_body *b, const struct ArrowSchema *schema,
			     const struct ArrowArray *a, int64_t from, int64_t length, int depth)
{
	struct cell_type t;
	int64_t first, nr;
	int r;

	if (depth > IPC_BODY_DEEPEST || !cell_type_parse(&t, schema))
		return -ENOTSUP;
	from += a->offset;
	r = ipc_body_validity(b, a, from, length);
	if (r)
		return r;
	switch (t.kind) {
	case CELL_LIST:
		return ipc_body_list(b, &t, schema, a, from, length, depth);
	case CELL_STRUCT:
		return ipc_body_struct(b, schema, a, from, length, depth);
	case CELL_BOOL:
		return !length || a->buffers[1] ? ipc_body_bits(b, a->buffers[1], from, length)
						: -EINVAL;
	default:
		break;
	}
	if (!t.has_offsets)
		return ipc_body_plain(b, a->buffers[1], (uint64_t)from * t.width,
				      (uint64_t)length * t.width);
	r = ipc_body_offsets(b, &t, a->buffers[1], from, length, &first, &nr);
	return r ? r : ipc_body_plain(b, a->buffers[2], (uint64_t)first, (uint64_t)nr);
}

int ipc_body_add(struct ipc_body *b, const struct ArrowSchema *schema, const struct ArrowArray *a,
		 int64_t from, int64_t length)
{
	return ipc_body_add_deep(b, schema, a, from, length, 0);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void ipc_body_put_bits(const struct ipc_buffer *buf, FILE *out)
{
	const uint8_t *p = buf->data + buf->from / 8;
	const unsigned shift = (unsigned)(buf->from % 8);
	const int64_t end = (buf->from + buf->nr + 7) / 8 - buf->from / 8; /* bytes that exist */

	for (int64_t i = 0; i < (int64_t)buf->len; i++) {
		unsigned byte = p[i] >> shift;

		if (shift && i + 1 < end)
			byte |= (unsigned)p[i + 1] << (8 - shift);
		if (i == (int64_t)buf->len - 1 && buf->nr % 8)
			byte &= (1u << buf->nr % 8) - 1;
		putc_unlocked((int)(byte & 0xff), out);
	}
}

static void ipc_body_put_offsets(const struct ipc_buffer *buf, FILE *out)
{
	int64_t first = 0;

	for (int64_t i = 0; i < buf->nr; i++) {
		int64_t value = 0;

		if (buf->data)
			value = buf->width == 4 ? ((const int32_t *)buf->data)[i]
						: ((const int64_t *)buf->data)[i];
		if (!i)
			first = value;
		value -= first;
		if (buf->width == 4)
			fwrite_unlocked(&(int32_t){ (int32_t)value }, 4, 1, out);
		else
			fwrite_unlocked(&value, 8, 1, out);
	}
}

static bool ipc_body_is_plain(const struct ipc_buffer *buf)
{
	switch (buf->kind) {
	case IPC_BUFFER_PLAIN:
		return true;
	case IPC_BUFFER_BITS:
		return !(buf->from % 8) && !(buf->nr % 8);
	case IPC_BUFFER_OFFSETS:
		break;
	}
	/* Offsets that begin with 0 stay as they are. */
	return buf->data &&
	       (buf->width == 4 ? !*(const int32_t *)buf->data : !*(const int64_t *)buf->data);
}

static void ipc_body_put(const struct ipc_buffer *buf, FILE *out)
{
	const size_t skip = buf->kind == IPC_BUFFER_BITS ? (size_t)buf->from / 8 : 0;

	if (!buf->len)
		return;
	if (ipc_body_is_plain(buf))
		fwrite_unlocked(buf->data + skip, 1, buf->len, out);
	else if (buf->kind == IPC_BUFFER_BITS)
		ipc_body_put_bits(buf, out);
	else
		ipc_body_put_offsets(buf, out);
}

int ipc_body_write(const struct ipc_body *b, FILE *out)
{
	static const char zeros[IPC_BODY_ALIGNMENT];

	errno = 0;
	for (size_t i = 0; i < b->nr_buffers && !ferror_unlocked(out); i++) {
		ipc_body_put(&b->buffers[i], out);
		fwrite_unlocked(zeros, 1,
				(IPC_BODY_ALIGNMENT - b->buffers[i].len % IPC_BODY_ALIGNMENT) %
					IPC_BODY_ALIGNMENT,
				out);
	}
	return ferror_unlocked(out) ? errno ? -errno : -EIO : 0;
}

void ipc_body_done(struct ipc_body *b)
{
	free(b->nodes);
	free(b->buffers);
	*b = (struct ipc_body){ 0 };
}
