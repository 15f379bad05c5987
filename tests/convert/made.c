/* SPDX-License-Identifier: MIT */
/*
 * made FORMAT OUT [few|none]: writes a table of arrays made by hand, with all types that the
 * writers know, slices that do not begin at a byte, nulls, and dictionaries that grow from batch to
 * batch. few: the types that rows can have. none: no batch. tests/convert/made.py has the same
 * values.
 */
#include "table_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MADE_MOST = 24, MADE_ROWS = 5 };

/* Arrays are not freed here: they belong to the program, and release only marks them. */
static void made_release_array(struct ArrowArray *a)
{
	a->release = NULL;
}

static void made_release_schema(struct ArrowSchema *s)
{
	s->release = NULL;
}

static struct ArrowSchema *made_schema(const char *format, const char *name)
{
	struct ArrowSchema *s = calloc(1, sizeof(*s));

	s->format = format;
	s->name = name;
	s->flags = ARROW_FLAG_NULLABLE;
	s->release = made_release_schema;
	return s;
}

static struct ArrowSchema *made_parent(struct ArrowSchema *s, struct ArrowSchema *child)
{
	s->children = realloc(s->children, (size_t)(s->n_children + 1) * sizeof(child));
	s->children[s->n_children++] = child;
	return s;
}

static struct ArrowSchema *made_coded(const char *name, const char *format,
				      struct ArrowSchema *values)
{
	struct ArrowSchema *s = made_schema(format, name);

	s->dictionary = values;
	return s;
}

/* Rows of `first` on in every buffer: MADE_ROWS are used. */
static struct ArrowArray *made_array(int64_t length, int64_t offset, const void *valid,
				     const void *second, const void *third)
{
	struct ArrowArray *a = calloc(1, sizeof(*a));

	a->length = length;
	a->offset = offset;
	a->null_count = valid ? -1 : 0;
	a->buffers = calloc(3, sizeof(*a->buffers));
	a->buffers[0] = valid;
	a->buffers[1] = second;
	a->buffers[2] = third;
	a->n_buffers = third ? 3 : 2;
	a->release = made_release_array;
	return a;
}

static struct ArrowArray *made_with(struct ArrowArray *a, struct ArrowArray *child)
{
	a->children = realloc(a->children, (size_t)(a->n_children + 1) * sizeof(child));
	a->children[a->n_children++] = child;
	return a;
}

static struct ArrowArray *made_of(struct ArrowArray *a, struct ArrowArray *dictionary)
{
	a->dictionary = dictionary;
	return a;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* "k" = "v" in the host's byte order. */
static const struct {
	int32_t nr, key_len;
	char key[4];
	int32_t value_len;
	char value[4];
} made_metadata = { 1, 4, { 'u', 'n', 'i', 't' }, 4, { 't', 'i', 'c', 'k' } };

static const int8_t i8[] = { 9, -1, 2, -128, 127, 0 };
static const uint8_t u8[] = { 9, 1, 2, 255, 0, 7 };
static const int16_t i16[] = { 9, -1, 2, -32768, 32767, 0 };
static const uint16_t u16[] = { 9, 1, 2, 65535, 0, 7 };
static const int32_t i32[] = { 9, -1, 2, INT32_MIN, INT32_MAX, 0 };
static const uint32_t u32[] = { 9, 1, 2, UINT32_MAX, 0, 7 };
static const int64_t i64[] = { 9, -1, 2, INT64_MIN, INT64_MAX, 0 };
static const uint64_t u64[] = { 9, 1, 2, UINT64_MAX, 1ull << 63, 7 };
static const float f32[] = { 9, 0.5f, -2, 0.1f, 1e30f, 0 };
static const double f64[] = { 9, 0.1, -2.5, 1e300, 1.0 / 3, 0 };
static const uint8_t not_third[] = { 0xf7 }; /* with offset 1: row 2 is null */
static const uint8_t odd[] = { 0x2a };       /* with offset 1: 1 0 1 0 1 */
static const int32_t texts[] = { 3, 3, 7, 7, 12, 14 };
static const char text[] = "...a,\"bx\nyz!\xc3\xa9";
static const int64_t large[] = { 3, 3, 7, 7, 12, 14 };
static const int32_t lists[] = { 1, 1, 3, 3, 4, 6 };
static const int64_t large_lists[] = { 1, 1, 3, 3, 4, 6 };
static const int32_t codes[2][6] = { { 9, 0, 1, 0, 1, 0 }, { 9, 2, 0, 2, 3, 1 } };
static const uint8_t small_codes[2][6] = { { 9, 0, 0, 0, 0, 0 }, { 9, 0, 1, 0, 1, 0 } };
static const int32_t words[] = { 0, 4, 4, 10, 13 };
static const char word[] = "bashk\xc3\xa9/:xls\t";
static const int32_t stacks[] = { 0, 2, 3, 3, 6 };
static const uint64_t ips[] = { 1, UINT64_MAX, 3, 4, 5, 6 };

static void made_types(struct ArrowSchema *s, int few)
{
	struct ArrowSchema *time = made_schema("l", "time");

	time->metadata = (const char *)&made_metadata;
	made_parent(s, time);
	made_parent(s, made_schema("c", "i8"));
	made_parent(s, made_schema("C", "u8"));
	made_parent(s, made_schema("s", "i16"));
	made_parent(s, made_schema("S", "u16"));
	made_parent(s, made_schema("i", "i32"));
	made_parent(s, made_schema("I", "u32"));
	made_parent(s, made_schema("L", "u64"));
	made_parent(s, made_schema("f", "f32"));
	made_parent(s, made_schema("g", "f64"));
	made_parent(s, made_schema("b", "bool"));
	made_parent(s, made_schema("u", "text, \"quoted\""));
	made_parent(s, made_schema("z", "bytes"));
	made_parent(s, made_parent(made_schema("+l", "list"), made_schema("s", "item")));
	made_parent(s, made_coded("comm", "i", made_schema("u", NULL)));
	made_parent(s, made_coded("small", "C", made_schema("z", NULL)));
	made_parent(s, made_coded("stack", "i",
				  made_parent(made_schema("+l", NULL), made_schema("L", "item"))));
	if (few)
		return;
	made_parent(s, made_schema("U", "large"));
	made_parent(s, made_parent(made_schema("+L", "lists"), made_schema("i", "item")));
	made_parent(s, made_schema("w:2", "pair"));
	made_parent(s, made_parent(made_schema("+w:2", "two"), made_schema("C", "item")));
	made_parent(s, made_schema("tsn:UTC", "date"));
	made_parent(s, made_schema("tDn", "span"));
	made_parent(s, made_parent(made_parent(made_schema("+s", "both"), made_schema("c", "a")),
				   made_coded("b", "i", made_schema("u", NULL))));
}

/* Batch 0 or 1: the second one has longer dictionaries, and no validity of `i16`. */
static struct ArrowArray *made_batch(int nr, int few)
{
	const int64_t n = MADE_ROWS;
	struct ArrowArray *a = made_array(n, 0, NULL, NULL, NULL);
	struct ArrowArray *known = made_array(nr ? 4 : 2, 0, NULL, words, word);
	struct ArrowArray *few_known = made_array(nr ? 2 : 1, 0, NULL, words, word);
	struct ArrowArray *paths = made_with(made_array(nr ? 4 : 2, 0, NULL, stacks, NULL),
					     made_array(6, 0, NULL, ips, NULL));

