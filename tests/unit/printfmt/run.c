/* SPDX-License-Identifier: MIT */
/*
 * Running print formats: short records, byte orders, symbol and string lookups, the text of refused
 * formats.
 */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "fixture.h"
#include "model/printfmt/digits.h"

static void check(const char *fields, const char *print_fmt, const void *payload, uint32_t len,
		  enum printfmt_dialect dialect, struct abi abi, const struct printfmt_env *env,
		  const char *want)
{
	char *got = fixture_text_abi(fields, print_fmt, payload, len, dialect, abi, env);

	assert_string_equal(got, want);
	free(got);
}

static void both(const char *fields, const char *print_fmt, const void *payload, uint32_t len,
		 const char *want)
{
	check(fields, print_fmt, payload, len, PRINTFMT_RIGHT, fixture_abi(0, 8), NULL, want);
	check(fields, print_fmt, payload, len, PRINTFMT_PERF_6_1, fixture_abi(0, 8), NULL, want);
}

TEST(run_digits_are_printf_s)
{
	static const uint64_t bases[] = { 0,
					  10,
					  99,
					  1000,
					  65535,
					  99999,
					  12345678,
					  99999999,
					  100000000,
					  UINT32_MAX,
					  999999999999,
					  10000000000000000,
					  INT64_MAX,
					  UINT64_MAX - 50 };
	char got[32], want[32];

	for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
		for (uint64_t k = 0; k < 100; k++) {
			uint64_t v = bases[i] + k - 50;

			*pf_write_u64(got, v) = 0;
			snprintf(want, sizeof(want), "%llu", (unsigned long long)v);
			assert_string_equal(got, want);
			*pf_write_i64(got, (int64_t)v) = 0;
			snprintf(want, sizeof(want), "%lld", (long long)v);
			assert_string_equal(got, want);
			*pf_write_hex(got, v) = 0;
			snprintf(want, sizeof(want), "%llx", (unsigned long long)v);
			assert_string_equal(got, want);
		}
	}
	for (uint32_t v = 0; v < 1000000; v += 7) {
		*pf_write_u64(got, v) = 0;
		snprintf(want, sizeof(want), "%u", v);
		assert_string_equal(got, want);
	}
}

TEST(run_missing_fields_are_zero)
{
	static const char text[] =
		"\"%d %d %s|%u %s\", REC->a, REC->b, REC->str, REC->arr[3], __get_str(dyn)";

	both(fixture_fields, text, fixture_payload, FIXTURE_LEN, "10 3 hello|4 world");
	both(fixture_fields, text, fixture_payload, 12, "10 0 |0 ");
	both(fixture_fields, text, fixture_payload, 10, "10 0 |0 ");
	both(fixture_fields, text, fixture_payload, 31, "10 3 hel|0 ");
	both(fixture_fields, text, fixture_payload, 0, "0 0 |0 ");
}

TEST(run_dynamic_fields_stay_in_the_record)
{
	uint8_t payload[FIXTURE_LEN];

	memcpy(payload, fixture_payload, sizeof(payload));
	memcpy(payload + 52, &(uint32_t){ 6u << 16 | 0xfff0 }, 4); /* outside */
	both(fixture_fields,
	     "\"<%s> %s %d\", __get_str(dyn), __print_hex(__get_dynamic_array(dyn), 9), "
	     "((u8 *)__get_dynamic_array(dyn))[2]",
	     payload, sizeof(payload), "<>  0");
	memcpy(payload + 52, &(uint32_t){ 0xffffu << 16 | 68 }, 4); /* longer than the record */
	both(fixture_fields, "\"<%s> %d\", __get_str(dyn), __get_dynamic_array_len(dyn)", payload,
	     sizeof(payload), "<world> 65535");
	both(fixture_fields, "\"%s\", __print_hex(__get_dynamic_array(dyn), 100000)", payload, 72,
	     "77 6f 72 6c");
	both(fixture_fields, "\"%u\", REC->arr[REC->z]", payload, sizeof(payload), "0");
}

