/* SPDX-License-Identifier: MIT */
/* Events made by hand: fields of all kinds, in both byte orders, and two layouts of one event. */
#include "unittest.h"

#include <string.h>

#include "../model/by_hand.h"
#include "arrow_walk.h"
#include "columns/arrow.h"
#include "columns/table.h"
#include "columns/utf8.h"

static struct recordings all;
static struct tables tables;
static struct ArrowSchema schema;
static struct ArrowArray batch;

static void begin(struct sonde_schema *first, struct sonde_schema *second, uint32_t flags,
		  const char *fields)
{
	memset(&all, 0, sizeof(all));
	memset(&tables, 0, sizeof(tables));
	assert_int_equal(strpool_init(&all.strings), 0);
	assert_int_equal(schema_table_add(&all.schemas, first), 0);
	if (second)
		assert_int_equal(schema_table_add(&all.schemas, second), 0);
	tables.all = &all;
	if (tables_add(&tables, first->name, fields, flags | SONDE_COLUMNS_FIELDS_ONLY,
		       TABLE_DEFAULT_ROWS) < 0)
		fail_msg("%s", sonde_error_text());
	assert_int_equal(tables_plan(&tables), 0);
	assert_int_equal(batch_schema(tables.tables.v[0], "raw", &schema), 0);
}

static void put(const struct sonde_schema *sc, const void *bytes, size_t len, bool is_swapped)
{
	const struct sonde_event ev = {
		.size = sizeof(ev),
		.schema = sc->id,
		.bytes = bytes,
		.bytes_len = (uint32_t)len,
		.flags = is_swapped ? SONDE_EVENT_SWAPPED : 0,
	};
	const struct sonde_event *const events[] = { &ev };

	assert_int_equal(tables_take(&tables, events, 1), 0);
}

static void finish(void)
{
	char why[ARROW_WALK_WHY];
	uint32_t table;

	assert_int_equal(tables_finish(&tables), 0);
	assert_int_equal(tables_next(&tables, &table, &batch), 1);
	if (arrow_walk(&schema, &batch, why) < 0)
		fail_msg("%s", why);
}

static void done(void)
{
	batch.release(&batch);
	schema.release(&schema);
	tables_done(&tables);
	schema_table_done(&all.schemas);
	strpool_done(&all.strings);
}

static const char *format(const char *name)
{
	return schema.children[arrow_find(&schema, name)]->format;
}

static int64_t number(const char *name, int64_t row)
{
	const int i = arrow_find(&schema, name);

	if (arrow_is_null(batch.children[i], row))
		return INT64_MIN + 1;
	return (int64_t)arrow_number(schema.children[i]->format, batch.children[i], row);
}

#define assert_null_at(name, row) assert_true(number(name, row) == INT64_MIN + 1)

