/* SPDX-License-Identifier: MIT */
/* The print format language, construct by construct: the right result, and that of perf 6.1. */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>

#include "fixture.h"

#define FIELDS   "[FAILED TO PARSE]*"
#define AS_RIGHT NULL

struct row {
	const char *print_fmt, *right, *perf;
};

/* Flags, widths, lengths, letters. */
static const struct row conversions[] = {
	{ "\"%d %i %u\", REC->a, REC->a, REC->a", "10 10 10", AS_RIGHT },
	{ "\"%d%%\", REC->a", "10%", AS_RIGHT },
	{ "\"%% %%%d\", REC->a", "% %10", AS_RIGHT },
	{ "\"%hhd %hd %hu %hhu\", REC->e, REC->g, REC->g, REC->e", "-1 -5 65531 255", AS_RIGHT },
	{ "\"%d %u %ld %lu %lld\", REC->z, REC->z, REC->z, REC->z, REC->z",
	  "-9 4294967287 -9 18446744073709551607 -9", AS_RIGHT },
	{ "\"%#x %#o %X %#X %08lx %-8d| %5d|%05d\", REC->b, REC->b, 255, 255, 255, 5, 5, -5",
	  "0x3 03 FF 0XFF 000000ff 5       |     5|-0005", AS_RIGHT },
	{ "\"%5.3d|%-5.3d|%.0d|\", 7, 7, 0", "  007|007  ||", AS_RIGHT },
	{ "\"%*d|%-*d|%*s\", 6, 7, 6, 8, 9, REC->str", "     7|8     |    hello", AS_RIGHT },
	{ "\"%.*s %.*d\", 2, REC->str, 4, 7", "he 0007", AS_RIGHT },
	{ "\"%Lu %Ld\", REC->z, REC->z", "18446744073709551607 -9", AS_RIGHT },
	{ "\"%hx %hhx\", 0x12345, 0x12345", "2345 45", AS_RIGHT },
	{ "\"%zu %zd %zx\", REC->a, REC->z, REC->z", "10 -9 fffffffffffffff7",
	  "10 4294967287 fffffff7" },
	{ "\"%zd\", REC->e", "-1", "255" },
	{ "\"%x %lx\", -7, -7", "fffffff9 fffffffffffffff9", AS_RIGHT },
	{ "\"%llx\", 0xffffffffffffffffULL", "ffffffffffffffff", AS_RIGHT },
	{ "\"%lld %llu\", REC->a - 11, REC->a - 11", "-1 18446744073709551615", AS_RIGHT },
	{ "\"%-05d|%0-5d|\", 5, 5", "5    |5    |", AS_RIGHT },
	{ "\"%5-d\", 5", "%5-d", AS_RIGHT },
	{ "\"%.5-d|\", 5", "%.5-d|", AS_RIGHT },
	{ "\"%+d\", 7", "+7", ">+<d" },
	{ "\"% d\", 7", " 7", "> <d" },
	{ "\"%td\", REC->a", "10", ">t<d" },
	{ "\"%c|%5c|%-3c|\", 65, 66, 67", "A|    B|C  |", ">c<|>c<|>c<|" },
	{ "\"50% done\"", FIELDS, "50> <done" },
	{ "\"%q %d\", REC->a", "%q 10", ">q< 10" },
	{ "\"%e\", REC->a", "%e", ">e<" },
	{ "\"%\", 5", "%", "" },
	{ "\"%l\", 5", "%l", "" },
	{ "\"%ls\", REC->str", "hello", "" },
};

