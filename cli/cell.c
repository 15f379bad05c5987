/* SPDX-License-Identifier: MIT */
#include "cell.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Formats of one letter. */
static const struct {
	char letter;
	struct cell_type type;
} cell_letters[] = {
	{ 'c', { CELL_SIGNED, 1 } },      { 's', { CELL_SIGNED, 2 } },
	{ 'i', { CELL_SIGNED, 4 } },      { 'l', { CELL_SIGNED, 8 } },
	{ 'C', { CELL_UNSIGNED, 1 } },    { 'S', { CELL_UNSIGNED, 2 } },
	{ 'I', { CELL_UNSIGNED, 4 } },    { 'L', { CELL_UNSIGNED, 8 } },
	{ 'f', { CELL_FLOAT, 4 } },       { 'g', { CELL_FLOAT, 8 } },
	{ 'b', { CELL_BOOL, 0 } },        { 'u', { CELL_TEXT, 4, true } },
	{ 'U', { CELL_TEXT, 8, true } },  { 'z', { CELL_BYTES, 4, true } },
	{ 'Z', { CELL_BYTES, 8, true } },
};

/* Formats of several letters, without what follows them. */
static const struct {
	const char *begin;
	struct cell_type type;
} cell_words[] = {
	{ "+l", { CELL_LIST, 4, true } },   { "+L", { CELL_LIST, 8, true } },
	{ "+w:", { CELL_LIST, 0, false } }, { "+s", { CELL_STRUCT, 0 } },
	{ "w:", { CELL_BYTES, 0, false } }, { "tsn:", { CELL_SIGNED, 8 } },
	{ "tDn", { CELL_SIGNED, 8 } },
};

static bool cell_parse_size(const char *digits, uint32_t *ret)
{
	char *end;
	const unsigned long n = strtoul(digits, &end, 10);

	*ret = (uint32_t)n;
	return end != digits && !*end && n <= INT32_MAX;
}

bool cell_type_parse(struct cell_type *ret, const struct ArrowSchema *schema)
{
	const char *format = schema->format;

	for (size_t i = 0; i < sizeof(cell_letters) / sizeof(*cell_letters); i++)
		if (format[0] == cell_letters[i].letter && !format[1]) {
			*ret = cell_letters[i].type;
			return true;
		}
	for (size_t i = 0; i < sizeof(cell_words) / sizeof(*cell_words); i++) {
		const char *begin = cell_words[i].begin;
		const size_t len = strlen(begin);

		if (strncmp(format, begin, len))
			continue;
		*ret = cell_words[i].type;
		if (!strcmp(begin, "w:"))
			return cell_parse_size(format + len, &ret->width);
		if (!strcmp(begin, "+w:"))
			return cell_parse_size(format + len, &ret->fixed);
		return !format[len] || begin[len - 1] == ':';
	}
	return false;
}

uint64_t cell_u64(const struct cell_type *t, const struct ArrowArray *a, int64_t row)
{
	const uint8_t *values = a->buffers[1];
	const bool is_signed = t->kind == CELL_SIGNED;

	row += a->offset;
	if (t->kind == CELL_BOOL)
		return values[row / 8] >> row % 8 & 1;
	switch (t->width) {
	case 1:
		return is_signed ? (uint64_t)((const int8_t *)values)[row] : values[row];
	case 2:
		return is_signed ? (uint64_t)((const int16_t *)values)[row]
				 : ((const uint16_t *)values)[row];
	case 4:
		return is_signed ? (uint64_t)((const int32_t *)values)[row]
				 : ((const uint32_t *)values)[row];
	default:
		return ((const uint64_t *)values)[row];
	}
}

double cell_double(const struct cell_type *t, const struct ArrowArray *a, int64_t row)
{
	row += a->offset;
	if (t->width == 4)
		return (double)((const float *)a->buffers[1])[row];
	return ((const double *)a->buffers[1])[row];
}

static int64_t cell_offset(const struct cell_type *t, const struct ArrowArray *a, int64_t row)
{
	if (t->width == 4)
		return ((const int32_t *)a->buffers[1])[row];
	return ((const int64_t *)a->buffers[1])[row];
}

const char *cell_bytes(const struct cell_type *t, const struct ArrowArray *a, int64_t row,
		       size_t *ret_len)
{
	int64_t from;

	row += a->offset;
	if (!t->has_offsets) {
		*ret_len = t->width;
		return (const char *)a->buffers[1] + (size_t)row * t->width;
	}
	from = cell_offset(t, a, row);
	*ret_len = (size_t)(cell_offset(t, a, row + 1) - from);
	return *ret_len ? (const char *)a->buffers[2] + from : "";
}

void cell_list(const struct cell_type *t, const struct ArrowArray *a, int64_t row,
	       int64_t *ret_from, int64_t *ret_to)
{
	row += a->offset;
	if (t->has_offsets) {
		*ret_from = cell_offset(t, a, row);
		*ret_to = cell_offset(t, a, row + 1);
	} else {
		*ret_from = row * t->fixed;
		*ret_to = (row + 1) * t->fixed;
	}
}

/* ---- columns --------------------------------------------------------------------------------- */