static void assert_text(const char *name, int64_t row, const char *want)
{
	size_t len;
	const char *text = arrow_text(batch.children[arrow_find(&schema, name)], row, &len);

	assert_int_equal(len, strlen(want));
	assert_memory_equal(text, want, len);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static const struct sonde_label labels[] = { { 0, 0, "zero" }, { 1, 9, "few" } };

TEST(fields_of_all_kinds)
{
	static const uint8_t bytes[] = {
		0x00, 0x00, 0xc0, 0x3f,                         /* 0: 1.5 */
		0xbf, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a, /* 4: -0.1, big */
		0xfe, 0xff,                                     /* 12: -2 */
		0xa5, 0x3c,                                     /* 14: bits */
		'a',  0xc3, 0xa4, 0xff, 0x00, 'x',              /* 16: text */
		0x01, 0x00, 0xff, 0xff,                         /* 22: two numbers */
		0x05, 0x00, 0x00, 0x80,                         /* 26: a pointer of 4 bytes */
		0x07, 0x08, 0x09,                               /* 30: bytes */
	};
	struct sonde_field fields[] = {
		FIELD("f", FLOAT, 0, 4),
		FIELD("d", FLOAT, 4, 8, .byte_order = SONDE_ORDER_BIG),
		FIELD("e", ENUM, 12, 2, .is_signed = 1, .labels = labels, .nr_labels = 2),
		FIELD("bits", BITS, 14, 2, .bit_offset = 5, .bit_width = 7),
		FIELD("low", BITS, 14, 2, .bit_offset = 5, .bit_width = 3, .is_signed = 1),
		FIELD("text", STRING, 16, 6),
		FIELD("list", ARRAY, 22, 4, .elem_width = 2, .is_signed = 1),
		FIELD("pointer", INT, 26, 4, .is_pointer = 1),
		FIELD("raw", STRUCT, 30, 3),
		FIELD("odd", INT, 30, 3),
	};
	struct sonde_schema sc = SCHEMA("kinds", fields);
	const struct ArrowArray *list;

	begin(&sc, NULL, 0, NULL);
	put(&sc, bytes, sizeof(bytes), false);
	put(&sc, bytes, 13, false); /* it ends inside of e */
	finish();
	assert_string_equal(format("f"), "f");
	assert_true(((const float *)batch.children[0]->buffers[1])[0] == 1.5f);
	assert_string_equal(format("d"), "g");
	assert_true(((const double *)batch.children[1]->buffers[1])[0] == -0.1);
	assert_false(arrow_is_null(batch.children[1], 1));
	assert_string_equal(format("e"), "s");
	assert_int_equal(number("e", 0), -2);
	assert_null_at("e", 1);
	assert_string_equal(format("bits"), "C");
	assert_int_equal(number("bits", 0), 0x3ca5 >> 5 & 0x7f);
	assert_string_equal(format("low"), "c");
	assert_int_equal(number("low", 0), -3);
	assert_null_at("low", 1);
	assert_text("text", 0, "a\xc3\xa4\\xff");
	assert_true(arrow_is_null(batch.children[5], 1));
	list = batch.children[6];
	assert_int_equal(((const int32_t *)list->buffers[1])[1], 2);
	assert_int_equal((int16_t)arrow_number("s", list->children[0], 1), -1);
	assert_true(arrow_is_null(list, 1));
	assert_string_equal(format("pointer"), "L");
	assert_int_equal(number("pointer", 0), 0x80000005);
	assert_string_equal(format("raw"), "z");
	assert_text("raw", 0, "\7\10\11");
	assert_text("odd", 0, "\7\10\11");
	assert_int_equal(tables.tables.v[0]->unfit, 0);
	done();
}

TEST(numbers_in_the_other_byte_order)
{
	struct sonde_field fields[] = {
		FIELD("a", INT, 0, 1, .is_signed = 1),
		FIELD("b", INT, 1, 2, .is_signed = 1),
		FIELD("c", INT, 3, 4),
		FIELD("d", INT, 7, 8, .is_signed = 1),
		FIELD("list", ARRAY, 15, 4, .elem_width = 2),
	};
	struct sonde_schema sc = SCHEMA("orders", fields);
	static const uint8_t little[] = { 0x80, 0xfe, 0xff, 4,    3,    2, 1, 0xfd, 0xff, 0xff,
					  0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 2,    0 },
			     big[] = { 0x80, 0xff, 0xfe, 1,    2,    3, 4, 0xff, 0xff, 0xff,
				       0xff, 0xff, 0xff, 0xff, 0xfd, 0, 1, 0,    2 };
	const struct sonde_event events[] = {
		{ .size = sizeof(events[0]), .bytes = little, .bytes_len = sizeof(little) },
		{ .size = sizeof(events[0]),
		  .bytes = big,
		  .bytes_len = sizeof(big),
		  .flags = SONDE_EVENT_SWAPPED },
	};

	/* One order, the other, and both in one run. */
	for (int first = 0; first < 3; first++) {
		const struct sonde_event *run[4] = { &events[first & 1], &events[first & 1],
						     &events[first & 1], &events[first & 1] };

		if (first == 2)
			run[1] = run[3] = &events[1];
		begin(&sc, NULL, 0, NULL);
		assert_int_equal(tables_take(&tables, run, 4), 0);
		finish();
		for (int i = 0; i < 4; i++) {
			const struct ArrowArray *list = batch.children[4];

			assert_int_equal(number("a", i), -128);
			assert_int_equal(number("b", i), -2);
			assert_int_equal(number("c", i), 0x01020304);
			assert_int_equal(number("d", i), -3);
			assert_int_equal(arrow_number("S", list->children[0], 2 * i), 1);
			assert_int_equal(arrow_number("S", list->children[0], 2 * i + 1), 2);
		}
		done();
	}
}

TEST(names_of_enums)
{
	struct sonde_field fields[] = {
		FIELD("e", ENUM, 0, 1, .is_signed = 1, .labels = labels, .nr_labels = 2),
	};
	struct sonde_schema sc = SCHEMA("enums", fields);

	begin(&sc, NULL, SONDE_COLUMNS_NAMES, NULL);
	put(&sc, "\0", 1, false);
	put(&sc, "\5", 1, false);
	put(&sc, "\6", 1, false);
	put(&sc, "\xff", 1, false);
	finish();
	assert_text("e", 0, "zero");
	assert_text("e", 1, "few");
	assert_text("e", 2, "few");
	assert_text("e", 3, "-1");
	assert_int_equal(batch.children[0]->dictionary->length, 3);
	done();
}

/* If one layout names values, the numbers of the other one are text, whichever is the first. */
TEST(names_of_one_layout)
{
	struct sonde_field named[] = {
		FIELD("e", ENUM, 0, 1, .is_signed = 1, .labels = labels, .nr_labels = 2),
		FIELD("other", INT, 1, 1),
	}, plain[] = {
		FIELD("e", INT, 0, 4, .is_signed = 1),
		FIELD("other", INT, 4, 4),
	};
	static const uint8_t two[] = { 0xfb, 0xff, 0xff, 0xff, 9, 0, 0, 0 },
			     five[] = { 5, 0, 0, 0, 0, 0, 0, 0 };

	for (int first = 0; first < 2; first++) {
		/* Schemas anew: they keep what the memory of one run has. */
		struct sonde_schema a = SCHEMA("same", named), b = SCHEMA("same", plain);

		begin(first ? &b : &a, first ? &a : &b, SONDE_COLUMNS_NAMES, NULL);
		put(&a, "\5\7", 2, false);
		put(&b, two, sizeof(two), false);
		put(&b, five, sizeof(five), false);
		put(&a, "\5\7", 2, false);
		finish();
		assert_text("e", 0, "few");
		assert_text("e", 1, "-5");
		assert_text("e", 2, "5");
		assert_text("e", 3, "few");
		assert_string_equal(format("other"), "I"); /* no layout names its values */
		assert_int_equal(number("other", 1), 9);
		done();
	}
}

/* ---- two layouts of one event ---------------------------------------------------------------- */

TEST(layouts_share_the_wider_type)
{
	struct sonde_field one[] = {
		FIELD("n", INT, 0, 2, .is_signed = 1), FIELD("m", INT, 2, 4),
		FIELD("only_one", INT, 6, 1), FIELD("kind", INT, 7, 1),
		FIELD("u", INT, 8, 8),
	}, two[] = {
		FIELD("n", INT, 0, 8, .is_signed = 1), FIELD("m", INT, 8, 4, .is_signed = 1),
		FIELD("kind", STRING, 12, 4), FIELD("u", INT, 16, 8, .is_signed = 1),
	};
	struct sonde_schema a = SCHEMA("same", one), b = SCHEMA("same", two);
	static const uint8_t first[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 7,    9,
					 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
			     second[] = { 1,    0,    0,    0,    0,    0,    0,    0x10,
					  0xff, 0xff, 0xff, 0xff, 'x',  0,    0,    0,
					  0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	begin(&a, &b, 0, NULL);
	put(&a, first, sizeof(first), false);
	put(&b, second, sizeof(second), false);
	put(&a, first, sizeof(first), false);
	finish();
	assert_string_equal(format("n"), "l");
	assert_string_equal(format("m"), "l"); /* u32 and s32 */
	assert_string_equal(format("kind"), "C");
	assert_string_equal(format("u"), "l"); /* nothing has all numbers of u64 and s64 */
	assert_int_equal(number("n", 0), -1);
	assert_int_equal(number("n", 1), INT64_C(0x1000000000000001));
	assert_int_equal(number("m", 0), UINT32_MAX);
	assert_int_equal(number("m", 1), -1);
	assert_int_equal(number("only_one", 2), 7);
	assert_null_at("only_one", 1); /* the layout has no such field */
	assert_null_at("kind", 1);     /* it has another kind of field */
	assert_null_at("u", 0);        /* 2^64 - 1 */
	assert_int_equal(number("u", 1), -2);
	assert_int_equal(tables.tables.v[0]->unfit, 3);
	done();
}

TEST(a_layout_that_appears_later_fits_or_is_null)
{
	struct sonde_field one[] = { FIELD("n", INT, 0, 2, .is_signed = 1) },
			   two[] = { FIELD("n", INT, 0, 4) };
	struct sonde_schema a = SCHEMA("later", one), b = SCHEMA("later", two);

	begin(&a, NULL, 0, NULL);
	put(&a, "\1\0", 2, false);
	assert_int_equal(schema_table_add(&all.schemas, &b), 0);
	put(&b, "\2\0\0\0", 4, false);
	put(&b, "\0\200\0\0", 4, false); /* 32768 */
	finish();
	assert_string_equal(format("n"), "s");
	assert_int_equal(number("n", 0), 1);
	assert_int_equal(number("n", 1), 2);
	assert_null_at("n", 2);
	assert_int_equal(tables.tables.v[0]->unfit, 1);
	done();
}

/* ---- text ------------------------------------------------------------------------------------ */

static void assert_replaced(const char *text, const char *want)
{
	struct outbuf o = { 0 };

	assert_int_equal(utf8_is_valid((const uint8_t *)text, strlen(text)), !strcmp(text, want));
	assert_int_equal(utf8_replace((const uint8_t *)text, strlen(text), &o), 0);
	assert_int_equal(o.len, strlen(want));
	assert_memory_equal(o.data, want, o.len);
	outbuf_done(&o);
}

TEST(bytes_that_are_no_utf8_are_replaced)
{
	assert_replaced("plain text of more than eight bytes",
			"plain text of more than eight bytes");
	assert_replaced("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
			"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
	assert_replaced("a\x80z", "a\\x80z");
	assert_replaced("12345678\xff", "12345678\\xff");
	assert_replaced("\xc0\xaf", "\\xc0\\xaf");          /* overlong */
	assert_replaced("\xe0\x9f\xbf", "\\xe0\\x9f\\xbf"); /* overlong */
	assert_replaced("\xf0\x8f\xbf\xbf", "\\xf0\\x8f\\xbf\\xbf");
	assert_replaced("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* a surrogate */
	assert_replaced("\xed\x9f\xbf", "\xed\x9f\xbf");
	assert_replaced("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
	assert_replaced("\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf");
	assert_replaced("\xe2\x82", "\\xe2\\x82"); /* cut off */
	assert_replaced("\xe2\x82x", "\\xe2\\x82x");
}

TEST(dictionaries_grow)
{
	struct dictionary d;
	char text[32];
	int32_t code;

	assert_int_equal(dictionary_init(&d, 1), 0);
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < 20000; i++) {
			const size_t len = (size_t)snprintf(text, sizeof(text), "%d", i * 7919);

			assert_int_equal(dictionary_code(&d, text, len, &code), 0);
			assert_int_equal(code, i);
		}
	}
	assert_int_equal(dictionary_code(&d, "", 0, &code), 0);
	assert_int_equal(code, 20000);
	dictionary_done(&d);
}