/* Arguments of %s. */
static const struct row strings[] = {
	{ "\"%s\", REC->str", "hello", AS_RIGHT },
	{ "\"%10s|%-10s|%.3s|%5.2s|\", REC->str, REC->str, REC->str, REC->str",
	  "     hello|hello     |hel|   he|", AS_RIGHT },
	{ "\"%s\", __get_str(dyn)", "world", AS_RIGHT },
	{ "\"%s\", __get_rel_str(dyn)", "world", AS_RIGHT },
	{ "\"%s\", REC->dyn", "world", "D" },
	{ "\"%s\", (char *)REC->str", "hello", "" },
	{ "\"%s\", (char *)__get_dynamic_array(dyn)", "world", "" },
	{ "\"%s\", \"lit\"", "lit", AS_RIGHT },
	{ "\"%s\", (\"x\")", "x", AS_RIGHT },
	{ "\"%s\", 0", "0", AS_RIGHT },
	{ "\"%s\", NULL", "(null)", "NULL" },
	{ "\"%s\", REC->a", "\n", AS_RIGHT },
	{ "\"%s\", REC->c", "7", AS_RIGHT },
	{ "\"%s\", REC->nosuch", "", AS_RIGHT },
	{ "\"%s\", __get_str(nosuch)", FIELDS, "" },
	{ "\"a\\101b\\x41\\n\\t\\r\\\\\\\"\\q\" \"concat\" \" x\"", "aAbA\n\t\r\\\"qconcat x",
	  "a101bx41\n\t\r\\\"qconcat x" },
};

/* Constants, elements, places. */
static const struct row numbers[] = {
	{ "\"%d %d %lu\", 0777, 0xFFu, 5UL", "511 255 5", AS_RIGHT },
	{ "\"%d\", nosuch", "0", AS_RIGHT },
	{ "\"%d\", REC->nosuch", "0", AS_RIGHT },
	{ "\"%d %d\", true, false", "1 0", "0 0" },
	{ "\"%d\", 'A'", "65", "0" },
	{ "\"%d\", '\\n'", "10", "0" },
	{ "\"%d\", -1", "-1", AS_RIGHT },
	{ "\"%d\", REC->str[1]", "101", AS_RIGHT },
	{ "\"%d\", REC->arr[1]", "2", AS_RIGHT },
	{ "\"%d\", REC->arr[REC->b]", "4", AS_RIGHT },
	{ "\"%d\", REC->arr[1+1]", "3", FIELDS },
	{ "\"%d\", REC->arr[1] + 1", "3", AS_RIGHT },
	{ "\"%d\", ((u8*)REC->arr)[4]", "2", "68" },
	{ "\"%d\", ((u8 *)__get_dynamic_array(du))[4]", "88", AS_RIGHT },
	{ "\"%d\", ((u32 *)__get_dynamic_array(du))[1]", "88", "1476395008" },
	{ "\"%d\", *(u32 *)(REC->arr + 1)", "2", FIELDS },
	{ "\"%d\", *(u8 *)REC->str", "104", FIELDS },
	{ "\"%d\", *(u8 *)REC->a", FIELDS, AS_RIGHT },
	{ "\"%d\", &REC->a", "0", FIELDS },
	{ "\"%d\", __get_dynamic_array_len(dyn)", "6", AS_RIGHT },
	{ "\"%llu\", REC->arr", "0", AS_RIGHT },
};

/* perf groups operators of equal priority from the right, and ignores some parentheses. */
static const struct row chains[] = {
	{ "\"%d\", 100-5-2", "93", "97" },
	{ "\"%d\", 100-5+2", "97", "93" },
	{ "\"%d\", 10+5-3-2", "10", "14" },
	{ "\"%d\", 100/5/2", "10", "50" },
	{ "\"%d\", 17%10%4", "3", "1" },
	{ "\"%d\", 64>>2>>1", "8", "32" },
	{ "\"%d\", 10 % 4 * 3", "6", "10" },
	{ "\"%d\", (100-5)-2", "93", AS_RIGHT },
	{ "\"%d\", REC->a - REC->b - 1 - 2 + 4", "8", "2" },
	{ "\"%d\", 2*(3+4)", "14", "10" },
	{ "\"%d\", (3+4)*2", "14", AS_RIGHT },
	{ "\"%d\", (1 + 2) * (3 + 4)", "21", "13" },
	{ "\"%d\", 2 * 3 * 4 - 1", "23", "22" },
	{ "\"%d\", -5 * -3", "15", "-3" },
	{ "\"%d\", REC->a > 5 && REC->b < 2 ? 1 : 2", "2", "1" },
	{ "\"%d\", REC->a ? 1 : 2 + 3", "1", "4" },
	{ "\"%d\", 6^3", "5", "0" },
};

