/* SPDX-License-Identifier: MIT */
#include "arrow_ipc.h"

#include "ipc_body.h"
#include "ipc_schema.h"
#include "flatbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ARROW_ALIGNMENT = 64, ARROW_PREFIX = 8 };
static const char arrow_magic[8] = "ARROW1";

/* Where a message of a file is. */
struct arrow_block {
	uint64_t at, metadata_len, body_len;
};

struct arrow_blocks {
	struct arrow_block *items; /* owned */
	size_t nr, room;
};

struct arrow_ipc {
	const struct ArrowSchema *schema;
	bool is_file;
	uint64_t at;      /* bytes written */
	int64_t *written; /* owned; values written of each dictionary, -1 if none was; by id */
	size_t nr_dictionaries;
	struct ArrowArray last; /* the last batch: it has the longest dictionaries */
	struct arrow_blocks batches, dictionaries;
	struct ipc_body body;
};

static int arrow_ipc_write(struct arrow_ipc *w, const void *data, size_t len, FILE *out)
{
	if (fwrite(data, 1, len, out) != len)
		return errno ? -errno : -EIO;
	w->at += len;
	return 0;
}

static int arrow_ipc_pad(struct arrow_ipc *w, size_t alignment, FILE *out)
{
	static const char zeros[ARROW_ALIGNMENT];

	return arrow_ipc_write(w, zeros, (alignment - w->at % alignment) % alignment, out);
}

