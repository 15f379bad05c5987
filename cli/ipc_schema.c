/* SPDX-License-Identifier: MIT */
#include "ipc_schema.h"

#include "cell.h"

#include <errno.h>
#include <string.h>

/* Numbers of the union Type. */
enum arrow_type {
	ARROW_TYPE_INT = 2,
	ARROW_TYPE_FLOAT = 3,
	ARROW_TYPE_BINARY = 4,
	ARROW_TYPE_UTF8 = 5,
	ARROW_TYPE_BOOL = 6,
	ARROW_TYPE_TIMESTAMP = 10,
	ARROW_TYPE_LIST = 12,
	ARROW_TYPE_STRUCT = 13,
	ARROW_TYPE_FIXED_BINARY = 15,
	ARROW_TYPE_FIXED_LIST = 16,
	ARROW_TYPE_DURATION = 18,
	ARROW_TYPE_LARGE_BINARY = 19,
	ARROW_TYPE_LARGE_UTF8 = 20,
	ARROW_TYPE_LARGE_LIST = 21
};
enum { ARROW_UNIT_NS = 3 };

static bool ipc_schema_is_big_endian(void)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

size_t ipc_schema_put_pair(struct flatbuf *b, const char *key, size_t key_len, const char *value,
			   size_t value_len)
{
	const struct flatbuf_field fields[] = { FLATBUF_REF, FLATBUF_REF };
	const size_t pair = flatbuf_table(b, fields, 2);

	flatbuf_refer(b, pair, 0, flatbuf_string(b, key, key_len));
	flatbuf_refer(b, pair, 1, flatbuf_string(b, value, value_len));
	return pair;
}

/* The C interface's metadata: i32 pairs | (i32 bytes | key | i32 bytes | value) ..., host order. */
static int32_t ipc_schema_metadata_i32(const char **p)
{
	int32_t n;

	memcpy(&n, *p, sizeof(n));
	*p += sizeof(n);
	return n;
}

static size_t ipc_schema_put_metadata(struct flatbuf *b, const char *metadata)
{
	const int32_t nr = ipc_schema_metadata_i32(&metadata);
	const size_t vector = flatbuf_vector(b, (size_t)nr);

	for (int32_t i = 0; i < nr; i++) {
		const int32_t key_len = ipc_schema_metadata_i32(&metadata);
		const char *key = metadata;
		int32_t value_len;

		metadata += key_len;
		value_len = ipc_schema_metadata_i32(&metadata);
		flatbuf_refer_item(
			b, vector, (size_t)i,
			ipc_schema_put_pair(b, key, (size_t)key_len, metadata, (size_t)value_len));
		metadata += value_len;
	}
	return vector;
}

/* Int: bits, signed */
static size_t ipc_schema_put_int(struct flatbuf *b, const struct cell_type *t)
{
	const struct flatbuf_field fields[] = { FLATBUF_U32(8 * t->width),
						FLATBUF_U8(t->kind == CELL_SIGNED) };

	return flatbuf_table(b, fields, 2);
}

/* Timestamp: unit, zone */
static size_t ipc_schema_put_timestamp(struct flatbuf *b, const char *zone)
{
	const struct flatbuf_field fields[] = { FLATBUF_U16(ARROW_UNIT_NS), FLATBUF_REF_IF(*zone) };
	const size_t table = flatbuf_table(b, fields, 2);

	if (*zone)
		flatbuf_refer(b, table, 1, flatbuf_string(b, zone, strlen(zone)));
	return table;
}

/* The table of a type and its number in the union. */
static enum arrow_type ipc_schema_put_type(struct flatbuf *b, const struct ArrowSchema *schema,
					   const struct cell_type *t, size_t *ret)
{
	const struct flatbuf_field unit = FLATBUF_U16(ARROW_UNIT_NS);
	/* FloatingPoint: 1 single, 2 double */
	const struct flatbuf_field precision = FLATBUF_U16(t->width == 8 ? 2 : 1);
	const struct flatbuf_field width = FLATBUF_U32(t->width), size = FLATBUF_U32(t->fixed);

	if (!strncmp(schema->format, "ts", 2)) {
		*ret = ipc_schema_put_timestamp(b, schema->format + 4);
		return ARROW_TYPE_TIMESTAMP;
	}
	if (!strncmp(schema->format, "tD", 2)) {
		*ret = flatbuf_table(b, &unit, 1);
		return ARROW_TYPE_DURATION;
	}
	switch (t->kind) {
	case CELL_SIGNED:
	case CELL_UNSIGNED:
		*ret = ipc_schema_put_int(b, t);
		return ARROW_TYPE_INT;
	case CELL_FLOAT:
		*ret = flatbuf_table(b, &precision, 1);
		return ARROW_TYPE_FLOAT;
	case CELL_BYTES:
		*ret = flatbuf_table(b, &width, t->has_offsets ? 0 : 1);
		return !t->has_offsets ? ARROW_TYPE_FIXED_BINARY
		       : t->width == 8 ? ARROW_TYPE_LARGE_BINARY
				       : ARROW_TYPE_BINARY;
	case CELL_TEXT:
		*ret = flatbuf_table(b, NULL, 0);
		return t->width == 8 ? ARROW_TYPE_LARGE_UTF8 : ARROW_TYPE_UTF8;
	case CELL_BOOL:
		*ret = flatbuf_table(b, NULL, 0);
		return ARROW_TYPE_BOOL;
	case CELL_LIST:
		*ret = flatbuf_table(b, &size, t->has_offsets ? 0 : 1);
		return !t->has_offsets ? ARROW_TYPE_FIXED_LIST
		       : t->width == 8 ? ARROW_TYPE_LARGE_LIST
				       : ARROW_TYPE_LIST;
	case CELL_STRUCT:
		break;
	}
	*ret = flatbuf_table(b, NULL, 0);
	return ARROW_TYPE_STRUCT;
}