/* Both agree on priorities. */
static const struct row priorities[] = {
	{ "\"%d\", 1<<2+1", "8", AS_RIGHT },
	{ "\"%d\", 3&2==2", "1", AS_RIGHT },
	{ "\"%d\", 6&2==2", "0", AS_RIGHT }, /* (6&2)==2 would be 1 */
	{ "\"%d\", 1|6&4", "5", AS_RIGHT },  /* (1|6)&4 would be 4 */
	{ "\"%d\", 1+2*3+4", "11", AS_RIGHT },
	{ "\"%d\", 1 + 2 == 3 && 4 < 5", "1", AS_RIGHT },
	{ "\"%d\", 4 + 5 < 6 + 7", "1", AS_RIGHT },
	{ "\"%d\", 1 || 0 && 0", "1", AS_RIGHT },
	{ "\"%d\", !REC->a == 0", "1", AS_RIGHT },
	{ "\"%d\", !(REC->a) + 3", "3", AS_RIGHT },
	{ "\"%d\", ~REC->a & 0xf", "5", AS_RIGHT },
	{ "\"%d\", -REC->a + 5", "-5", AS_RIGHT },
	{ "\"%d\", 2 - -3", "5", AS_RIGHT },
	{ "\"%d\", REC->a -1", "9", AS_RIGHT },
	{ "\"%d\", 1 ? 0 ? 3 : 4 : 5", "4", AS_RIGHT },
	{ "\"%d\", REC->a == 10 ? REC->b == 3 ? 31 : 32 : 33", "31", AS_RIGHT },
	{ "\"%s\", REC->a ? REC->b ? \"x\" : \"y\" : \"no\"", "x", AS_RIGHT },
	{ "\"%s\", REC->str ? \"t\" : \"f\"", "t", AS_RIGHT },
	{ "\"%d\", REC->a ?: 3", "10", FIELDS },
};

/* perf knows no signs. */
static const struct row signs[] = {
	{ "\"%d %d %d\", REC->e, REC->g, REC->d", "-1 -5 250", "255 65531 250" },
	{ "\"%ld %lld\", REC->a, REC->a - 20", "10 -10", AS_RIGHT },
	{ "\"%d\", REC->e < 0", "1", "0" },
	{ "\"%d\", -1 < 0", "1", "0" },
	{ "\"%d\", REC->z < 0", "1", "0" },
	{ "\"%d\", 0xffffffffffffffffULL == -1", "1", AS_RIGHT },
	{ "\"%d %d %d\", (short)REC->g, (s8)REC->e, (u8)REC->a", "-5 -1 10", "65531 255 10" },
	{ "\"%d\", (s16)0xfffb", "-5", "65531" },
	{ "\"%lld\", (long long)REC->g", "-5", "65531" },
	{ "\"%llu\", (u64)REC->e", "18446744073709551615", "255" },
	{ "\"%d\", REC->z / 2", "-4", "-5" },
	{ "\"%d\", REC->z % 4", "-1", "3" },
	{ "\"%d\", REC->z >> 1", "-5", AS_RIGHT },
	{ "\"%u\", 1U - 2U > 0", "1", AS_RIGHT },
	{ "\"%lx\", ~0U", "ffffffff", "ffffffffffffffff" },
	{ "\"%lx\", ~0", "ffffffffffffffff", AS_RIGHT },
	{ "\"%lx\", (xfs_ino_t)REC->c", "7", AS_RIGHT },
	{ "\"%d\", REC->a / (REC->b - 3)", "0", AS_RIGHT },
	{ "\"%d\", 1 / 0", "0", AS_RIGHT },
};