	a->n_buffers = 1;
	made_with(a, made_array(n, 1, NULL, i64, NULL));
	made_with(a, made_array(n, 1, not_third, i8, NULL));
	made_with(a, made_array(n, 1, not_third, u8, NULL));
	made_with(a, made_array(n, 1, nr ? NULL : not_third, i16, NULL));
	made_with(a, made_array(n, 1, NULL, u16, NULL));
	made_with(a, made_array(n, 1, NULL, i32, NULL));
	made_with(a, made_array(n, 1, NULL, u32, NULL));
	made_with(a, made_array(n, 1, NULL, u64, NULL));
	made_with(a, made_array(n, 1, NULL, f32, NULL));
	made_with(a, made_array(n, 1, not_third, f64, NULL));
	made_with(a, made_array(n, 1, NULL, odd, NULL));
	made_with(a, made_array(n - 1, 1, NULL, texts, text));
	made_with(a, made_array(n - 1, 1, not_third, texts, text));
	made_with(a, made_with(made_array(n - 1, 1, NULL, lists, NULL),
			       made_array(6, 0, not_third, i16, NULL)));
	made_with(a, made_of(made_array(n, 1, not_third, codes[nr], NULL), known));
	made_with(a, made_of(made_array(n, 1, NULL, small_codes[nr], NULL), few_known));
	made_with(a, made_of(made_array(n, 1, not_third, codes[nr], NULL), paths));
	if (!few) {
		made_with(a, made_array(n - 1, 1, NULL, large, text));
		made_with(a, made_with(made_array(n - 1, 1, NULL, large_lists, NULL),
				       made_array(6, 0, NULL, i32, NULL)));
		made_with(a, made_array(n, 1, NULL, "..abcdefghij", NULL));
		made_with(a, made_with(made_array(n, 1, NULL, NULL, NULL),
				       made_array(12, 0, NULL, "..abcdefghij", NULL)));
		made_with(a, made_array(n, 1, NULL, i64, NULL));
		made_with(a, made_array(n, 1, NULL, i64, NULL));
		made_with(a, made_with(made_with(made_array(n, 0, NULL, NULL, NULL),
						 made_array(n, 1, NULL, i8, NULL)),
				       made_of(made_array(n, 1, NULL, codes[nr], NULL), known)));
	}
	/* Texts and lists have four rows, so all columns do. */
	a->length = n - 1;
	for (int64_t i = 0; i < a->n_children; i++)
		a->children[i]->length = n - 1;
	return a;
}

int main(int argc, char **argv)
{
	const int few = argc > 3 && !strcmp(argv[3], "few");
	const int none = argc > 3 && !strcmp(argv[3], "none");
	static const struct table_fact facts[] = { { "host", "box" }, { "lost", "7" }, { NULL } };
	struct table_files_options o = { .output = argv[2] };
	struct ArrowSchema *s = made_schema("+s", "made:table");
	struct table_files *t;
	int r;

	if (argc < 3 || !table_files_format_find(argv[1], &o.format) || table_files_new(&t, &o) < 0)
		return 1;
	made_types(s, few);
	r = table_files_open(t, 1);
	if (!r)
		r = table_files_add(t, "made:table", s);
	for (int i = 0; i < 2 && !r && !none; i++)
		r = table_files_batch(t, 0, made_batch(i, few));
	if (!r)
		r = table_files_finish(t, facts);
	table_files_free(t);
	return r < 0;
}
