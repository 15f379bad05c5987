/* SPDX-License-Identifier: MIT */
#include "arrow_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) return snprintf(why, ARROW_WALK_WHY, __VA_ARGS__), -1
#define CHECK(cond, ...)                   \
	do {                               \
		if (!(cond))               \
			FAIL(__VA_ARGS__); \
	} while (0)

static size_t walk_number_width(const char *format)
{
	static const char *const formats[] = { "cC", "sS", "iIf", "lLg" };

	if (strlen(format) != 1)
		return 0;
	for (size_t i = 0; i < 4; i++) {
		if (strchr(formats[i], *format))
			return (size_t)1 << i;
	}
	return 0;
}

static bool walk_is_text(const char *format)
{
	return !strcmp(format, "u") || !strcmp(format, "z");
}

/* ---- schemas --------------------------------------------------------------------------------- */

/* Reads metadata; the sanitizer sees what is outside of it. */
static int walk_meta(const char *p, char why[ARROW_WALK_WHY])
{
	int32_t nr, len;

	if (!p)
		return 0;
	memcpy(&nr, p, sizeof(nr));
	CHECK(nr > 0, "metadata of %d pairs", nr);
	p += sizeof(nr);
	for (int32_t i = 0; i < 2 * nr; i++) {
		memcpy(&len, p, sizeof(len));
		CHECK(len >= 0 && len < 4096, "metadata text of %d bytes", len);
		CHECK(!memchr(p + sizeof(len), 0, (size_t)len), "metadata text with a NUL");
		p += sizeof(len) + len;
	}
	return 0;
}