TEST(run_relative_fields)
{
	static const char fields[] = FIELD("int a", 8, 4, 1) FIELD("__rel_loc char[] s", 12, 4, 0)
		FIELD("__rel_loc u8[] b", 16, 4, 0);
	static const uint8_t payload[] = { [12] = 4, 0,          4,   0,   4, 0,           2,
					   0,        [20] = 'a', 'b', 'c', 0, [24] = 0xfe, 0xdc };

	both(fields, "\"%s %d\", __get_rel_str(s), __get_dynamic_array_len(b)", payload,
	     sizeof(payload), "abc 2");
	check(fields,
	      "\"%s\", __print_hex(__get_rel_dynamic_array(b), __get_rel_dynamic_array_len(b))",
	      payload, sizeof(payload), PRINTFMT_RIGHT, fixture_abi(0, 8), NULL, "fe dc");
	/* perf takes the offset of a __get_rel_dynamic_array from the record's start. */
	check(fields, "\"%s\", __print_hex(__get_rel_dynamic_array(b), 2)", payload,
	      sizeof(payload), PRINTFMT_PERF_6_1, fixture_abi(0, 8), NULL, "00 00");
}

TEST(run_other_byte_order)
{
	static const char fields[] = FIELD("u16 a", 8, 2, 0) FIELD("s32 b", 12, 4, 1)
		FIELD("s64 c", 16, 8, 1) FIELD("u16 v[2]", 24, 4, 0)
			FIELD("__data_loc char[] s", 28, 4, 0) FIELD("s16 d", 32, 2, 1);
	static const uint8_t big[] = {
		[8] = 1,  2,    [12] = 0xff, 0xff, 0xff,        0xfe,     [16] = 0xff, 0xff, 0xff,
		0xff,     0xff, 0xff,        0xff, 0xfd,        [24] = 0, 5,           0,    6,
		[28] = 0, 3,    0,           34,   [32] = 0xff, 0xfb,     'h',         'i',  0
	};

	check(fields,
	      "\"%u %d %lld %u %s %d %x\", REC->a, REC->b, REC->c, REC->v[1], __get_str(s), "
	      "REC->d, REC->b & 0xff",
	      big, sizeof(big), PRINTFMT_RIGHT, fixture_abi(1, 8), NULL, "258 -2 -3 6 hi -5 fe");
	check(fields,
	      "\"%u %d %lld %u %s %d %x\", REC->a, REC->b, REC->c, REC->v[1], __get_str(s), "
	      "REC->d, REC->b & 0xff",
	      big, sizeof(big), PRINTFMT_PERF_6_1, fixture_abi(1, 8), NULL,
	      "258 -2 -3 6 hi 65531 fe");
}

TEST(run_longs_of_four_bytes)
{
	static const char fields[] = FIELD("long a", 8, 4, 1) FIELD("unsigned long b[2]", 12, 8, 0)
		FIELD("void * p", 20, 4, 0) FIELD("char * s", 24, 4, 0);
	static const uint8_t payload[32] = {
		[8] = 0xfe, 0xff, 0xff, 0xff, [16] = 7, [20] = 9, [24] = 16
	};
	static const char text[] = "\"%ld %lx %lu %p %s %zu\", REC->a, REC->a, REC->b[1], REC->p, "
				   "REC->s, sizeof(long)";

	check(fields, text, payload, sizeof(payload), PRINTFMT_RIGHT, fixture_abi(0, 4), NULL,
	      "-2 fffffffe 7 0x9 10 4");
	check(fields, text, payload, sizeof(payload), PRINTFMT_PERF_6_12, fixture_abi(0, 4), NULL,
	      "4294967294 fffffffe 7 0x9 10 4");
}

static const char *symbol(void *ctx, uint64_t addr, uint64_t *ret_off)
{
	*ret_off = addr - 0x1000;
	++*(int *)ctx;
	return addr >= 0x1000 && addr < 0x2000 ? "schedule" : NULL;
}

static const char *printk(void *ctx, uint64_t addr)
{
	(void)ctx;
	return addr == 7 ? "text at 7" : NULL;
}

static void divided(void *ctx)
{
	++*(int *)ctx;
}

TEST(run_asks_its_surroundings)
{
	int calls = 0;
	struct printfmt_env env = {
		.ctx = &calls,
		.symbol = symbol,
		.printk = printk,
		.divided_by_zero = divided,
	};
	static const char text[] = "\"%pS %ps %pS %s\", 0x1010, 0x1000, 0x3000, REC->c";

	for (int dialect = PRINTFMT_RIGHT; dialect <= PRINTFMT_PERF_6_12; dialect++)
		check(fixture_fields, text, fixture_payload, FIXTURE_LEN,
		      (enum printfmt_dialect)dialect, fixture_abi(0, 8), &env,
		      "schedule+0x10 schedule 0x3000 text at 7");
	assert_int_equal(calls, 9);
	check(fixture_fields, "\"%pB %pSR\", 0x1011, 0x1011", fixture_payload, FIXTURE_LEN,
	      PRINTFMT_RIGHT, fixture_abi(0, 8), &env, "schedule+0x11 schedule+0x11");
	calls = 0;
	check(fixture_fields, "\"%d %d %d\", REC->a / (REC->b - 3), REC->a % (REC->b - 3), 6 / 3",
	      fixture_payload, FIXTURE_LEN, PRINTFMT_RIGHT, fixture_abi(0, 8), &env, "0 0 2");
	assert_int_equal(calls, 2);
}

