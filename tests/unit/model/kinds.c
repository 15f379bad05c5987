/* SPDX-License-Identifier: MIT */
/* Fields of all kinds, in both byte orders: their numbers, their text, their JSON. */
#include "unittest.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "model/field_text.h"
#include "by_hand.h"
#include "model/schema_table.h"
#include "model/value.h"
#include "sinks/jsonl/jsonl.h"

static const struct sonde_label states[] = {
	{ 0, 0, "RUNNING" },
	{ 1, 2, "SLEEPING" },
	{ (uint64_t)-3, (uint64_t)-2, "BELOW" },
	{ 0, 1000, "OTHER" },
};

/*
 *	0   float 1.5, little              4   double -0.1, big
 *	12  enum i16 -2, little            14  u16 0x1234 big
 *	16  bits of a byte and a half      18  struct { u8; double? no: u16 big }
 */
static const uint8_t payload[] = {
	0x00, 0x00, 0xc0, 0x3f,                         /* 0: 1.5 */
	0xbf, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a, /* 4: -0.1 */
	0xfe, 0xff,                                     /* 12: -2 */
	0x12, 0x34,                                     /* 14: 0x1234 */
	0xa5, 0x3c,                                     /* 16: bits */
	0x07, 0x00, 0x09,                               /* 18: a struct: 7, 9 */
	0x01, 0x00, 0x02, 0x00,                         /* 21: two numbers */
	0x00, 0x00, 0x80, 0x7f,                         /* 25: infinity */
	0x01, 0x00, 0xc0, 0xff,                         /* 29: no number */
	0xcd, 0xcc, 0xcc, 0x3d,                         /* 33: 0.1 as float */
};

#define LITTLE .byte_order = SONDE_ORDER_LITTLE
#define BIG    .byte_order = SONDE_ORDER_BIG
#define LABELS .labels = states, .nr_labels = 4

static struct sonde_field inner[] = {
	FIELD("a", INT, 18, 1),
	FIELD("b", INT, 19, 2, BIG),
};
static struct sonde_field outer[] = {
	FIELD("deep", NESTED, 18, 3, .fields = inner, .nr_fields = 2),
	FIELD("state", ENUM, 12, 2, LITTLE, .is_signed = 1, LABELS),
};
static struct sonde_field fields[] = {
	FIELD("f", FLOAT, 0, 4, LITTLE),
	FIELD("d", FLOAT, 4, 8, BIG),
	FIELD("state", ENUM, 12, 2, LITTLE, .is_signed = 1, LABELS),
	FIELD("unlabelled", ENUM, 14, 2, BIG, LABELS),
	FIELD("n", INT, 14, 2, BIG),
	FIELD("low", BITS, 16, 2, LITTLE, .bit_offset = 0, .bit_width = 3),
	FIELD("across", BITS, 16, 2, LITTLE, .bit_offset = 5, .bit_width = 7),
	FIELD("negative", BITS, 16, 2, LITTLE, .bit_offset = 5, .bit_width = 3, .is_signed = 1),
	FIELD("high", BITS, 16, 2, BIG, .bit_offset = 0, .bit_width = 3),
	FIELD("big_across", BITS, 16, 2, BIG, .bit_offset = 5, .bit_width = 7),
	FIELD("flag", ENUM, 16, 1, LITTLE, .bit_offset = 1, .bit_width = 2, LABELS),
	FIELD("deep", NESTED, 12, 9, .fields = outer, .nr_fields = 2),
	FIELD("list", ARRAY, 21, 4, .elem_width = 2, LITTLE),
	FIELD("inf", FLOAT, 25, 4, LITTLE),
	FIELD("nan", FLOAT, 29, 4, LITTLE),
	FIELD("tenth", FLOAT, 33, 4, LITTLE),
	FIELD("outside", FLOAT, 36, 4, LITTLE),
	FIELD("far", NESTED, 40, 4, .fields = inner, .nr_fields = 2),
};
static struct sonde_schema schema = SCHEMA("kinds", fields);

static const struct sonde_field *field(const char *name)
{
	const struct sonde_field *f = schema_find_field(&schema, name, strlen(name));

	assert_non_null(f);
	return f;
}

static int64_t number(const char *name, bool swap)
{
	const struct sonde_field *f = field(name);

	return (int64_t)field_sign_extend(f, field_number(f, payload, sizeof(payload), swap));
}

