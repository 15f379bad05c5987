/* SPDX-License-Identifier: MIT */
/* Strings and numbers of JSON: a reader gets back every byte of a string. */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static void check(const char *bytes, size_t len, const char *want)
{
	struct outbuf out = { 0 };
	struct json j = json_to(&out);

	json_string(&j, bytes, len);
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
	CHECK("\xc0\xaf", "\"\\udcc0\\udcaf\"");                       /* overlong */
	CHECK("\xed\xa0\x80", "\"\\udced\\udca0\\udc80\"");            /* a surrogate */
	CHECK("\xf4\x90\x80\x80", "\"\\udcf4\\udc90\\udc80\\udc80\""); /* after the last code point
									*/
}

TEST(bytes_as_digits)
{
	struct outbuf out = { 0 };
	struct json j = json_to(&out);

	json_array(&j);
	json_hex(&j, (const uint8_t *)"\x00\x0f\xa5\xff", 4);
	json_u64(&j, 0);
	json_u64(&j, UINT64_MAX);
	json_i64(&j, INT64_MIN);
	json_end_line(&j);
	outbuf_char(&out, 0);
	assert_string_equal(out.data,
			    "[\"000fa5ff\",0,18446744073709551615,-9223372036854775808]\n");
	free(out.data);
}

/* There is a comma between two values of a level, also after an object or an array. */
TEST(objects_and_arrays)
{
	struct outbuf out = { 0 };
	struct json j = json_to(&out);

	json_object(&j);
	json_member_array(&j, "empty");
	json_end(&j);
	json_member_object(&j, "o");
	json_member_null(&j, "n");
	json_member_bool(&j, "t", true);
	json_end(&j);
	json_name(&j, "\"", 1);
	json_array(&j);
	json_object(&j);
	json_end(&j);
	json_i64(&j, -1);
	json_array(&j);
	json_digits(&j, "12");
	json_begin_words(&j);
	outbuf_str(&out, "A|B");
	json_end_words(&j);
	json_end_line(&j);
	json_object(&j);
	json_member_text(&j, "t", "x");
	json_newline(&j);
	json_member_u64(&j, "u", 10);
	json_newline(&j);
	json_end_line(&j);
	json_array(&j);
	json_newline(&j);
	json_end_line(&j);
	json_array(&j);
	json_newline(&j);
	json_u64(&j, 1);
	json_end_line(&j);
	outbuf_char(&out, 0);
	assert_string_equal(
		out.data,
		"{\"empty\":[],\"o\":{\"n\":null,\"t\":true},\"\\\"\":[{},-1,[12,\"A|B\"]]}\n"
		"{\"t\":\"x\",\n\"u\":10}\n[]\n[\n1]\n");
	free(out.data);
}

TEST(pieces)
{
	struct outbuf out = { 0 }, texts[3] = { 0 };
	struct json j[3] = { json_to(&texts[0]), json_piece_to(&texts[1]),
			     json_piece_to(&texts[2]) };
	struct json_piece p[3];
	struct json line = json_to(&out);

	json_object(&j[0]);
	json_member_text(&j[0], "event", "e");
	json_member_u64(&j[1], "a", 1);
	json_member_u64(&j[1], "b", 2);
	json_literal_name(&j[2], "c");
	for (int i = 0; i < 3; i++)
		p[i] = (struct json_piece){ texts[i].data, (uint32_t)texts[i].len };
	json_object_piece(&line, &p[0]);
	json_member_piece(&line, &p[1]);
	json_member_object(&line, "d");
	json_name_piece(&line, &p[2]);
	json_u64(&line, 3);
	json_end(&line);
	json_member_piece(&line, &p[1]);
	json_end_line(&line);
	json_object(&line);
	json_member_piece(&line, &p[1]);
	json_end_line(&line);
	outbuf_char(&out, 0);
	assert_string_equal(out.data,
			    "{\"event\":\"e\",\"a\":1,\"b\":2,\"d\":{\"c\":3},\"a\":1,\"b\":2}\n"
			    "{\"a\":1,\"b\":2}\n");
	for (int i = 0; i < 3; i++)
		outbuf_done(&texts[i]);
	outbuf_done(&out);
}

/* The same digits as printf() for the numbers around each power of ten and of two. */
TEST(numbers_of_every_length)
{
	for (unsigned i = 0; i < 128; i++) {
		uint64_t edge = i < 64 ? UINT64_C(1) << i : 1;

		for (unsigned k = 64; k < i && k < 83; k++)
			edge *= 10;
		for (int add = -1; add <= 1; add++) {
			uint64_t v = edge + (uint64_t)(int64_t)add;
			struct outbuf out = { 0 };
			struct json j = json_to(&out);
			char want[80];

			json_array(&j);
			json_u64(&j, v);
			json_i64(&j, (int64_t)v);
			json_end(&j);
			outbuf_char(&out, 0);
			snprintf(want, sizeof(want), "[%llu,%lld]", (unsigned long long)v,
				 (long long)v);
			assert_string_equal(out.data, want);
			outbuf_done(&out);
		}
	}
}