static const char odd_fields[] = FIELD("int a", 8, 4, 1) FIELD("unsigned long ip", 16, 8, 0)
	FIELD("void * p", 24, 8, 0) FIELD("short s", 32, 2, 1) FIELD("u8 mac[4]", 34, 4, 0)
		FIELD("char t[6]", 38, 6, 0) FIELD("u32 v[2]", 44, 8, 0) FIELD("long l", 56, 8, 1);
static const uint8_t odd_payload[64] = {
	[8] = 0xff, 0xff,       0xff, 0xff, [16] = 0x10, [24] = 0x20, [32] = 0xfb,
	0xff,       [34] = 'h', 'e',  'l',  'l',         [38] = 'p',  'l',
	'a',        'i',        'n',  0,    [44] = 1,    [48] = 2,    [56] = 5
};

TEST(run_prints_fields_when_refused)
{
	/* perf checks the bytes of the text only, but prints up to the next NUL. */
	check(odd_fields, "\"%d\", unknown(REC->a)", odd_payload, sizeof(odd_payload),
	      PRINTFMT_PERF_6_1, fixture_abi(0, 8), NULL,
	      "[FAILED TO PARSE] a=-1 ip=0x10 p=0x20 s=-5 mac=hellplain t=plain "
	      "v=ARRAY[01, 00, 00, 00, 02, 00, 00, 00] l=5");
	check(odd_fields, "\"%d\", unknown(REC->a)", odd_payload, sizeof(odd_payload),
	      PRINTFMT_RIGHT, fixture_abi(0, 8), NULL,
	      "[FAILED TO PARSE] a=-1 ip=0x10 p=0x20 s=-5 mac=hell t=plain "
	      "v=ARRAY[01, 00, 00, 00, 02, 00, 00, 00] l=5");
}

TEST(run_remembers_text_that_was_none)
{
	struct arena a = { 0 };
	struct outbuf out = { 0 };
	struct printfmt *pf = NULL;
	struct sonde_schema *sc = fixture_schema(&a, FIELD("char t[4]", 8, 4, 0),
						 "\"%d\", unknown(1)", fixture_abi(0, 8));
	uint8_t good[12] = { [8] = 'a', 'b' }, bad[12] = { [8] = 1 };

	assert_int_equal(printfmt_compile(&pf, sc, PRINTFMT_PERF_6_1), 0);
	printfmt_run(pf, NULL, good, 12, &out);
	printfmt_run(pf, NULL, bad, 12, &out);
	printfmt_run(pf, NULL, good, 12, &out);
	outbuf_char(&out, 0);
	assert_string_equal(out.data,
			    "[FAILED TO PARSE] t=ab[FAILED TO PARSE] t=ARRAY[01, 00, 00, 00]"
			    "[FAILED TO PARSE] t=ARRAY[61, 62, 00, 00]");
	outbuf_done(&out);
	printfmt_free(pf);
	arena_done(&a);
}