static int ipc_schema_put_field(struct flatbuf *b, const struct ArrowSchema *schema, size_t *id,
				size_t *ret);

static int ipc_schema_put_children(struct flatbuf *b, const struct ArrowSchema *schema, size_t *id,
				   size_t *ret)
{
	const size_t vector = flatbuf_vector(b, (size_t)schema->n_children);

	for (int64_t i = 0; i < schema->n_children; i++) {
		size_t child;
		const int r = ipc_schema_put_field(b, schema->children[i], id, &child);

		if (r)
			return r;
		flatbuf_refer_item(b, vector, (size_t)i, child);
	}
	*ret = vector;
	return b->failed ? -ENOMEM : 0;
}

/*
 * Field: name, nullable, number of the type, type, dictionary, children, metadata. The type of a
 * field with a dictionary is that of the dictionary's values.
 */
static int ipc_schema_put_field(struct flatbuf *b, const struct ArrowSchema *schema, size_t *id,
				size_t *ret)
{
	const struct ArrowSchema *values = schema->dictionary ? schema->dictionary : schema;
	const struct flatbuf_field fields[] = { FLATBUF_REF,
						FLATBUF_U8(!!(schema->flags & ARROW_FLAG_NULLABLE)),
						FLATBUF_U8(0),
						FLATBUF_REF,
						FLATBUF_REF_IF(schema->dictionary),
						FLATBUF_REF,
						FLATBUF_REF_IF(schema->metadata) };
	struct cell_type codes, type;
	const char *name = schema->name ? schema->name : "";
	size_t field, at;
	int r;

	if (!cell_type_parse(&codes, schema) || !cell_type_parse(&type, values))
		return -ENOTSUP;
	/* The ids of dictionaries nested in values are known to the IPC format by fields only. */
	if (values != schema && (values->dictionary || codes.kind > CELL_UNSIGNED))
		return -ENOTSUP;
	field = flatbuf_table(b, fields, 7);
	flatbuf_refer(b, field, 0, flatbuf_string(b, name, strlen(name)));
	flatbuf_set_u8(b, field, 2, ipc_schema_put_type(b, values, &type, &at));
	flatbuf_refer(b, field, 3, at);
	if (schema->dictionary) {
		/* DictionaryEncoding: id, type of the codes, ordered */
		const struct flatbuf_field encoding[] = {
			FLATBUF_U64(*id), FLATBUF_REF,
			FLATBUF_U8(!!(schema->flags & ARROW_FLAG_DICTIONARY_ORDERED))
		};

		at = flatbuf_table(b, encoding, 3);
		flatbuf_refer(b, field, 4, at);
		flatbuf_refer(b, at, 1, ipc_schema_put_int(b, &codes));
		(*id)++;
	}
	r = ipc_schema_put_children(b, values, id, &at);
	if (r)
		return r;
	flatbuf_refer(b, field, 5, at);
	if (schema->metadata)
		flatbuf_refer(b, field, 6, ipc_schema_put_metadata(b, schema->metadata));
	*ret = field;
	return b->failed ? -ENOMEM : 0;
}

/* Schema: byte order, fields, metadata */
int ipc_schema_put(struct flatbuf *b, const struct ArrowSchema *schema, size_t *ret,
		   size_t *ret_dictionaries)
{
	const struct flatbuf_field fields[] = { FLATBUF_U16(ipc_schema_is_big_endian()),
						FLATBUF_REF, FLATBUF_REF_IF(schema->metadata) };
	const size_t table = flatbuf_table(b, fields, 3);
	size_t at, id = 0;
	int r = ipc_schema_put_children(b, schema, &id, &at);

	if (r)
		return r;
	flatbuf_refer(b, table, 1, at);
	if (schema->metadata)
		flatbuf_refer(b, table, 2, ipc_schema_put_metadata(b, schema->metadata));
	*ret = table;
	if (ret_dictionaries)
		*ret_dictionaries = id;
	return b->failed ? -ENOMEM : 0;
}
