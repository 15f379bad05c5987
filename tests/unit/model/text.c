/* SPDX-License-Identifier: MIT */
/* The text of events whose schemas have no print format. */
#include "unittest.h"

#include <string.h>

#include "model/field_program.h"
#include "model/field_text.h"
#include "recording/recording.h"
#include "recording/text.h"
#include "by_hand.h"

static struct recording rec;

static const char *text_of(const struct sonde_schema *sc, const void *bytes, uint32_t len,
			   uint32_t flags)
{
	static char text[512];
	const struct event ev = {
		.pub = { .bytes = bytes, .bytes_len = len, .flags = flags },
		.recording = &rec,
		.schema = sc,
	};
	struct outbuf out = { 0 };

	recording_event_text(&ev, &out);
	assert_false(out.failed);
	snprintf(text, sizeof(text), "%.*s", (int)out.len, out.data ? out.data : "");
	outbuf_done(&out);
	return text;
}

static const uint8_t payload[] = { 0x01, 0x02, 0xfe, 0xff, 0x03, 0x00, 0x04, 0x00, 'a', 'b',
				   0,    'c',  0x10, 0x00, 0x03, 0x00, 'x',  'y',  'z' };

static struct sonde_field fields[] = {
	FIELD("common_type", INT, 0, 2, .is_common = 1),
	FIELD("n", INT, 0, 2),
	FIELD("s", INT, 2, 2, .is_signed = 1),
	FIELD("p", INT, 0, 8, .is_pointer = 1),
	FIELD("a", ARRAY, 2, 4, .elem_width = 2, .is_signed = 1),
	FIELD("name", STRING, 8, 4),
	FIELD("raw", STRUCT, 0, 3),
	FIELD("dyn", STRING, 12, 4, .is_dynamic = 1),
	FIELD("outside", INT, 100, 4),
};

TEST(pairs)
{
	struct arena arena = { 0 };
	struct sonde_schema sc = SCHEMA("event", fields, .nr_common = 1, .arena = &arena);

	assert_string_equal(
		text_of(&sc, payload, sizeof(payload), 0),
		"n=513 s=-2 p=0x40003fffe0201 a=[-2, 3] name=ab raw=0102fe dyn=xyz outside=");
	/* in the other byte order */
	sc.nr_fields = 3;
	sc.field_program = NULL;
	assert_string_equal(text_of(&sc, payload, sizeof(payload), SONDE_EVENT_SWAPPED),
			    "n=258 s=-257");
	/* a record that ends within the fields */
	assert_string_equal(text_of(&sc, payload, 3, 0), "n=513 s=0");
	assert_string_equal(text_of(&sc, payload, 0, 0), "");
	sc.nr_fields = 1; /* its only known fields are the common ones */
	assert_string_equal(text_of(&sc, payload, 3, 0), "01 02 fe");
	arena_done(&arena);
}

#define LONG_NAME "a_name_that_is_longer_than_the_pieces_in_which_names_are_copied"

static struct sonde_field of_all_forms[] = {
	FIELD("u8", INT, 0, 1),
	FIELD("s8", INT, 0, 1, .is_signed = 1),
	FIELD("u16", INT, 1, 2),
	FIELD("s16", INT, 1, 2, .is_signed = 1),
	FIELD("u32", INT, 3, 4),
	FIELD("s32", INT, 3, 4, .is_signed = 1),
	FIELD("u64", INT, 7, 8),
	FIELD("s64", INT, 7, 8, .is_signed = 1),
	FIELD("big16", INT, 1, 2, .byte_order = SONDE_ORDER_BIG),
	FIELD("big32", INT, 3, 4, .byte_order = SONDE_ORDER_BIG, .is_signed = 1),
	FIELD("little64", INT, 7, 8, .byte_order = SONDE_ORDER_LITTLE),
	FIELD("bits", BITS, 0, 2, .bit_offset = 3, .bit_width = 5),
	FIELD("p8", INT, 0, 1, .is_pointer = 1, .is_signed = 1),
	FIELD("p64", INT, 7, 8, .is_pointer = 1),
	FIELD("odd", INT, 0, 3),
	FIELD("common", INT, 0, 4, .is_common = 1),
	FIELD("comm", STRING, 15, 16),
	FIELD(LONG_NAME, STRING, 31, 9),
	FIELD("dynamic", STRING, 40, 4, .is_dynamic = 1),
	FIELD("list", ARRAY, 1, 6, .elem_width = 2),
	FIELD("d", FLOAT, 7, 8),
	FIELD("rest", STRING, 44, 0),
};

/* A program writes what fields_text_put() does, for any bytes. */
TEST(programs)
{
	struct arena arena = { 0 };
	const struct sonde_schema sc = SCHEMA("event", of_all_forms, .arena = &arena);
	const struct field_program *program = field_program_new(&sc);
	uint8_t bytes[64];
	uint32_t seed = 1;

	assert_non_null(program);
	for (unsigned turn = 0; turn < 2000; turn++) {
		struct outbuf fast = { 0 }, slow = { 0 };

		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 1103515245 + 12345;
			/* every third byte has few bits, so that texts end and numbers are small */
			bytes[i] = (uint8_t)(seed >> 16) & (i % 3 ? 0xff : 0x41);
		}
		bytes[40] = (uint8_t)(turn % 70);
		bytes[41] = 0;
		bytes[43] = 0;
		fields_text_put(sc.fields, sc.nr_fields, bytes, sizeof(bytes), false, &slow);
		assert_true(field_program_run(program, bytes, sizeof(bytes), &fast));
		assert_int_equal(fast.len, slow.len);
		assert_memory_equal(fast.data, slow.data, slow.len);
		outbuf_done(&fast);
		outbuf_done(&slow);
	}
	assert_false(field_program_run(program, bytes, 39, NULL));
	arena_done(&arena);
}

static void put_own(const struct event *ev, struct outbuf *out)
{
	outbuf_fmt(out, "%s of %u bytes", ev->schema->event, ev->pub.bytes_len);
}

TEST(own_text)
{
	const struct sonde_schema sc = SCHEMA("event", fields, .put_text = put_own);

	assert_string_equal(text_of(&sc, payload, sizeof(payload), 0), "event of 19 bytes");
	assert_string_equal(text_of(&sc, payload, 0, 0), "event of 0 bytes");
}
