/* SPDX-License-Identifier: MIT */
/* The text of events whose schemas have no print format. */
#include "unittest.h"

#include <string.h>

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
	struct sonde_schema sc = SCHEMA("event", fields, .nr_common = 1);

	assert_string_equal(
		text_of(&sc, payload, sizeof(payload), 0),
		"n=513 s=-2 p=0x40003fffe0201 a=[-2, 3] name=ab raw=0102fe dyn=xyz outside=");
	/* in the other byte order */
	sc.nr_fields = 3;
	assert_string_equal(text_of(&sc, payload, sizeof(payload), SONDE_EVENT_SWAPPED),
			    "n=258 s=-257");
	/* a record that ends within the fields */
	assert_string_equal(text_of(&sc, payload, 3, 0), "n=513 s=0");
	assert_string_equal(text_of(&sc, payload, 0, 0), "");
	sc.nr_fields = 1; /* its only known fields are the common ones */
	assert_string_equal(text_of(&sc, payload, 3, 0), "01 02 fe");
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