int arrow_walk_schema(const struct ArrowSchema *s, char why[ARROW_WALK_WHY])
{
	const bool is_nested = !strcmp(s->format, "+s") || !strcmp(s->format, "+l");

	CHECK(s->release, "the schema %s is released", s->name);
	CHECK(s->name, "a schema has no name");
	CHECK(is_nested || walk_number_width(s->format) || walk_is_text(s->format),
	      "%s: unknown format %s", s->name, s->format);
	CHECK(strcmp(s->format, "+l") != 0 || s->n_children == 1, "%s: a list of %d children",
	      s->name, (int)s->n_children);
	CHECK(is_nested || !s->n_children, "%s: children of %s", s->name, s->format);
	CHECK(!s->dictionary || !strcmp(s->format, "i"), "%s: codes are %s", s->name, s->format);
	if (walk_meta(s->metadata, why) < 0)
		return -1;
	for (int64_t i = 0; i < s->n_children; i++) {
		if (arrow_walk_schema(s->children[i], why) < 0)
			return -1;
		for (int64_t k = 0; k < i; k++)
			CHECK(strcmp(s->children[i]->name, s->children[k]->name) != 0,
			      "two columns are called %s", s->children[i]->name);
	}
	return s->dictionary ? arrow_walk_schema(s->dictionary, why) : 0;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

bool arrow_is_null(const struct ArrowArray *a, int64_t row)
{
	const uint8_t *bits = a->buffers[0];

	return bits && !(bits[row / 8] >> row % 8 & 1);
}

static int walk_nulls(const struct ArrowSchema *s, const struct ArrowArray *a,
		      char why[ARROW_WALK_WHY])
{
	int64_t nulls = 0;

	for (int64_t i = 0; i < a->length; i++)
		nulls += arrow_is_null(a, i);
	CHECK(nulls == a->null_count, "%s: null_count %d, %d bits", s->name, (int)a->null_count,
	      (int)nulls);
	CHECK(nulls || !a->buffers[0], "%s: a bitmap without nulls", s->name);
	CHECK(!nulls || s->flags & ARROW_FLAG_NULLABLE, "%s: null, but not nullable", s->name);
	return 0;
}

static int walk_buffers(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t want,
			char why[ARROW_WALK_WHY])
{
	CHECK(a->n_buffers == want, "%s: %d buffers, not %d", s->name, (int)a->n_buffers,
	      (int)want);
	for (int64_t i = 0; i < want; i++) {
		CHECK(i == 0 || a->buffers[i], "%s: buffer %d is missing", s->name, (int)i);
		CHECK((uintptr_t)a->buffers[i] % 64 == 0, "%s: buffer %d at %p", s->name, (int)i,
		      a->buffers[i]);
	}
	return 0;
}

static int walk_offsets(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t elems,
			char why[ARROW_WALK_WHY])
{
	const int32_t *offsets = a->buffers[1];

	CHECK(offsets[0] == 0, "%s: the first offset is %d", s->name, offsets[0]);
	for (int64_t i = 0; i < a->length; i++)
		CHECK(offsets[i] <= offsets[i + 1], "%s: offset %d of row %d before %d", s->name,
		      offsets[i + 1], (int)i + 1, offsets[i]);
	CHECK(elems < 0 || offsets[a->length] <= elems, "%s: %d elements, offsets up to %d",
	      s->name, (int)elems, offsets[a->length]);
	return 0;
}

/* Decodes by the table of the standard: bits, smallest value, surrogates. */
static bool walk_utf8(const uint8_t *p, size_t len)
{
	static const uint32_t smallest[] = { 0, 0x80, 0x800, 0x10000 };

	for (size_t i = 0; i < len;) {
		const uint8_t c = p[i++];
		const unsigned more = c < 0x80 ? 0 : c >> 5 == 6 ? 1 : c >> 4 == 14 ? 2 : 3;
		uint32_t v = more == 0 ? c : c & (0x3fu >> more);

		if (c >= 0x80 && (c < 0xc0 || c > 0xf7))
			return false;
		for (unsigned k = 0; k < more; k++, i++) {
			if (i == len || p[i] >> 6 != 2)
				return false;
			v = v << 6 | (p[i] & 0x3f);
		}
		if (v < smallest[more] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
			return false;
	}
	return true;
}

static int walk_texts(const struct ArrowSchema *s, const struct ArrowArray *a,
		      char why[ARROW_WALK_WHY])
{
	const int32_t *offsets = a->buffers[1];
	const uint8_t *bytes = a->buffers[2];
	uint8_t sum = 0;

	for (int32_t i = 0; i < offsets[a->length]; i++)
		sum ^= bytes[i];
	(void)*(volatile uint8_t *)&sum;
	for (int64_t i = 0; i < a->length && *s->format == 'u'; i++)
		CHECK(walk_utf8(bytes + offsets[i], (size_t)(offsets[i + 1] - offsets[i])),
		      "%s: value %d is not UTF-8", s->name, (int)i);
	return 0;
}

static const void *sorting; /* the array whose values are sorted */
static size_t sorting_width;

static int walk_compare(const void *a, const void *b)
{
	const struct ArrowArray *d = sorting;
	const int32_t *offsets = d->buffers[1], i = *(const int32_t *)a, k = *(const int32_t *)b;
	const uint8_t *bytes = d->n_children ? d->children[0]->buffers[1] : d->buffers[2];
	const size_t li = (size_t)(offsets[i + 1] - offsets[i]) * sorting_width,
		     lk = (size_t)(offsets[k + 1] - offsets[k]) * sorting_width;
	const int r = memcmp(bytes + (size_t)offsets[i] * sorting_width,
			     bytes + (size_t)offsets[k] * sorting_width, li < lk ? li : lk);

	return r ? r : (li > lk) - (li < lk);
}

static int walk_distinct(const struct ArrowSchema *s, const struct ArrowArray *d,
			 char why[ARROW_WALK_WHY])
{
	int32_t *order = calloc((size_t)d->length + 1, sizeof(*order));
	int r = 0;

	for (int64_t i = 0; i < d->length; i++)
		order[i] = (int32_t)i;
	sorting = d;
	sorting_width = d->n_children ? 8 : 1;
	qsort(order, (size_t)d->length, sizeof(*order), walk_compare);
	for (int64_t i = 1; i < d->length && !r; i++) {
		if (!walk_compare(&order[i - 1], &order[i])) {
			snprintf(why, ARROW_WALK_WHY, "%s: the dictionary has a value twice",
				 s->name);
			r = -1;
		}
	}
	free(order);
	return r;
}

static int walk_codes(const struct ArrowSchema *s, const struct ArrowArray *a,
		      char why[ARROW_WALK_WHY])
{
	const int32_t *codes = a->buffers[1];

	CHECK(a->dictionary, "%s: there is no dictionary", s->name);
	CHECK(!a->dictionary->null_count, "%s: nulls in the dictionary", s->name);
	for (int64_t i = 0; i < a->length; i++)
		CHECK(arrow_is_null(a, i) || (codes[i] >= 0 && codes[i] < a->dictionary->length),
		      "%s: code %d of %d", s->name, codes[i], (int)a->dictionary->length);
	if (arrow_walk(s->dictionary, a->dictionary, why) < 0)
		return -1;
	return walk_distinct(s, a->dictionary, why);
}

static int walk_numbers(const struct ArrowSchema *s, const struct ArrowArray *a)
{
	const size_t width = walk_number_width(s->format);
	const volatile uint8_t *bytes = a->buffers[1];
	uint8_t sum = 0;

	for (size_t i = 0; i < (size_t)a->length * width; i++)
		sum ^= bytes[i];
	return sum & 0;
}

static int walk_struct(const struct ArrowSchema *s, const struct ArrowArray *a,
		       char why[ARROW_WALK_WHY])
{
	for (int64_t i = 0; i < a->n_children; i++) {
		CHECK(a->children[i]->length == a->length, "%s: %d rows of %d",
		      s->children[i]->name, (int)a->children[i]->length, (int)a->length);
		if (arrow_walk(s->children[i], a->children[i], why) < 0)
			return -1;
	}
	return 0;
}

int arrow_walk(const struct ArrowSchema *s, const struct ArrowArray *a, char why[ARROW_WALK_WHY])
{
	const bool is_struct = !strcmp(s->format, "+s"), is_list = !strcmp(s->format, "+l");

	CHECK(a->release, "%s: the array is released", s->name);
	CHECK(a->length >= 0 && !a->offset, "%s: length %d, offset %d", s->name, (int)a->length,
	      (int)a->offset);
	CHECK(a->n_children == s->n_children, "%s: %d children, not %d", s->name,
	      (int)a->n_children, (int)s->n_children);
	if (walk_buffers(s, a,
			 is_struct                 ? 1
			 : walk_is_text(s->format) ? 3
						   : 2,
			 why) < 0 ||
	    walk_nulls(s, a, why) < 0)
		return -1;
	if (is_struct)
		return walk_struct(s, a, why);
	if (s->dictionary)
		return walk_codes(s, a, why);
	CHECK(!a->dictionary, "%s: a dictionary too many", s->name);
	if (is_list)
		return walk_offsets(s, a, a->children[0]->length, why) < 0
			       ? -1
			       : arrow_walk(s->children[0], a->children[0], why);
	if (walk_is_text(s->format))
		return walk_offsets(s, a, -1, why) < 0 ? -1 : walk_texts(s, a, why);
	return walk_numbers(s, a);
}

/* ---- values ---------------------------------------------------------------------------------- */

int arrow_find(const struct ArrowSchema *s, const char *name)
{
	for (int i = 0; i < s->n_children; i++) {
		if (!strcmp(s->children[i]->name, name))
			return i;
	}
	return -1;
}

uint64_t arrow_number(const char *format, const struct ArrowArray *a, int64_t row)
{
	const void *p = a->buffers[1];

	switch (*format) {
	case 'c':
		return (uint64_t)((const int8_t *)p)[row];
	case 'C':
		return ((const uint8_t *)p)[row];
	case 's':
		return (uint64_t)((const int16_t *)p)[row];
	case 'S':
		return ((const uint16_t *)p)[row];
	case 'i':
		return (uint64_t)((const int32_t *)p)[row];
	case 'I':
		return ((const uint32_t *)p)[row];
	}
	return ((const uint64_t *)p)[row];
}

const char *arrow_text(const struct ArrowArray *a, int64_t row, size_t *ret_len)
{
	const int32_t *offsets;

	if (a->dictionary) {
		row = ((const int32_t *)a->buffers[1])[row];
		a = a->dictionary;
	}
	offsets = a->buffers[1];
	*ret_len = (size_t)(offsets[row + 1] - offsets[row]);
	return (const char *)a->buffers[2] + offsets[row];
}

const char *arrow_meta_value(const struct ArrowSchema *s, const char *key, char room[64])
{
	const char *p = s->metadata;
	int32_t nr = 0, len;

	room[0] = '\0';
	if (p)
		memcpy(&nr, p, sizeof(nr));
	p += sizeof(nr);
	for (int32_t i = 0; i < nr; i++) {
		bool is_it;

		memcpy(&len, p, sizeof(len));
		is_it = (size_t)len == strlen(key) && !memcmp(p + sizeof(len), key, (size_t)len);
		p += sizeof(len) + len;
		memcpy(&len, p, sizeof(len));
		if (is_it)
			snprintf(room, 64, "%.*s", len, p + sizeof(len));
		p += sizeof(len) + len;
	}
	return room;
}
