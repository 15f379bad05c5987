/* SPDX-License-Identifier: MIT */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>

#include "fixture.h"

const char fixture_fields[] = FIELD("int a", 8, 4, 1) FIELD("int b", 12, 4, 1)
	FIELD("long c", 16, 8, 1) FIELD("u8 d", 24, 1, 0) FIELD("s8 e", 25, 1, 1)
		FIELD("short g", 26, 2, 1) FIELD("char str[8]", 28, 8, 0)
			FIELD("u32 arr[4]", 36, 16, 0) FIELD("__data_loc char[] dyn", 52, 4, 0)
				FIELD("__data_loc u32[] du", 56, 4, 0) FIELD("s64 z", 60, 8, 1);

const uint8_t fixture_payload[FIXTURE_LEN] = {
	[8] = 10,   [12] = 3, [16] = 7,  [24] = 250,  [25] = 0xff, [26] = 0xfb, 0xff,
	[28] = 'h', 'e',      'l',       'l',         'o',         [36] = 1,    [40] = 2,
	[44] = 3,   [48] = 4, [52] = 68, 0,           6,           0,           [56] = 74,
	0,          8,        0,         [60] = 0xf7, 0xff,        0xff,        0xff,
	0xff,       0xff,     0xff,      0xff,        [68] = 'w',  'o',         'r',
	'l',        'd',      0,         [74] = 77,   [78] = 88,
};

struct abi fixture_abi(int big_endian, uint8_t long_bytes)
{
	const uint16_t probe = 1;
	int host_big = !*(const uint8_t *)&probe;

	return (struct abi){
		.big_endian = big_endian != 0,
		.swap = host_big != (big_endian != 0),
		.long_bytes = long_bytes,
	};
}

struct sonde_schema *fixture_schema(struct arena *a, const char *fields, const char *print_fmt,
				    struct abi abi)
{
	static const char head[] =
		"name: e\nID: 7\nformat:\n" FIELD("unsigned short common_type", 0, 2, 0)
			FIELD("int common_pid", 4, 4, 1) "\n";
	size_t room = sizeof(head) + strlen(fields) + strlen(print_fmt) + 32;
	char *text = malloc(room);
	struct sonde_schema *sc = NULL;

	assert_non_null(text);
	snprintf(text, room, "%s%s\nprint fmt: %s\n", head, fields, print_fmt);
	if (eventformat_parse(a, bytes_init(text, strlen(text), 0, "test", false), "sys", abi,
			      &sc) < 0)
		fail_msg("%s", err_text());
	free(text);
	return sc;
}

char *fixture_text_abi(const char *fields, const char *print_fmt, const void *payload, uint32_t len,
		       enum printfmt_dialect dialect, struct abi abi,
		       const struct printfmt_env *env)
{
	struct arena a = { 0 };
	struct outbuf out = { 0 };
	struct printfmt *pf = NULL;
	struct sonde_schema *sc = fixture_schema(&a, fields, print_fmt, abi);
	uint8_t *exact = malloc(len + 1);

	assert_non_null(exact);
	assert_int_equal(printfmt_compile(&pf, sc, dialect), 0);
	memcpy(exact, payload, len);
	printfmt_run(pf, env, exact, len, &out);
	outbuf_char(&out, 0);
	assert_false(out.failed);
	free(exact);
	printfmt_free(pf);
	arena_done(&a);
	return out.data;
}

char *fixture_text(const char *fields, const char *print_fmt, const void *payload, uint32_t len,
		   enum printfmt_dialect dialect)
{
	return fixture_text_abi(fields, print_fmt, payload, len, dialect, fixture_abi(0, 8), NULL);
}