int cell_new(struct cell **ret, const struct ArrowSchema *schema)
{
	struct cell *c = calloc(1, sizeof(*c));
	int r = 0;

	if (!c)
		return -ENOMEM;
	if (!cell_type_parse(&c->type, schema) || c->type.kind == CELL_STRUCT)
		r = -ENOTSUP;
	if (!r && schema->dictionary)
		r = cell_new(&c->values, schema->dictionary);
	if (!r && c->type.kind == CELL_LIST)
		r = cell_new(&c->element, schema->children[0]);
	if (r)
		cell_free(c);
	else
		*ret = c;
	return r;
}

void cell_free(struct cell *c)
{
	if (!c)
		return;
	cell_free(c->values);
	cell_free(c->element);
	free(c);
}

int cells_new(struct cell ***ret, const struct ArrowSchema *schema)
{
	struct cell **columns = calloc((size_t)schema->n_children + 1, sizeof(struct cell *));
	int r = columns ? 0 : -ENOMEM;

	for (int64_t i = 0; i < schema->n_children && !r; i++)
		r = cell_new(&columns[i], schema->children[i]);
	if (r)
		cells_free(columns, schema->n_children);
	else
		*ret = columns;
	return r;
}

void cells_free(struct cell **columns, int64_t nr)
{
	for (int64_t i = 0; columns && i < nr; i++)
		cell_free(columns[i]);
	free(columns);
}

const struct cell *cell_find(const struct cell *c, const struct ArrowArray **a, int64_t *row)
{
	if (cell_is_null(*a, *row))
		return NULL;
	if (!c->values)
		return c;
	*row = (int64_t)cell_u64(&c->type, *a, *row);
	*a = (*a)->dictionary;
	return cell_find(c->values, a, row);
}

/* ---- text ------------------------------------------------------------------------------------ */

void cell_text_put(struct cell_text *t, const char *bytes, size_t len)
{
	if (t->failed || !len)
		return;
	if (len > t->room - t->len) {
		const size_t room = 2 * (t->len + len) + 256;
		char *more = realloc(t->data, room);

		t->failed = !more;
		if (!more)
			return;
		t->data = more;
		t->room = room;
	}
	memcpy(t->data + t->len, bytes, len);
	t->len += len;
}

void cell_text_done(struct cell_text *t)
{
	free(t->data);
	*t = (struct cell_text){ 0 };
}

void cell_text_put_integer(struct cell_text *text, const struct cell_type *t, uint64_t value)
{
	const bool is_negative = t->kind == CELL_SIGNED && (int64_t)value < 0;
	char digits[24], *p = digits + sizeof(digits);

	if (is_negative)
		value = -value;
	do {
		*--p = (char)('0' + value % 10);
	} while (value /= 10);
	if (is_negative)
		*--p = '-';
	cell_text_put(text, p, (size_t)(digits + sizeof(digits) - p));
}

void cell_text_put_double(struct cell_text *text, double value)
{
	char digits[40];
	int len = 0;

	if (isnan(value))
		len = snprintf(digits, sizeof(digits), "NaN");
	else if (isinf(value))
		len = snprintf(digits, sizeof(digits), "%sInfinity", value < 0 ? "-" : "");
	/* 15 digits are never too many: %g leaves out zeros at the end. */
	for (int precision = 15;
	     precision <= 17 && (!len || strtod(digits, NULL) != value) && isfinite(value);
	     precision++)
		len = snprintf(digits, sizeof(digits), "%.*g", precision, value);
	cell_text_put(text, digits, (size_t)len);
}

void cell_text_put_hex(struct cell_text *text, const char *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		cell_text_put_char(text, digits[(uint8_t)bytes[i] >> 4]);
		cell_text_put_char(text, digits[bytes[i] & 15]);
	}
}

static void cell_text_put_quoted(struct cell_text *text, const struct cell_type *t,
				 const struct ArrowArray *a, int64_t row)
{
	size_t len;
	const char *bytes = cell_bytes(t, a, row, &len);
	char *quoted;

	if (t->kind == CELL_BYTES) {
		cell_text_put_char(text, '"');
		cell_text_put_hex(text, bytes, len);
		cell_text_put_char(text, '"');
		return;
	}
	quoted = sonde_json_string(bytes, len);
	if (quoted)
		cell_text_put(text, quoted, strlen(quoted));
	text->failed = text->failed || !quoted;
	free(quoted);
}

static void cell_text_put_element(struct cell_text *text, const struct cell *c,
				  const struct ArrowArray *a, int64_t row)
{
	c = cell_find(c, &a, &row);
	if (!c) {
		cell_text_put(text, "null", 4);
		return;
	}
	switch (c->type.kind) {
	case CELL_LIST:
		cell_text_put_list(text, c, a, row);
		return;
	case CELL_FLOAT:
		cell_text_put_double(text, cell_double(&c->type, a, row));
		return;
	case CELL_TEXT:
	case CELL_BYTES:
		cell_text_put_quoted(text, &c->type, a, row);
		return;
	default:
		cell_text_put_integer(text, &c->type, cell_u64(&c->type, a, row));
		return;
	}
}

void cell_text_put_list(struct cell_text *text, const struct cell *c, const struct ArrowArray *a,
			int64_t row)
{
	int64_t from, to;

	cell_list(&c->type, a, row, &from, &to);
	cell_text_put_char(text, '[');
	for (int64_t i = from; i < to; i++) {
		if (i > from)
			cell_text_put_char(text, ',');
		cell_text_put_element(text, c->element, a->children[0], i);
	}
	cell_text_put_char(text, ']');
}