TEST(run_tells_why_refused)
{
	static const struct {
		const char *print_fmt, *word;
	} cases[] = {
		{ "\"%d\", unknown(1)", "function unknown not defined" },
		{ "\"%d\"", "too few arguments" },
		{ "rubbish", "format string" },
		{ "\"unfinished", "format string" },
		{ "\"%d\", (1", "expected" },
		{ "\"%d\", 1 +", "expected" },
		{ "\"%s\", __print_symbolic(1, { 1 })", "}" },
		{ "\"%d\" 5", "comma" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (int dialect = PRINTFMT_RIGHT; dialect <= PRINTFMT_PERF_6_12; dialect++) {
			struct arena a = { 0 };
			struct printfmt *pf = NULL;
			struct sonde_schema *sc = fixture_schema(
				&a, fixture_fields, cases[i].print_fmt, fixture_abi(0, 8));

			assert_int_equal(printfmt_compile(&pf, sc, (enum printfmt_dialect)dialect),
					 0);
			if (!printfmt_refused(pf) || !strstr(printfmt_refused(pf), cases[i].word))
				fail_msg("%s: %s", cases[i].print_fmt,
					 printfmt_refused(pf) ? printfmt_refused(pf) : "taken");
			printfmt_free(pf);
			arena_done(&a);
		}
	}
}

TEST(run_survives_depth)
{
	enum { DEEP = 5000 };
	char *text = malloc(4 * DEEP + 64), *to = text, *got;

	assert_non_null(text);
	to += sprintf(to, "\"%%d\", ");
	for (int i = 0; i < DEEP; i++)
		*to++ = '(';
	*to++ = '1';
	for (int i = 0; i < DEEP; i++)
		*to++ = ')';
	*to = 0;
	for (int dialect = PRINTFMT_RIGHT; dialect <= PRINTFMT_PERF_6_12; dialect++) {
		got = fixture_text(fixture_fields, text, fixture_payload, FIXTURE_LEN,
				   (enum printfmt_dialect)dialect);
		assert_int_equal(strncmp(got, "[FAILED TO PARSE]", 17), 0);
		free(got);
	}
	to = text + sprintf(text, "\"%%d\", 1");
	for (int i = 0; i < DEEP; i++)
		to += sprintf(to, "?:1");
	got = fixture_text(fixture_fields, text, fixture_payload, FIXTURE_LEN, PRINTFMT_RIGHT);
	free(got);
	free(text);
}

static const char *bprint_format(void *ctx, uint64_t addr)
{
	return addr ? ctx : NULL;
}

static void check_bprint(const char *format, const void *args, size_t len, const char *want)
{
	static const char text[] =
		"name: bprint\nID: 5\nformat:\n" FIELD("int common_pid", 4, 4, 1) "\n" FIELD(
			"unsigned long ip", 8, 8, 0) FIELD("const char * fmt", 16, 8, 0)
			FIELD("u32 buf[]", 24, 0,
			      0) "\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->fmt\n";
	struct printfmt_env env = { .ctx = (void *)format, .printk = bprint_format };
	struct arena a = { 0 };
	struct outbuf out = { 0 };
	struct printfmt *pf = NULL;
	struct sonde_schema *sc = NULL;
	uint8_t payload[128] = { [8] = 0x10, [16] = format != NULL };

	assert_int_equal(eventformat_parse(&a, bytes_init(text, strlen(text), 0, "test", false),
					   "ftrace", fixture_abi(0, 8), &sc),
			 0);
	assert_int_equal(printfmt_compile(&pf, sc, PRINTFMT_PERF_6_1), 0);
	memcpy(payload + 24, args, len);
	printfmt_run(pf, &env, payload, (uint32_t)(24 + len), &out);
	outbuf_char(&out, 0);
	assert_string_equal(out.data, want);
	outbuf_done(&out);
	printfmt_free(pf);
	arena_done(&a);
}

TEST(run_trace_printk)
{
	check_bprint(NULL, "", 0, "0x10: (NO FORMAT FOUND at 0)\n");
	check_bprint("plain\n", "", 0, "0x10: plain");
	check_bprint("%d %s %d %%\n", "\x03\0\0\0abc\0\x09\0\0\0", 12, "0x10: 3 abc 9 %");
	/* Numbers are aligned to 4 bytes, also numbers of 8 bytes. Strings are not aligned. */
	check_bprint("%s %lx %s %x", "a\0\0\0\x05\0\0\0\0\0\0\0bc\0\0\x07\0\0\0", 20,
		     "0x10: a 5 bc 7");
	check_bprint("%ps %p %pI4 %d",
		     "\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		     "1.2.3.4\0\x05\0\0\0",
		     28, "0x10: 0x20 (nil) 1.2.3.4 5");
	check_bprint("%d %d|%s|%*d", "\x01\0\0\0", 4, "0x10: 1 ");
}

TEST(run_dialect_6_12_knows_more)
{
	check(fixture_fields, "\"%zu %zu %s\", sizeof(long), sizeof(REC->a), __get_cpumask(du)",
	      fixture_payload, FIXTURE_LEN, PRINTFMT_PERF_6_12, fixture_abi(0, 8), NULL,
	      "8 4 0,2-3,6,35-36,38");
	check(fixture_fields, "\"%d\", 100-5-2", fixture_payload, FIXTURE_LEN, PRINTFMT_PERF_6_12,
	      fixture_abi(0, 8), NULL, "97");
}
