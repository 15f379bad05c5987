/* SPDX-License-Identifier: MIT */
/* The batch of a table: its memory, and the Arrow structs made of it. */
#include <string.h>

#include "base/err.h"
#include "columns/arrow.h"
#include "columns/table.h"

/* Rows of the first batch of a table, unless its limit is less; doubled as needed. */
enum { BATCH_FIRST_ROWS = 1024 };

static bool batch_has_offsets(const struct column *c)
{
	return c->form == COLUMN_LIST || c->form == COLUMN_BYTES;
}

static uint32_t batch_value_width(const struct column *c)
{
	return c->form == COLUMN_INT || c->form == COLUMN_FLOAT ? c->width : sizeof(int32_t);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int batch_reserve_validity(struct column *c, size_t used_rows, size_t room)
{
	const size_t used = (used_rows + 7) / 8;

	TRY(shared_reserve(&c->validity, c->validity ? used : 0, (room + 7) / 8));
	return 0;
}

static int batch_reserve_column(const struct table *t, struct column *c, size_t room)
{
	const size_t width = batch_value_width(c), more = batch_has_offsets(c);
	const bool is_new = !c->values;

	shared_take_spare(&c->values, &c->spare_values);
	TRY(shared_reserve(&c->values, is_new ? 0 : (t->rows + more) * width,
			   (room + more) * width));
	if (is_new && more)
		memset(c->values->bytes, 0, width);
	if (c->validity && c->validity->room < (room + 7) / 8) {
		const size_t used = (t->rows + 7) / 8;

		TRY(batch_reserve_validity(c, t->rows, room));
		memset(c->validity->bytes + used, 0xff, c->validity->room - used);
	}
	return 0;
}

int batch_reserve(struct table *t, size_t more)
{
	size_t room = t->room ? t->room : BATCH_FIRST_ROWS;

	if (t->rows + more <= t->room && (!t->nr_columns || t->columns[0].values))
		return 0;
	while (room < t->rows + more)
		room *= 2;
	if (room > t->max_rows)
		room = t->max_rows;
	for (size_t i = 0; i < t->nr_columns; i++)
		TRY(batch_reserve_column(t, &t->columns[i], room));
	t->room = room;
	return 0;
}

int batch_set_null(struct table *t, struct column *c, size_t row)
{
	if (!c->validity) {
		TRY(batch_reserve_validity(c, 0, t->room));
		memset(c->validity->bytes, 0xff, c->validity->room);
	}
	c->validity->bytes[row / 8] &= (uint8_t) ~(1u << row % 8);
	c->nulls++;
	return 0;
}

/* Forgets the batch, whose arrays now own the memory. The next one begins with the same room. */
static void batch_clear(struct table *t)
{
	for (size_t i = 0; i < t->nr_columns; i++) {
		struct column *c = &t->columns[i];

		shared_unref(c->spare_values);
		c->spare_values = c->values;
		shared_unref(c->spare_elems);
		c->spare_elems = c->elems;
		shared_unref(c->validity);
		c->values = c->validity = c->elems = NULL;
		c->nr_elems = 0;
		c->nulls = 0;
	}
	t->all_rows += t->rows;
	t->rows = 0;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static int batch_elems(const struct column *c, struct ArrowArray *ret)
{
	const struct arrow_content content = {
		.length = (int64_t)c->nr_elems,
		.nr_buffers = 2,
		.buffers = { NULL, c->elems },
	};

	return arrow_array(ret, &content);
}

static int batch_column(const struct table *t, struct column *c, struct ArrowArray *ret)
{
	const struct arrow_content content = {
		.length = (int64_t)t->rows,
		.null_count = c->nulls,
		.nr_buffers = c->form == COLUMN_BYTES ? 3 : 2,
		.buffers = { c->validity, c->values, c->form == COLUMN_BYTES ? c->elems : NULL },
		.nr_children = c->form == COLUMN_LIST,
		.has_dictionary = c->form == COLUMN_DICT,
	};
	int r = 0;

	if (batch_has_offsets(c) && !c->elems)
		TRY(shared_new(&c->elems, 0));
	TRY(arrow_array(ret, &content));
	if (c->form == COLUMN_LIST)
		r = batch_elems(c, ret->children[0]);
	else if (c->form == COLUMN_DICT)
		r = dictionary_array(&c->dict, ret->dictionary);
	if (r < 0)
		arrow_array_done(ret);
	return r;
}

static int batch_array(const struct table *t, struct ArrowArray *ret)
{
	const struct arrow_content content = {
		.length = (int64_t)t->rows,
		.nr_buffers = 1,
		.nr_children = (unsigned)t->nr_columns,
	};

	TRY(arrow_array(ret, &content));
	for (size_t i = 0; i < t->nr_columns; i++) {
		const int r = batch_column(t, &t->columns[i], ret->children[i]);

		if (r < 0) {
			arrow_array_done(ret);
			return r;
		}
	}
	return 0;
}

int batch_so_far(struct table *t, struct ArrowArray *ret)
{
	struct ArrowArray a;
	int r = 0;

	TRY(batch_reserve(t, 0));
	TRY(batch_array(t, &a));
	/* A later null changes a byte of a bitmap; other memory only grows. */
	for (size_t i = 0; r >= 0 && i < t->nr_columns; i++) {
		struct shared **validity = &t->columns[i].validity, *copy;

		if (!*validity)
			continue;
		r = shared_new(&copy, (*validity)->room);
		if (r < 0)
			break;
		memcpy(copy->bytes, (*validity)->bytes, (*validity)->room);
		shared_unref(*validity);
		*validity = copy;
	}
	if (r < 0)
		arrow_array_done(&a);
	else
		*ret = a;
	return r;
}

int batch_flush(struct tables *t, struct table *table, uint32_t nr)
{
	struct table_batch b = { .table = nr };

	if (!table->rows)
		return 0;
	if (vec_reserve(&t->ready, 1) < 0)
		return -ENOMEM;
	TRY(batch_array(table, &b.array));
	t->ready.v[t->ready.n++] = b;
	batch_clear(table);
	return 0;
}

/* ---- schemas --------------------------------------------------------------------------------- */

static int batch_column_schema(const struct column *c, const char *clock, struct ArrowSchema *ret)
{
	const struct arrow_meta time_meta[] = { { "unit", "ns" },
						{ "sonde.clock", clock },
						{ NULL, NULL } };
	const struct arrow_meta field_meta[] = { { "sonde.type", c->type }, { NULL, NULL } };
	const struct arrow_meta *meta = c->from == COLUMN_TIME ? time_meta
					: c->type && *c->type  ? field_meta
							       : NULL;
	const char number[] = { c->format, '\0' };
	int r = 0;

	switch (c->form) {
	case COLUMN_INT:
	case COLUMN_FLOAT:
		return arrow_schema(ret, number, c->name, ARROW_FLAG_NULLABLE, meta, 0, 0);
	case COLUMN_BYTES:
		return arrow_schema(ret, "z", c->name, ARROW_FLAG_NULLABLE, meta, 0, 0);
	case COLUMN_LIST:
		TRY(arrow_schema(ret, "+l", c->name, ARROW_FLAG_NULLABLE, meta, 1, 0));
		r = arrow_schema(ret->children[0], number, "item", 0, NULL, 0, 0);
		break;
	case COLUMN_DICT:
		TRY(arrow_schema(ret, "i", c->name, ARROW_FLAG_NULLABLE, meta, 0, 1));
		if (c->from == COLUMN_STACK) {
			r = arrow_schema(ret->dictionary, "+l", "", 0, NULL, 1, 0);
			if (r >= 0)
				r = arrow_schema(ret->dictionary->children[0], number, "item", 0,
						 NULL, 0, 0);
		} else {
			r = arrow_schema(ret->dictionary, c->is_binary ? "z" : "u", "", 0, NULL, 0,
					 0);
		}
		break;
	}
	if (r < 0)
		arrow_schema_done(ret);
	return r;
}

int batch_schema(const struct table *t, const char *clock, struct ArrowSchema *ret)
{
	struct ArrowSchema all;

	TRY(arrow_schema(&all, "+s", t->name, 0, NULL, (unsigned)t->nr_columns, 0));
	for (size_t i = 0; i < t->nr_columns; i++) {
		const int r = batch_column_schema(&t->columns[i], clock, all.children[i]);

		if (r < 0) {
			arrow_schema_done(&all);
			return r;
		}
	}
	*ret = all;
	return 0;
}