TEST(numbers)
{
	/* The byte order of the recording; the fields have their own. */
	for (int swap = 0; swap < 2; swap++) {
		assert_int_equal(number("state", swap), -2);
		assert_int_equal(number("n", swap), 0x1234);
		/* 0xa5 0x3c, lowest bit first: 1010 0101 0011 1100 from bytes' high to low */
		assert_int_equal(number("low", swap), 5);
		assert_int_equal(number("across", swap), 5 | 0xc << 3);
		assert_int_equal(number("negative", swap), -3);
		assert_int_equal(number("high", swap), 5);
		assert_int_equal(number("big_across", swap), 5 << 4 | 3);
		assert_int_equal(number("flag", swap), 2);
		assert_int_equal(number("deep.state", swap), -2);
		assert_int_equal(number("deep.deep.a", swap), 7);
		assert_int_equal(number("deep.deep.b", swap), 9);
		assert_true(field_double(field("f"), payload, sizeof(payload), swap) == 1.5);
		assert_true(field_double(field("d"), payload, sizeof(payload), swap) == -0.1);
		assert_true(field_double(field("state"), payload, sizeof(payload), swap) == -2);
		assert_true(field_double(field("n"), payload, sizeof(payload), swap) == 0x1234);
	}
	assert_true(field_double(field("outside"), payload, sizeof(payload), false) == 0);
	assert_null(schema_find_field(&schema, "deep.missing", 12));
	assert_null(schema_find_field(&schema, "f.a", 3));
	assert_null(schema_find_field(&schema, "deep.", 5));
}

TEST(names_with_nul)
{
	struct sonde_field nul = FIELD("nul\0\0", INT, 0, 1, LITTLE);
	struct sonde_schema sc = schema;

	sc.fields = &nul;
	sc.nr_fields = 1;
	assert_ptr_equal(schema_find_field(&sc, "nul", 3), &nul);
	assert_null(schema_find_field(&sc, "nul\0", 4)); /* bytes of a recording */
}

/* Compares bit fields of every place and width with the number that contains them. */
TEST(bits)
{
	static const uint8_t p[] = { 0x8f, 0x3c, 0x71, 0xe2, 0x05, 0xd9, 0xb4, 0x6a, 0x17 };
	unsigned __int128 little = 0, big = 0;

	for (unsigned i = 0; i < sizeof(p); i++) {
		little |= (unsigned __int128)p[i] << 8 * i;
		big = big << 8 | p[i];
	}
	for (uint32_t at = 0; at < 8 * sizeof(p); at++) {
		for (uint32_t n = 1; n <= 64; n++) {
			const uint64_t mask = n == 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
			const bool inside = at + n <= 8 * sizeof(p);

			assert_int_equal(value_bits(p, sizeof(p), at, n, false),
					 inside ? (uint64_t)(little >> at) & mask : 0);
			assert_int_equal(value_bits(p, sizeof(p), at, n, true),
					 inside ? (uint64_t)(big >> (8 * sizeof(p) - at - n)) & mask
						: 0);
		}
	}
	assert_int_equal(value_bits(p, sizeof(p), 0, 65, false), 0);
}

TEST(labels)
{
	const struct sonde_field *signed_one = field("state"), *unlabelled = field("unlabelled");

	assert_string_equal(field_label(signed_one, 0), "RUNNING");
	assert_string_equal(field_label(signed_one, 2), "SLEEPING");
	assert_string_equal(field_label(signed_one, 3), "OTHER");
	assert_string_equal(field_label(signed_one, (uint64_t)-3), "BELOW");
	assert_string_equal(field_label(signed_one, 0xfffe), "BELOW"); /* zero-extended */
	assert_null(field_label(signed_one, 1001));
	assert_null(field_label(signed_one, (uint64_t)-1));
	assert_null(field_label(unlabelled, 0xfffe));
	assert_null(field_label(field("n"), 0));
}

TEST(labels_as_defines)
{
	static const struct sonde_label own[] = { { 1, 2, "X" },
						  { 5, 300, "MANY" },
						  { 9, 9, "Y" } };
	static struct sonde_field one[] = { FIELD("n", INT, 0, 1),
					    FIELD("e", ENUM, 0, 1, .labels = own, .nr_labels = 3) };
	struct arena arena = { 0 };
	struct sonde_schema sc = SCHEMA("one", one, .arena = &arena);
	size_t nr;
	const struct sonde_define *d = schema_defines(&sc, &nr);

	assert_int_equal(nr, 4);
	assert_int_equal(d[0].kind, SONDE_DEFINE_SYMBOLIC_FIELD);
	assert_string_equal(d[0].field, "e");
	assert_int_equal(d[2].kind, SONDE_DEFINE_SYMBOLIC_VALUE);
	assert_int_equal(d[2].value, 2);
	assert_string_equal(d[2].text, "X");
	assert_int_equal(d[3].value, 9);
	assert_ptr_equal(schema_defines(&sc, &nr), d);
	arena_done(&arena);
}