static int arrow_ipc_add_block(struct arrow_blocks *blocks, const struct arrow_block *b)
{
	if (blocks->nr == blocks->room) {
		const size_t room = 2 * blocks->room + 16;
		struct arrow_block *more = reallocarray(blocks->items, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		blocks->items = more;
		blocks->room = room;
	}
	blocks->items[blocks->nr++] = *b;
	return 0;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Writes a message whose metadata is b, with w->body if it has one. ret may be NULL. */
static int arrow_ipc_write_message(struct arrow_ipc *w, const struct flatbuf *b, bool has_body,
				   struct arrow_block *ret, FILE *out)
{
	/* The padding behind the metadata lets the body begin at a multiple of 64. */
	const uint64_t end = w->at + ARROW_PREFIX + b->len;
	const uint64_t metadata =
		b->len + (ARROW_ALIGNMENT - end % ARROW_ALIGNMENT) % ARROW_ALIGNMENT;
	uint8_t prefix[ARROW_PREFIX] = { 0xff, 0xff, 0xff, 0xff };
	int r;

	if (b->failed)
		return -ENOMEM;
	for (size_t i = 0; i < 4; i++)
		prefix[4 + i] = (uint8_t)(metadata >> 8 * i);
	if (ret)
		*ret = (struct arrow_block){ w->at, ARROW_PREFIX + metadata,
					     has_body ? ipc_body_len(&w->body) : 0 };
	errno = 0;
	r = arrow_ipc_write(w, prefix, sizeof(prefix), out);
	if (!r)
		r = arrow_ipc_write(w, b->data, b->len, out);
	if (!r)
		r = arrow_ipc_pad(w, ARROW_ALIGNMENT, out);
	if (!r && has_body) {
		r = ipc_body_write(&w->body, out);
		w->at += ipc_body_len(&w->body);
	}
	return r;
}

/* Message: version, type of the header, header, bytes of the body. Returns the table. */
static size_t arrow_ipc_message(struct flatbuf *b, enum arrow_header type, uint64_t body_len)
{
	const struct flatbuf_field fields[] = { FLATBUF_U16(ARROW_METADATA_V5), FLATBUF_U8(type),
						FLATBUF_REF, FLATBUF_U64(body_len) };

	return flatbuf_root(b, fields, 4);
}

/* RecordBatch: rows, nodes {rows, nulls}, buffers {place in the body, bytes}. */
static size_t arrow_ipc_put_batch(const struct arrow_ipc *w, struct flatbuf *b, int64_t length)
{
	const struct flatbuf_field fields[] = { FLATBUF_U64(length), FLATBUF_REF, FLATBUF_REF };
	const size_t table = flatbuf_table(b, fields, 3);
	const struct ipc_body *body = &w->body;
	size_t at = flatbuf_structs(b, body->nr_nodes, 16);

	flatbuf_refer(b, table, 1, at);
	at += 4;
	for (size_t i = 0; i < body->nr_nodes; i++, at += 16) {
		flatbuf_store_u64(b, at, (uint64_t)body->nodes[i].length);
		flatbuf_store_u64(b, at + 8, (uint64_t)body->nodes[i].null_count);
	}
	at = flatbuf_structs(b, body->nr_buffers, 16);
	flatbuf_refer(b, table, 2, at);
	at += 4;
	for (size_t i = 0; i < body->nr_buffers; i++, at += 16) {
		flatbuf_store_u64(b, at, body->buffers[i].at);
		flatbuf_store_u64(b, at + 8, body->buffers[i].len);
	}
	return table;
}

/* ---- dictionaries ---------------------------------------------------------------------------- */

/* Writes the values [from, length) of dictionary `id`. */
static int arrow_ipc_write_dictionary(struct arrow_ipc *w, const struct ArrowSchema *values,
				      const struct ArrowArray *a, size_t id, FILE *out)
{
	const int64_t from = w->written[id] < 0 ? 0 : w->written[id];
	const struct flatbuf_field fields[] = { FLATBUF_U64(id), FLATBUF_REF,
						FLATBUF_U8(w->written[id] >= 0) };
	struct flatbuf b = { 0 };
	struct arrow_block block;
	size_t message, header;
	int r;

	ipc_body_clear(&w->body);
	r = ipc_body_add(&w->body, values, a, from, a->length - from);
	if (r)
		return r;
	message = arrow_ipc_message(&b, ARROW_HEADER_DICTIONARY, ipc_body_len(&w->body));
	header = flatbuf_table(&b, fields, 3);
	flatbuf_refer(&b, message, 2, header);
	flatbuf_refer(&b, header, 1, arrow_ipc_put_batch(w, &b, a->length - from));
	r = arrow_ipc_write_message(w, &b, true, &block, out);
	if (!r && w->is_file)
		r = arrow_ipc_add_block(&w->dictionaries, &block);
	flatbuf_done(&b);
	w->written[id] = a->length;
	return r;
}

/*
 * Writes what is new in the dictionaries of an array; *id is that of the next dictionary, counted
 * as in ipc_schema_put(). The dictionaries of a dictionary's values are written first.
 */
static int arrow_ipc_write_dictionaries(struct arrow_ipc *w, const struct ArrowSchema *schema,
					const struct ArrowArray *a, size_t *id, FILE *out)
{
	int r = 0;

	if (schema->dictionary) {
		const size_t own = (*id)++;

		if (!a->dictionary || a->dictionary->length < w->written[own])
			return -EINVAL;
		r = arrow_ipc_write_dictionaries(w, schema->dictionary, a->dictionary, id, out);
		if (!r && a->dictionary->length > w->written[own])
			r = arrow_ipc_write_dictionary(w, schema->dictionary, a->dictionary, own,
						       out);
		return r;
	}
	for (int64_t i = 0; i < schema->n_children && !r; i++)
		r = arrow_ipc_write_dictionaries(w, schema->children[i], a->children[i], id, out);
	return r;
}

/* ---- the output ------------------------------------------------------------------------------ */

static int arrow_ipc_write_schema(struct arrow_ipc *w, FILE *out)
{
	struct flatbuf b = { 0 };
	const size_t message = arrow_ipc_message(&b, ARROW_HEADER_SCHEMA, 0);
	size_t schema;
	int r = ipc_schema_put(&b, w->schema, &schema, &w->nr_dictionaries);

	if (!r) {
		flatbuf_refer(&b, message, 2, schema);
		r = arrow_ipc_write_message(w, &b, false, NULL, out);
	}
	flatbuf_done(&b);
	return r;
}

int arrow_ipc_new(struct arrow_ipc **ret, const struct ArrowSchema *schema, bool is_file, FILE *out)
{
	struct arrow_ipc *w = calloc(1, sizeof(*w));
	int r = 0;

	if (!w)
		return -ENOMEM;
	w->schema = schema;
	w->is_file = is_file;
	errno = 0;
	if (is_file)
		r = arrow_ipc_write(w, arrow_magic, sizeof(arrow_magic), out);
	if (!r)
		r = arrow_ipc_write_schema(w, out);
	if (!r) {
		w->written = malloc((w->nr_dictionaries + 1) * sizeof(*w->written));
		r = w->written ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < w->nr_dictionaries && !r; i++)
		w->written[i] = -1;
	if (r)
		arrow_ipc_free(w);
	else
		*ret = w;
	return r;
}

static void arrow_ipc_release(struct ArrowArray *a)
{
	if (a->release)
		a->release(a);
	a->release = NULL;
}

static int arrow_ipc_write_batch(struct arrow_ipc *w, FILE *out)
{
	const struct ArrowArray *a = &w->last;
	struct flatbuf b = { 0 };
	struct arrow_block block;
	size_t message, id = 0;
	int r = 0;

	if (!w->is_file)
		r = arrow_ipc_write_dictionaries(w, w->schema, a, &id, out);
	ipc_body_clear(&w->body);
	for (int64_t i = 0; i < a->n_children && !r; i++)
		r = ipc_body_add(&w->body, w->schema->children[i], a->children[i], a->offset,
				 a->length);
	if (r)
		return r;
	message = arrow_ipc_message(&b, ARROW_HEADER_BATCH, ipc_body_len(&w->body));
	flatbuf_refer(&b, message, 2, arrow_ipc_put_batch(w, &b, a->length));
	r = arrow_ipc_write_message(w, &b, true, &block, out);
	if (!r && w->is_file)
		r = arrow_ipc_add_block(&w->batches, &block);
	flatbuf_done(&b);
	return r;
}

int arrow_ipc_batch(struct arrow_ipc *w, struct ArrowArray *batch, FILE *out)
{
	arrow_ipc_release(&w->last);
	w->last = *batch;
	batch->release = NULL;
	if (w->last.n_children != w->schema->n_children)
		return -EINVAL;
	return arrow_ipc_write_batch(w, out);
}

static size_t arrow_ipc_put_blocks(struct flatbuf *b, const struct arrow_blocks *blocks)
{
	const size_t vector = flatbuf_structs(b, blocks->nr, 24);
	size_t at = vector + 4;

	/* Block: i64 place | i32 bytes of prefix and metadata | 4 bytes | i64 bytes of the body */
	for (size_t i = 0; i < blocks->nr; i++, at += 24) {
		flatbuf_store_u64(b, at, blocks->items[i].at);
		flatbuf_store_u64(b, at + 8, blocks->items[i].metadata_len);
		flatbuf_store_u64(b, at + 16, blocks->items[i].body_len);
	}
	return vector;
}

/* Footer: version, schema, dictionaries, batches, facts. */
static int arrow_ipc_put_footer(const struct arrow_ipc *w, struct flatbuf *b,
				const struct table_fact *facts)
{
	const struct flatbuf_field fields[] = { FLATBUF_U16(ARROW_METADATA_V5), FLATBUF_REF,
						FLATBUF_REF, FLATBUF_REF, FLATBUF_REF };
	const size_t footer = flatbuf_root(b, fields, 5);
	size_t schema, nr = 0, vector;
	int r = ipc_schema_put(b, w->schema, &schema, NULL);

	if (r)
		return r;
	flatbuf_refer(b, footer, 1, schema);
	flatbuf_refer(b, footer, 2, arrow_ipc_put_blocks(b, &w->dictionaries));
	flatbuf_refer(b, footer, 3, arrow_ipc_put_blocks(b, &w->batches));
	while (facts[nr].key)
		nr++;
	vector = flatbuf_vector(b, nr);
	flatbuf_refer(b, footer, 4, vector);
	for (size_t i = 0; i < nr; i++)
		flatbuf_refer_item(b, vector, i,
				   ipc_schema_put_pair(b, facts[i].key, strlen(facts[i].key),
						       facts[i].value, strlen(facts[i].value)));
	return b->failed ? -ENOMEM : 0;
}

/* A dictionary without values, for a file without a batch. */
static int arrow_ipc_write_empty(struct arrow_ipc *w, const struct ArrowSchema *schema, size_t *id,
				 FILE *out)
{
	int r = 0;

	if (schema->dictionary) {
		const void *no_buffers[3] = { NULL };
		struct ArrowArray none = { .n_buffers = 3, .buffers = no_buffers };
		struct ArrowArray *children[1] = { &none };
		struct ArrowArray empty = {
			.n_buffers = 3, .buffers = no_buffers, .n_children = 1, .children = children
		};
		const size_t own = (*id)++;

		if (schema->dictionary->n_children > 1)
			return -ENOTSUP;
		r = arrow_ipc_write_empty(w, schema->dictionary, id, out);
		return r ? r : arrow_ipc_write_dictionary(w, schema->dictionary, &empty, own, out);
	}
	for (int64_t i = 0; i < schema->n_children && !r; i++)
		r = arrow_ipc_write_empty(w, schema->children[i], id, out);
	return r;
}

static int arrow_ipc_finish_file(struct arrow_ipc *w, const struct table_fact *facts, FILE *out)
{
	struct flatbuf b = { 0 };
	uint8_t len[4];
	int r = arrow_ipc_put_footer(w, &b, facts);

	for (size_t i = 0; i < 4; i++)
		len[i] = (uint8_t)(b.len >> 8 * i);
	if (!r)
		r = arrow_ipc_write(w, b.data, b.len, out);
	if (!r)
		r = arrow_ipc_write(w, len, sizeof(len), out);
	if (!r)
		r = arrow_ipc_write(w, arrow_magic, 6, out);
	flatbuf_done(&b);
	return r;
}

int arrow_ipc_finish(struct arrow_ipc *w, const struct table_fact *facts, FILE *out)
{
	static const uint8_t end[ARROW_PREFIX] = { 0xff, 0xff, 0xff, 0xff };
	size_t id = 0;
	int r = 0;

	errno = 0;
	if (w->is_file && w->last.release)
		r = arrow_ipc_write_dictionaries(w, w->schema, &w->last, &id, out);
	else if (w->is_file)
		r = arrow_ipc_write_empty(w, w->schema, &id, out);
	errno = 0;
	if (!r)
		r = arrow_ipc_write(w, end, sizeof(end), out);
	if (!r && w->is_file)
		r = arrow_ipc_finish_file(w, facts, out);
	return r;
}

void arrow_ipc_free(struct arrow_ipc *w)
{
	if (!w)
		return;
	arrow_ipc_release(&w->last);
	ipc_body_done(&w->body);
	free(w->batches.items);
	free(w->dictionaries.items);
	free(w->written);
	free(w);
}