/* __print_flags and __print_symbolic. */
static const struct row flags[] = {
	{ "\"%s\", __print_flags(REC->a, \"|\", {1,\"a\"},{2,\"b\"},{8,\"c\"})", "b|c", AS_RIGHT },
	{ "\"%10s\", __print_flags(REC->a, \"|\", {1,\"a\"},{2,\"b\"},{8,\"c\"})",
	  "         b|         c", AS_RIGHT },
	{ "\"%s\", __print_flags(REC->a, \"|\", {1,\"a\"},{2,\"b\"},{8,\"c\"},)", "b|c", AS_RIGHT },
	{ "\"%s\", __print_flags(3, \"|\", {3,\"both\"},{2,\"b\"})", "both", AS_RIGHT },
	{ "\"%s\", __print_flags(3, \"|\", {2,\"b\"},{3,\"both\"})", "b|0x1", AS_RIGHT },
	{ "\"%s\", __print_flags(9, \":\", {8,\"a\"},{0,\"zero\"})", "a:0x1", AS_RIGHT },
	{ "\"%s|\", __print_flags(0, \":\", {8,\"a\"},{0,\"zero\"})", "|", AS_RIGHT },
	{ "\"%s\", __print_flags(0x30, \"|\", {0x10,\"x\"})", "x|0x20", AS_RIGHT },
	{ "\"%s\", __print_flags(REC->a & 3, \"\", {2,\"a\"},{0,\"d\"})", "a", AS_RIGHT },
	{ "\"%s\", __print_flags(0, \"|\", {1,\"a\"},{FOO,\"d\"})", "", "d" },
	{ "\"%s\", __print_flags(8, \"|\", {8,\"a\"},{FOO,\"d\"},{2,\"z\"})", "a", "ad" },
	{ "\"%s\", __print_flags(9, , {8,\"a\"})", FIELDS, "a0x1" },
	{ "\"%s\", __print_flags(6, \"|\", {1 << 1,\"a\"},{(1UL << 2),\"b\"})", "a|b", AS_RIGHT },
	{ "\"%s\", __print_symbolic(REC->a, {10,\"ten\"},{2,\"b\"})", "ten", AS_RIGHT },
	{ "\"%s\", __print_symbolic(REC->b, {10,\"ten\"},{2,\"b\"})", "0x3", AS_RIGHT },
	{ "\"%5s|%-5s|\", __print_symbolic(10, {10,\"ten\"}), __print_symbolic(10, {10,\"ten\"})",
	  "  ten|ten  |", AS_RIGHT },
	{ "\"%s\", __print_symbolic(REC->e, {-1,\"minus\"},{2,\"b\"})", "minus", "0xff" },
	{ "\"%s\", __print_symbolic(REC->z, {-9,\"minus\"},{2,\"b\"})", "minus",
	  "0xfffffffffffffff7" },
	{ "\"%s\", __print_symbolic(2, {IOPRIO_CLASS_BE,\"be\"},{2,\"b\"})", "be", "b" },
	{ "\"%s\", __print_symbolic(3, {SCHED_SOFTIRQ,\"s\"},{NET_RX_SOFTIRQ,\"rx\"})", "rx",
	  AS_RIGHT },
	{ "\"%s\", __print_symbolic(3, {1*3,\"mul\"})", "mul", FIELDS },
	{ "\"%s\", __print_symbolic(3, {(u8)259,\"cut\"})", "cut", "0x3" },
	{ "\"%s\", __print_symbolic(3, {3,\"a\" \"b\"})", "ab", AS_RIGHT },
	{ "\"%d\", __print_symbolic(1,{1,\"a\"})", FIELDS, "0" },
	{ "\"%s\", __print_flags_u64(1ULL << 40, \"|\", {1ULL << 40, \"big\"})", "big", FIELDS },
	{ "\"%s\", __print_symbolic_u64(1ULL << 40, {1ULL << 40, \"big\"})", "big", FIELDS },
};