static const char *done(struct outbuf *out)
{
	static char text[2048];

	assert_false(out->failed);
	snprintf(text, sizeof(text), "%.*s", (int)out->len, out->data);
	outbuf_done(out);
	return text;
}

TEST(text)
{
	struct outbuf out = { 0 };

	fields_text_put(fields, sizeof(fields) / sizeof(*fields), payload, sizeof(payload), false,
			&out);
	assert_string_equal(done(&out),
			    "f=1.5 d=-0.1 state=BELOW unlabelled=4660 n=4660 low=5 across=101 "
			    "negative=-3 high=5 big_across=83 flag=SLEEPING "
			    "deep={deep={a=7 b=9} state=BELOW} list=[1, 2] inf=inf nan=nan "
			    "tenth=0.1 outside=0.0 far=");
}

static const char *shown(double v)
{
	struct outbuf out = { 0 };

	outbuf_double(&out, v, false);
	return done(&out);
}

TEST(shortest_digits)
{
	static const char *const same[] = { "0.0",    "-0.0",
					    "1.0",    "-2.0",
					    "0.1",    "1e-05",
					    "0.0001", "123.25",
					    "1e+16",  "1234567890123456.0",
					    "5e-324", "1.7976931348623157e+308",
					    "inf",    "-inf",
					    "nan",    "0.30000000000000004",
					    "1e+100", "100.0" };

	for (unsigned i = 0; i < sizeof(same) / sizeof(*same); i++)
		assert_string_equal(shown(strtod(same[i], NULL)), same[i]);
	setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* has a decimal comma, if it is installed */
	assert_string_equal(shown(123.25), "123.25");
	setlocale(LC_NUMERIC, "C");
}

TEST(json)
{
	static const struct json_piece name = { ",\"x\":", 5 };
	struct json_piece names[sizeof(fields) / sizeof(*fields)];
	bool is_plain[sizeof(fields) / sizeof(*fields)] = { 0 };
	const struct jsonl_type type = { .names = names, .is_plain = is_plain };
	const struct event ev = {
		.pub = { .bytes = payload, .bytes_len = sizeof(payload) },
		.schema = &schema,
	};
	struct outbuf out = { 0 };
	struct json j = json_to(&out);

	for (unsigned i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		names[i] = name;
	json_object(&j);
	jsonl_fields_put(&type, &ev, &j);
	json_end(&j);
	assert_string_equal(
		done(&out),
		"{\"fields\":{\"x\":1.5,\"x\":-0.1,\"x\":{\"value\":-2,\"label\":\"BELOW\"},"
		"\"x\":{\"value\":4660,\"label\":null},\"x\":4660,\"x\":5,\"x\":101,\"x\":-3,"
		"\"x\":5,\"x\":83,\"x\":{\"value\":2,\"label\":\"SLEEPING\"},"
		"\"x\":{\"deep\":{\"a\":7,\"b\":9},\"state\":{\"value\":-2,\"label\":\"BELOW\"}},"
		"\"x\":[1,2],\"x\":\"Infinity\",\"x\":\"NaN\",\"x\":0.10000000149011612,"
		"\"x\":null,\"x\":null}}");
}

/* Two recordings with the same schema share it; a schema with another label is another one. */
TEST(alike)
{
	static const struct sonde_label other[] = { { 0, 0, "RUNNING" }, { 1, 2, "ASLEEP" } };
	static struct sonde_field deep[] = { FIELD("e", ENUM, 0, 1, .labels = states,
						   .nr_labels = 2) },
				  changed[] = { FIELD("e", ENUM, 0, 1, .labels = other,
						      .nr_labels = 2) };
	static struct sonde_field a[] = { FIELD("s", NESTED, 0, 1, .fields = deep,
						.nr_fields = 1) },
				  b[] = { FIELD("s", NESTED, 0, 1, .fields = changed,
						.nr_fields = 1) };
	struct sonde_schema s1 = SCHEMA("s", a), s2 = SCHEMA("s", a), s3 = SCHEMA("s", b), *got;
	struct schema_table t = { 0 };

	assert_int_equal(schema_table_take(&t, &s1, "one", &got), 0);
	assert_int_equal(schema_table_take(&t, &s2, "two", &got), 0);
	assert_ptr_equal(got, &s1);
	assert_int_equal(schema_table_take(&t, &s3, "two", &got), 0);
	assert_ptr_equal(got, &s3);
	schema_table_done(&t);
}
