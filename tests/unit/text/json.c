/* SPDX-License-Identifier: MIT */
/* Strings and numbers of JSON: every byte of a string comes back, whatever reads it. */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>

#include "sinks/jsonl/json.h"

static void check(const char *bytes, size_t len, const char *want)
{
	struct outbuf out = { 0 };

	json_string(&out, bytes, len);
	outbuf_char(&out, 0);
	assert_false(out.failed);
	assert_string_equal(out.data, want);
	free(out.data);
}

#define CHECK(bytes, want) check(bytes, sizeof(bytes) - 1, want)

TEST(plain_strings)
{
	CHECK("", "\"\"");
	CHECK("swapper/0", "\"swapper/0\"");
	CHECK("a b~", "\"a b~\"");
	CHECK("\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa7", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa7\"");
}

TEST(characters_with_escapes)
{
	CHECK("a\"b", "\"a\\\"b\"");
	CHECK("a\\b", "\"a\\\\b\"");
	CHECK("\"\"\\", "\"\\\"\\\"\\\\\"");
}

TEST(control_characters)
{
	char want[16];

	for (int c = 0; c < 0x20; c++) {
		char byte = (char)c;

		snprintf(want, sizeof(want), "\"\\u%04x\"", (unsigned)c);
		check(&byte, 1, want);
	}
	CHECK("\x7f", "\"\\u007f\"");
	CHECK("\xc2\x80", "\"\\u0080\"");
	CHECK("\xc2\x9b", "\"\\u009b\"");
	CHECK("\xc2\xa0", "\"\xc2\xa0\"");
}

/* Each byte that is not part of valid UTF-8 becomes a lone surrogate that names it. */
TEST(bytes_that_are_no_utf_8)
{
	CHECK("\xff", "\"\\udcff\"");
	CHECK("a\x9b"
	      "b",
	      "\"a\\udc9bb\"");
	CHECK("\xc3", "\"\\udcc3\""); /* cut short */
	CHECK("\xe2\x82", "\"\\udce2\\udc82\"");
	CHECK("\xe2\x82"
	      "a",
	      "\"\\udce2\\udc82a\"");
	CHECK("\xc0\xaf", "\"\\udcc0\\udcaf\"");            /* overlong */
	CHECK("\xed\xa0\x80", "\"\\udced\\udca0\\udc80\""); /* a surrogate */
	CHECK("\xf4\x90\x80\x80",
	      "\"\\udcf4\\udc90\\udc80\\udc80\""); /* behind the last code point */
}

TEST(bytes_as_digits)
{
	struct outbuf out = { 0 };

	json_hex(&out, (const uint8_t *)"\x00\x0f\xa5\xff", 4);
	outbuf_char(&out, ' ');
	json_u64(&out, 0);
	outbuf_char(&out, ' ');
	json_u64(&out, UINT64_MAX);
	outbuf_char(&out, ' ');
	json_i64(&out, INT64_MIN);
	json_member_u64(&out, "n", 10);
	json_member_text(&out, "t", "\"");
	outbuf_char(&out, 0);
	assert_string_equal(
		out.data,
		"\"000fa5ff\" 0 18446744073709551615 -9223372036854775808,\"n\":10,\"t\":\"\\\"\"");
	free(out.data);
}