/* Bytes, arrays, masks. */
static const struct row arrays[] = {
	{ "\"%s\", __print_hex(REC->str, 4)", "68 65 6c 6c", AS_RIGHT },
	{ "\"%s\", __print_hex(REC->str, REC->b)", "68 65 6c", AS_RIGHT },
	{ "\"%s\", __print_hex(REC->str, REC->b+1)", "68 65 6c 6c", FIELDS },
	{ "\"%s\", __print_hex_str(__get_dynamic_array(dyn), __get_dynamic_array_len(dyn))",
	  "776f726c6400", AS_RIGHT },
	{ "\"%s\", __print_array(REC->arr, 4, 4)", "{0x1,0x2,0x3,0x4}", "1 2 3 4" },
	{ "\"%s\", __print_array(REC->arr, 3, 3)", "{BAD SIZE:3 0x1,0x0,0x0}",
	  "BAD SIZE:3 0x1 0 0" },
	{ "\"%s\", __print_array(__get_dynamic_array(du), 2, 4)", "{0x4d,0x58}", "77 88" },
	{ "\"%s\", __print_array(REC->arr, 2, 8)", "{0x200000001,0x400000003}",
	  "8589934593 17179869187" },
	{ "\"%s\", __print_array(REC->arr, 4, sizeof(u32))", "{0x1,0x2,0x3,0x4}", FIELDS },
	{ "\"%s\", __print_dynamic_array(du, 4)", "{0x4d,0x58}", FIELDS },
	{ "\"%s\", __print_hex_dump(\"x: \", DUMP_PREFIX_OFFSET, 16, 1, REC->str, 8, 1)",
	  "x: 00000000: 68 65 6c 6c 6f 00 00 00                          hello...", FIELDS },
	{ "\"%s\", __print_hex_dump(\"\", DUMP_PREFIX_NONE, 16, 4, REC->arr, 16, 0)",
	  "00000001 00000002 00000003 00000004", FIELDS },
	{ "\"%s\", __get_bitmask(du)", "00000058,0000004d", AS_RIGHT },
	{ "\"%20s|%.3s\", __get_bitmask(du), __get_bitmask(du)", "   00000058,0000004d|000",
	  AS_RIGHT },
	{ "\"%s\", __get_cpumask(du)", "00000058,0000004d", FIELDS },
};

/* Helpers with and without support in perf. */
static const struct row helpers[] = {
	{ "\"%llu.%09u\", __print_ns_to_secs(12345678901ULL), "
	  "__print_ns_without_secs(12345678901ULL)",
	  "12.345678901", FIELDS },
	{ "\"%d\", __builtin_expect(REC->a, 0)", "10", AS_RIGHT },
	{ "\"%d\", __builtin_expect(!!(REC->a), 1)", "1", AS_RIGHT },
	{ "\"%d\", __builtin_expect(REC->a == 10, 1)", "1", FIELDS },
	{ "\"%zu\", sizeof(long)", "8", FIELDS },
	{ "\"%zu\", sizeof(u32)", "4", FIELDS },
	{ "\"%zu\", sizeof(REC->a)", "4", FIELDS },
	{ "\"%zu\", sizeof(REC->str)", "8", FIELDS },
	{ "\"%d\", unknown(REC->a)", FIELDS, AS_RIGHT },
	{ "\"%d\", ({ int x = 1; x; })", FIELDS, AS_RIGHT },
	{ "\"%d\", __entry->a", "10", FIELDS },
};

