/* SPDX-License-Identifier: MIT */
#include "table_csv.h"

#include "cell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CSV_FLUSH_BYTES = 1 << 16 };

struct table_csv {
	const struct ArrowSchema *schema;
	struct cell **columns; /* owned */
	struct cell_text text, cell;
};

static bool table_csv_needs_quotes(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] == ',' || bytes[i] == '"' || bytes[i] == '\n' || bytes[i] == '\r')
			return true;
	return !len; /* so that it is not a null */
}

static void table_csv_put_text(struct cell_text *t, const char *bytes, size_t len)
{
	if (!table_csv_needs_quotes(bytes, len)) {
		cell_text_put(t, bytes, len);
		return;
	}
	cell_text_put_char(t, '"');
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '"')
			cell_text_put_char(t, '"');
		cell_text_put_char(t, bytes[i]);
	}
	cell_text_put_char(t, '"');
}

static void table_csv_put_value(struct table_csv *w, const struct cell *c,
				const struct ArrowArray *a, int64_t row)
{
	const bool is_code = c->values;
	size_t len;
	const char *bytes;

	c = cell_find(c, &a, &row);
	if (!c)
		return;
	switch (c->type.kind) {
	case CELL_FLOAT:
		cell_text_put_double(&w->text, cell_double(&c->type, a, row));
		return;
	case CELL_TEXT:
	case CELL_BYTES:
		bytes = cell_bytes(&c->type, a, row, &len);
		/* Bytes in a dictionary are strings as they were recorded. */
		if (c->type.kind == CELL_TEXT || is_code)
			table_csv_put_text(&w->text, bytes, len);
		else
			cell_text_put_hex(&w->text, bytes, len);
		return;
	case CELL_LIST:
		w->cell.len = 0;
		cell_text_put_list(&w->cell, c, a, row);
		table_csv_put_text(&w->text, w->cell.data, w->cell.len);
		return;
	default:
		cell_text_put_integer(&w->text, &c->type, cell_u64(&c->type, a, row));
		return;
	}
}

static int table_csv_flush(struct table_csv *w, FILE *out)
{
	const size_t len = w->text.len;

	if (w->text.failed || w->cell.failed)
		return -ENOMEM;
	w->text.len = 0;
	errno = 0;
	return fwrite_unlocked(w->text.data, 1, len, out) == len ? 0 : errno ? -errno : -EIO;
}

static int table_csv_put_names(struct table_csv *w, FILE *out)
{
	for (int64_t i = 0; i < w->schema->n_children; i++) {
		const char *name = w->schema->children[i]->name;

		if (i)
			cell_text_put_char(&w->text, ',');
		table_csv_put_text(&w->text, name, strlen(name));
	}
	cell_text_put_char(&w->text, '\n');
	return table_csv_flush(w, out);
}

int table_csv_new(struct table_csv **ret, const struct ArrowSchema *schema, FILE *out)
{
	struct table_csv *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->schema = schema;
	r = cells_new(&w->columns, schema);
	if (!r)
		r = table_csv_put_names(w, out);
	if (r)
		table_csv_free(w);
	else
		*ret = w;
	return r;
}

int table_csv_batch(struct table_csv *w, const struct ArrowArray *batch, FILE *out)
{
	int r = batch->n_children == w->schema->n_children ? 0 : -EINVAL;

	for (int64_t row = 0; row < batch->length && !r; row++) {
		for (int64_t i = 0; i < batch->n_children; i++) {
			if (i)
				cell_text_put_char(&w->text, ',');
			table_csv_put_value(w, w->columns[i], batch->children[i],
					    batch->offset + row);
		}
		cell_text_put_char(&w->text, '\n');
		if (w->text.len >= CSV_FLUSH_BYTES)
			r = table_csv_flush(w, out);
	}
	return r ? r : table_csv_flush(w, out);
}

void table_csv_free(struct table_csv *w)
{
	if (!w)
		return;
	cells_free(w->columns, w->schema->n_children);
	cell_text_done(&w->text);
	cell_text_done(&w->cell);
	free(w);
}