/* %p and its letters. */
static const struct row pointers[] = {
	{ "\"%p %p\", REC->c, 0", "0x7 (nil)", AS_RIGHT },
	{ "\"%px %pK\", REC->c, REC->c", "0x7 0x7", "0x7x 0x7K" },
	{ "\"%20p|%-20p|\", REC->c, REC->c", "                 0x7|0x7                 |",
	  "0x7|0x7|" },
	{ "\"%pd %pV %pe %pOF\", REC->c, REC->c, REC->c, REC->c", "0x7 0x7 0x7 0x7",
	  "0x7d 0x7V 0x7e 0x7OF" },
	{ "\"%pS %ps\", 0x5000, 0x5000", "0x5000 0x5000", AS_RIGHT },
	{ "\"%pI4 %pi4\", REC->a, REC->a", "10.0.0.0 010.000.000.000", AS_RIGHT },
	{ "\"%pI4h %pI4l %pI4n %pI4b\", REC->a, REC->a, REC->a, REC->a",
	  "0.0.0.10 0.0.0.10 10.0.0.0 10.0.0.0", AS_RIGHT },
	{ "\"%pI4\", &REC->a", "10.0.0.0", FIELDS },
	{ "\"%pI4\", __get_dynamic_array(du)", "77.0.0.0", "ARG TYPE NOT FIELD BUT 10" },
	{ "\"%pI6 %pi6 %pI6c\", REC->arr, REC->arr, REC->arr",
	  "0100:0000:0200:0000:0300:0000:0400:0000 01000000020000000300000004000000 "
	  "100:0:200:0:300:0:400:0",
	  AS_RIGHT },
	{ "\"%pI6c %pI4 %pM %pU\", REC->str, REC->str, REC->str, REC->str",
	  "INVALIDIPv6 INVALIDIPv4 INVALIDMAC INVALIDUUID", AS_RIGHT },
	{ "\"%pU %pUl %pUB\", REC->arr, REC->arr, REC->arr",
	  "01000000-0200-0000-0300-000004000000 00000001-0002-0000-0300-000004000000 "
	  "01000000-0200-0000-0300-000004000000",
	  AS_RIGHT },
	{ "\"%*phC|%*phN|%*phD|%*ph\", 4, __get_dynamic_array(dyn), 4, __get_dynamic_array(dyn), "
	  "4, __get_dynamic_array(dyn), 9, __get_dynamic_array(dyn)",
	  "77:6f:72:6c|776f726c|77-6f-72-6c|77 6f 72 6c 64 00", AS_RIGHT },
	{ "\"%*ph\", 4, REC->str", "68 65 6c 6c", "ARG TYPE NOT FIELD BUT 2" },
	{ "\"%pM\", (void *)REC->str", "INVALIDMAC", "ARG TYPE NOT FIELD BUT 7" },
};

/* The list of arguments. */
static const struct row arguments[] = {
	{ "\"%d %d\", REC->a", FIELDS, AS_RIGHT },
	{ "\"%d\", REC->a, REC->b", "10", AS_RIGHT },
	{ "\"%d\", REC->a,", "10", FIELDS },
	{ "\"%d %d\", REC->a + 1, REC->b", "11 3", AS_RIGHT },
	{ "\"%d\", REC->a )", FIELDS, "10" },
	{ "\"%d\", REC->a REC->b", FIELDS, "10" },
	{ "\"%d %d\", REC->a + 1 ) 5", FIELDS, "11 5" },
	{ "\"nothing\"", "nothing", AS_RIGHT },
	{ "\"%d\", REC->a++", FIELDS, AS_RIGHT },
};

static void check_one(const struct row *row, enum printfmt_dialect dialect, const char *want)
{
	char *got =
		fixture_text(fixture_fields, row->print_fmt, fixture_payload, FIXTURE_LEN, dialect);
	size_t n = strlen(want);
	int same = want[n ? n - 1 : 0] == '*' ? !strncmp(got, want, n - 1) : !strcmp(got, want);

	if (!same)
		fail_msg("%s (dialect %d)\n  got  %s\n  want %s", row->print_fmt, dialect, got,
			 want);
	free(got);
}

static void check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		check_one(&rows[i], PRINTFMT_RIGHT, rows[i].right);
		check_one(&rows[i], PRINTFMT_PERF_6_1, rows[i].perf ? rows[i].perf : rows[i].right);
	}
}

TEST(conversions_print)
{
	check(conversions, sizeof(conversions) / sizeof(*conversions));
}

TEST(strings_print)
{
	check(strings, sizeof(strings) / sizeof(*strings));
}

TEST(numbers_print)
{
	check(numbers, sizeof(numbers) / sizeof(*numbers));
}

TEST(chains_print)
{
	check(chains, sizeof(chains) / sizeof(*chains));
}

TEST(priorities_print)
{
	check(priorities, sizeof(priorities) / sizeof(*priorities));
}

TEST(signs_print)
{
	check(signs, sizeof(signs) / sizeof(*signs));
}

TEST(flags_print)
{
	check(flags, sizeof(flags) / sizeof(*flags));
}

TEST(arrays_print)
{
	check(arrays, sizeof(arrays) / sizeof(*arrays));
}

TEST(helpers_print)
{
	check(helpers, sizeof(helpers) / sizeof(*helpers));
}

TEST(pointers_print)
{
	check(pointers, sizeof(pointers) / sizeof(*pointers));
}

TEST(arguments_print)
{
	check(arguments, sizeof(arguments) / sizeof(*arguments));
}
