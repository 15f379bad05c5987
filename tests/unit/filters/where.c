/* SPDX-License-Identifier: MIT */
/* Expressions of where=: parsed, bound to schemas, and run on payloads in both byte orders. */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "by_hand.h"
#include "filters/where/where.h"
#include "formats/tracefs/eventformat.h"
#include "model/sampled.h"

/* ---- a tracepoint ---------------------------------------------------------------------------- */

#define FORMAT(decl, offset, size, signed) \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #signed ";\n"

static const char format[] = "name: test\nID: 7\nformat:\n" FORMAT(
	"unsigned short common_type", 0, 2, 0) FORMAT("unsigned char common_flags", 2, 1, 0)
	FORMAT("int common_pid", 4, 4, 1) "\n" FORMAT("int i", 8, 4, 1) FORMAT("u32 u", 12, 4, 0)
		FORMAT("s8 b", 16, 1, 1) FORMAT("u16 h", 18, 2, 0) FORMAT("u64 q", 24, 8, 0) FORMAT(
			"long l", 32, 8, 1) FORMAT("char s[16]", 40, 16,
						   0) FORMAT("__data_loc char[] d", 56, 4, 0)
			FORMAT("__rel_loc char[] r", 60, 4, 0) FORMAT("const char * p", 64, 8, 0)
				FORMAT("__data_loc cpumask_t m", 72, 4, 0)
					FORMAT("unsigned long args[2]", 80, 16, 0)
						FORMAT("char cpu", 96, 1, 1) "\nprint fmt: \"x\"\n";

enum { PAYLOAD = 160, STRINGS = 104 };

struct fixture {
	struct arena arena;
	struct sonde_schema *schema;
	uint8_t bytes[PAYLOAD];
	struct sonde_event event;
	bool swap;
};

static void put(struct fixture *f, uint32_t at, uint32_t width, uint64_t v)
{
	const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	for (uint32_t i = 0; i < width; i++)
		f->bytes[at + (f->swap == host_is_big ? i : width - 1 - i)] = (uint8_t)(v >> 8 * i);
}

static void make(struct fixture *f, bool swap)
{
	const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const struct abi abi = { .swap = swap, .big_endian = swap != host_is_big, .long_bytes = 8 };

	*f = (struct fixture){ .swap = swap };
	if (eventformat_parse(&f->arena, bytes_init(format, sizeof(format) - 1, 0, "t", false),
			      "test", abi, &f->schema) < 0)
		fail_msg("%s", err_text());
	f->schema->sampled = SAMPLED_TID | SAMPLED_CPU;
	put(f, 0, 2, 7);
	put(f, 2, 1, 1);
	put(f, 4, 4, 4711);
	put(f, 8, 4, (uint64_t)-5);
	put(f, 12, 4, 0xfffffff0);
	put(f, 16, 1, (uint64_t)-1);
	put(f, 18, 2, 0x1234);
	put(f, 24, 8, UINT64_C(0xfedcba9876543210));
	put(f, 32, 8, (uint64_t)INT64_MIN);
	memcpy(f->bytes + 40, "kworker/0:1", 12);
	put(f, 56, 4, 6 << 16 | STRINGS);
	memcpy(f->bytes + STRINGS, "hello", 6);
	put(f, 60, 4, 4 << 16 | (STRINGS + 8 - 64));
	memcpy(f->bytes + STRINGS + 8, "abc", 4);
	put(f, 64, 8, 0xffffffff81000000);
	put(f, 72, 4, 16 << 16 | (STRINGS + 16));
	put(f, STRINGS + 16, 8, 0x9);      /* cpus 0, 3 */
	put(f, STRINGS + 24, 8, 1u << 16); /* cpu 80 */
	f->bytes[96] = 42;
	f->event = (struct sonde_event){ .bytes = f->bytes,
					 .bytes_len = PAYLOAD,
					 .cpu = 2,
					 .pid = 10,
					 .tid = 11,
					 .flags = swap ? SONDE_EVENT_SWAPPED : 0 };
}

static const char *comm(void *ctx)
{
	(void)ctx;
	return "bash";
}

static const char *string_at(void *ctx, uint64_t addr)
{
	(void)ctx;
	return addr == 0xffffffff81000000 ? "Start" : NULL;
}

static int sample(void *ctx, struct sonde_sample *ret)
{
	*ret = (struct sonde_sample){ .ip = 0xffffffff81234567,
				      .addr = 0x1000,
				      .period = 250000,
				      .weight = UINT64_C(0x100000005) };
	return ctx ? -EBADMSG : 0;
}

/*
 * 1 true, 0 false, -1 if the expression is wrong. If the events of the schema have no value for one
 * of its comparisons: 2 true, -2 false.
 */
static int judge(const struct sonde_schema *sc, const struct sonde_event *ev, const char *text)
{
	const struct where_input in = { ev, comm, string_at, sample, NULL };
	struct where w = { 0 };
	struct where_program *p;
	int r;

	if (where_parse(text, &w) < 0)
		return -1;
	assert_int_equal(where_bind(&w, sc, &p), 0);
	r = where_pass(p, &in);
	for (size_t i = 0; i < w.tests.n; i++) {
		if (!where_gap_of(p, i))
			continue;
		assert_int_equal(where_explain(&w, i, where_gap_of(p, i), &sc, 1), -EINVAL);
		r = r ? 2 : -2;
		break;
	}
	where_program_free(p);
	where_done(&w);
	return r;
}

static void check(const struct sonde_schema *sc, const struct sonde_event *ev, const char *text,
		  int expected)
{
	const int got = judge(sc, ev, text);

	if (got != expected)
		fail_msg("'%s': got %d, expected %d (%s)", text, got, expected, err_text());
}

struct one {
	const char *text;
	int expected;
};

static void check_all(const struct one *cases, size_t n)
{
	for (int swap = 0; swap < 2; swap++) {
		struct fixture f;

		make(&f, swap);
		for (size_t i = 0; i < n; i++)
			check(f.schema, &f.event, cases[i].text, cases[i].expected);
		arena_done(&f.arena);
	}
}

#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof((cases)[0]))

TEST(numbers)
{
	static const struct one cases[] = {
		{ "i == -5", 1 },
		{ "i==-5", 1 },
		{ "i != -5", 0 },
		{ "i < 0", 1 },
		{ "i <= -5", 1 },
		{ "i > -6", 1 },
		{ "i >= -4", 0 },
		{ "i == 0xfffffffb", 1 }, /* the number is converted to the field's type */
		{ "i == 4294967291", 1 },
		{ "i & 3", 1 },
		{ "i & 4", 0 },
		{ "u == 0xfffffff0", 1 },
		{ "u > 5", 1 },
		{ "u < 5", 0 },
		{ "u == -16", -2 },
		{ "u & 15", 0 },
		{ "b == -1", 1 },
		{ "b < -1", 0 },
		{ "b == 255", 1 },
		{ "h == 0x1234", 1 },
		{ "h == 011064", 1 },
		{ "h == 0x11234", 1 },
		{ "h >= 4660", 1 },
		{ "h > 4660", 0 },
		{ "q == 0xfedcba9876543210", 1 },
		{ "q > 0x7fffffffffffffff", 1 },
		{ "q >= 18446744073709551615", 0 },
		{ "l == -9223372036854775808", 1 },
		{ "l < 0", 1 },
		{ "l == 9223372036854775808", -2 },
		{ "common_pid == 4711", 1 },
		{ "common_type == 7 && common_flags & 1", 1 },
		{ "args == 1", -2 },
		{ "i == \"a\"", -2 },
		{ "nothing == 1", -2 },
		{ "pid == 10", -2 }, /* tracepoints have only the names of the kernel */
		{ "i == 08", -1 },
		{ "i == 0x", -1 },
		{ "i == 1x", -1 },
		{ "i == 18446744073709551616", -1 },
		{ "i == -9223372036854775809", -1 },
		{ "i == - 1", -1 },
		{ "i == +1", -1 },
		{ "i ~ 5", -1 },
		{ "i = 5", -1 },
		{ "i => 5", -1 },
		{ "i === 5", -1 },
		{ "i <> 5", -1 },
		{ "i", -1 },
		{ "i ==", -1 },
		{ "5 == i", -1 },
		{ "i == u", -1 },
		{ "", -1 },
		{ " ", -1 },
	};

	CHECK_ALL(cases);
}

TEST(strings)
{
	static const struct one cases[] = {
		{ "s == \"kworker/0:1\"", 1 },
		{ "s == 'kworker/0:1'", 1 },
		{ "s == \"kworker\"", 0 },
		{ "s != \"kworker\"", 1 },
		{ "s == \"kworker*\"", 0 },
		{ "s ~ \"kworker*\"", 1 },
		{ "s ~ \"*0:1\"", 1 },
		{ "s ~ \"*worker*\"", 1 },
		{ "s ~ \"kworker\"", 0 },
		{ "s ~ \"kworker/?:1\"", 1 },
		{ "s ~ \"kworker/[0-3]:[!0]\"", 1 },
		{ "s ~ \"!kworker*\"", 0 },
		{ "s ~ \"!bash\"", 1 },
		{ "d == \"hello\"", 1 },
		{ "d ~ \"h*l?\"", 1 },
		{ "d == \"hell\"", 0 },
		{ "r == \"abc\"", 1 },
		{ "r != \"abc\"", 0 },
		{ "p == \"Start\"", 1 },
		{ "p ~ \"*rt\"", 1 },
		{ "comm == \"bash\"", 1 },
		{ "COMM ~ \"b*\"", 1 },
		{ "s == \"it's\"", 0 },
		{ "s == \"\"", 0 },
		{ "s == 5", -2 },
		{ "comm == 5", -2 },
		{ "p == 5", -2 },
		{ "s > \"a\"", -1 },
		{ "s == bash", -1 },
		{ "s == \"bash", -1 },
		{ "s.ustring == \"a\"", -1 },
		{ "i.function == schedule", -1 },
	};

	CHECK_ALL(cases);
}

TEST(cpus)
{
	static const struct one cases[] = {
		{ "CPU == 2", 1 },
		{ "CPU > 2", 0 },
		{ "CPU & 2", 1 },
		{ "common_cpu == 2", 1 },
		{ "cpu == 42", 1 }, /* the event's own field has precedence */
		{ "CPU & CPUS{0,2-3}", 1 },
		{ "CPU & CPUS{ 0-1 }", 0 },
		{ "CPU == CPUS{2}", 1 },
		{ "CPU == CPUS{2-3}", 0 },
		{ "CPU != CPUS{2-3}", 1 },
		{ "CPU != CPUS{2}", 0 },
		{ "h & CPUS{4660}", 1 },
		{ "i & CPUS{0-9}", 0 },
		{ "m & CPUS{3}", 1 },
		{ "m & CPUS{1-2,4-79}", 0 },
		{ "m & CPUS{80}", 1 },
		{ "m == CPUS{0,3,80}", 1 },
		{ "m == CPUS{0,3}", 0 },
		{ "m == CPUS{0,3,80,200}", 0 },
		{ "m != CPUS{0,3}", 1 },
		{ "m == 1", -2 },
		{ "s & CPUS{1}", -2 },
		{ "CPU > CPUS{1}", -1 },
		{ "CPU ~ CPUS{1}", -1 },
		{ "CPU & CPUS{}", -1 },
		{ "CPU & CPUS{1", -1 },
		{ "CPU & CPUS{1-}", -1 },
		{ "CPU & CPUS{99999999}", -1 },
	};

	CHECK_ALL(cases);
}

TEST(and_or_not)
{
	static const struct one cases[] = {
		{ "i < 0 && u > 0", 1 },
		{ "i < 0 && u == 0", 0 },
		{ "i > 0 || u > 0", 1 },
		{ "i > 0 || u == 0", 0 },
		{ "i > 0 && u > 0 || h", -1 },
		{ "i < 0 || u == 0 && h == 0", 1 }, /* && binds more strongly */
		{ "(i < 0 || u == 0) && h == 0", 0 },
		{ "!i < 0", 0 },
		{ "!(i < 0)", 0 },
		{ "! ( i > 0 )", 1 },
		{ "!!(i < 0)", 1 },
		{ "!(i < 0 && u == 0)", 1 },
		{ "!(i > 0 || u == 0)", 1 },
		{ "!(i > 0 || !(u == 0))", 0 },
		{ "!(i < 0) || (h == 0x1234 && !(b > 0))", 1 },
		{ "((((i == -5))))", 1 },
		{ "\ti == -5\n", 1 },
		{ "!(s ~ \"k*\")", 0 },
		{ "!(s ~ \"!k*\")", 1 },
		{ "!(m & CPUS{0})", 0 },
		{ "i == -5 &&", -1 },
		{ "i == -5 && || u == 1", -1 },
		{ "i == -5 & u == 1", -1 },
		{ "i == -5 u == 1", -1 },
		{ "(i == -5", -1 },
		{ "i == -5)", -1 },
		{ "()", -1 },
		{ "!", -1 },
		{ "&& i == 1", -1 },
	};

	CHECK_ALL(cases);
}

/* All expressions of three comparisons, compared with their values by hand. */
TEST(all_shapes)
{
	static const char *const leaves[2] = { "i > 0", "i < 0" }; /* false, true */
	char text[128];

	for (unsigned n = 0; n < 1u << 9; n++) {
		const bool a = n & 1, b = n & 2, c = n & 4, first_or = n & 8, then_or = n & 16,
			   right = n & 32, not_all = n & 64, not_b = n & 128, not_pair = n & 256;
		const bool b_value = b != not_b;
		bool v;
		struct fixture f;

		if (right) {
			const bool pair = (then_or ? b_value || c : b_value && c) != not_pair;

			snprintf(text, sizeof(text), "%s(%s %s %s(%s%s %s %s))", not_all ? "!" : "",
				 leaves[a], first_or ? "||" : "&&", not_pair ? "!" : "",
				 not_b ? "!" : "", leaves[b], then_or ? "||" : "&&", leaves[c]);
			v = first_or ? a || pair : a && pair;
		} else {
			const bool pair = (first_or ? a || b_value : a && b_value) != not_pair;

			snprintf(text, sizeof(text), "%s(%s(%s %s %s%s) %s %s)", not_all ? "!" : "",
				 not_pair ? "!" : "", leaves[a], first_or ? "||" : "&&",
				 not_b ? "!" : "", leaves[b], then_or ? "||" : "&&", leaves[c]);
			v = then_or ? pair || c : pair && c;
		}
		make(&f, false);
		check(f.schema, &f.event, text, v != not_all);
		arena_done(&f.arena);
	}
}

TEST(missing_values_are_false)
{
	struct fixture f;

	make(&f, false);
	/* comparisons are false, and so are negated ones; others count */
	check(f.schema, &f.event, "nothing == 1 || i == -5", 2);
	check(f.schema, &f.event, "i == -5 && !(nothing == 1)", -2);
	f.event.bytes_len = 10; /* the payload is cut within i */
	check(f.schema, &f.event, "i == -5", 0);
	check(f.schema, &f.event, "!(i == -5)", 0);
	check(f.schema, &f.event, "i != 7 || common_type == 7", 1);
	f.event.bytes_len = STRINGS + 3; /* and within the string */
	check(f.schema, &f.event, "d == \"hel\"", 1);
	check(f.schema, &f.event, "r == \"abc\"", 0);
	check(f.schema, &f.event, "!(m & CPUS{1})", 0);
	put(&f, 64, 8, 1);
	check(f.schema, &f.event, "p != \"Start\"", 0);
	f.event.cpu = -1;
	check(f.schema, &f.event, "CPU == 2", 0);
	check(f.schema, &f.event, "!(CPU == 2)", 0);
	check(f.schema, &f.event, "CPU != CPUS{2}", 0);
	arena_done(&f.arena);
}

/* ---- other inputs, other events -------------------------------------------------------------- */

TEST(kinds_of_other_inputs)
{
	static const struct sonde_label labels[] = { { 0, 0, "IDLE" }, { 1, 3, "BUSY" } };
	static struct sonde_field inner[] = { FIELD("x", INT, 20, 2,
						    .byte_order = SONDE_ORDER_BIG) };
	static struct sonde_field fields[] = {
		FIELD("f", FLOAT, 0, 4),
		FIELD("d", FLOAT, 4, 8),
		FIELD("e", ENUM, 12, 4, .labels = labels, .nr_labels = 2),
		FIELD("bits", BITS, 16, 1, .byte_order = SONDE_ORDER_LITTLE, .bit_offset = 2,
		      .bit_width = 3, .is_signed = 1),
		FIELD("n", NESTED, 20, 2, .fields = inner, .nr_fields = 1),
		FIELD("t", STRING, 24, 0, .elem_width = 1, .is_text = 1, .is_array = 1),
	};
	static const struct sonde_schema sc = SCHEMA("kinds", fields);
	static const struct one cases[] = {
		{ "f == 2", 0 },        { "f > 2", 1 },         { "f < 3", 1 },
		{ "d == -3", 1 },       { "d >= -3", 1 },       { "!(d <= -3)", 0 },
		{ "f & 2", -2 },        { "f == CPUS{2}", -2 }, { "f == \"2\"", -2 },
		{ "e == 2", 1 },        { "e == \"BUSY\"", 1 }, { "e ~ \"I*\"", 0 },
		{ "e != \"IDLE\"", 1 }, { "bits == -2", 1 },    { "bits == 6", 1 },
		{ "n.x == 0x0102", 1 }, { "n == 1", -2 },       { "t == \"end\"", 1 },
		{ "n.y == 1", -2 },
	};
	uint8_t bytes[28] = { 0 };
	const struct sonde_event ev = { .bytes = bytes, .bytes_len = sizeof(bytes), .cpu = 0 };
	const float f = 2.5f;
	const double d = -3;
	const uint32_t e = 2;

	memcpy(bytes, &f, 4);
	memcpy(bytes + 4, &d, 8);
	memcpy(bytes + 12, &e, 4);
	bytes[16] = 6 << 2;
	bytes[20] = 1;
	bytes[21] = 2;
	memcpy(bytes + 24, "end", 3);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check(&sc, &ev, cases[i].text, cases[i].expected);
}

TEST(values_of_samples)
{
	struct sonde_schema sc = { .kind = SONDE_SAMPLE,
				   .system = "",
				   .name = "cpu-clock",
				   .sampled = SAMPLED_IP | SAMPLED_TID | SAMPLED_CPU |
					      SAMPLED_WEIGHT };
	const struct sonde_event ev = { .cpu = 2, .pid = 10, .tid = 11 };

	check(&sc, &ev, "ip == 0xffffffff81234567", 1);
	check(&sc, &ev, "ip > 0xffffffff80000000 && tid == 11", 1);
	check(&sc, &ev, "addr == 0x1000", -2);
	check(&sc, &ev, "period >= 250000", 1);
	check(&sc, &ev, "weight == 0x100000005", 1);
	check(&sc, &ev, "pid == 10 && cpu == 2 && comm == \"bash\"", 1);
	check(&sc, &ev, "pid == -1", 0);
	check(&sc, &ev, "common_pid == 10", -2);
	sc.sampled = SAMPLED_ADDR | SAMPLED_WEIGHT_STRUCT;
	check(&sc, &ev, "weight == 5 && addr == 4096", 1);
	check(&sc, &ev, "cpu == 2", -2);
	check(&sc, &ev, "comm == \"bash\"", -2);
	check(&sc, &ev, "ip == 1", -2);
}

/* ---- patterns, limits, messages -------------------------------------------------------------- */

TEST(patterns)
{
	static const struct {
		const char *pattern, *text;
		bool expected;
	} cases[] = {
		{ "", "", true },
		{ "", "a", false },
		{ "*", "", true },
		{ "**", "abc", true },
		{ "a*", "a", true },
		{ "a*b", "ab", true },
		{ "a*b", "abb", true },
		{ "a*b", "aba", false },
		{ "*ab*ab", "abxab", true },
		{ "*a?c*", "xxabc", true },
		{ "?", "", false },
		{ "?", "a", true },
		{ "[abc]", "b", true },
		{ "[!abc]", "b", false },
		{ "[a-c]x", "bx", true },
		{ "[]]", "]", true },
		{ "[!]]", "a", true },
		{ "[a", "[a", true },
		{ "[", "[", true },
		{ "[a-]", "-", true },
		{ "\\*", "*", true },
		{ "\\*", "a", false },
		{ "\\", "\\", true },
		{ "a\\?", "a?", true },
		{ "5*", "50", true },
		{ "[\xe4-\xf6]", "\xe8", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (where_glob(cases[i].pattern, strlen(cases[i].pattern), cases[i].text,
			       strlen(cases[i].text)) != cases[i].expected)
			fail_msg("'%s', '%s'", cases[i].pattern, cases[i].text);
}

static int parse_repeated(const char *head, const char *part, unsigned n, const char *tail)
{
	char *text = malloc(strlen(head) + n * strlen(part) + strlen(tail) + 1), *p = text;
	struct where w = { 0 };
	int r;

	assert_non_null(text);
	p = stpcpy(p, head);
	for (unsigned i = 0; i < n; i++)
		p = stpcpy(p, part);
	stpcpy(p, tail);
	r = where_parse(text, &w);
	where_done(&w);
	free(text);
	return r;
}

TEST(limits)
{
	assert_int_equal(parse_repeated("a==1", "||a==1", WHERE_MAX_TESTS - 1, ""), 0);
	assert_int_equal(parse_repeated("a==1", "||a==1", WHERE_MAX_TESTS, ""), -EINVAL);
	assert_int_equal(parse_repeated("", "!", WHERE_MAX_DEPTH, "a==1"), 0);
	assert_int_equal(parse_repeated("", "!", WHERE_MAX_DEPTH + 1, "a==1"), -EINVAL);
	assert_int_equal(parse_repeated("", "(", WHERE_MAX_DEPTH + 1, "a==1"), -EINVAL);
	assert_int_equal(parse_repeated("a == \"", "x", WHERE_MAX_STRING, "\""), 0);
	assert_int_equal(parse_repeated("a == \"", "x", WHERE_MAX_STRING + 1, "\""), -EINVAL);
	assert_int_equal(parse_repeated("a == 1", " ", WHERE_MAX_TEXT, ""), -EINVAL);
}

static void check_message(const char *text, const char *expected)
{
	struct fixture f;

	make(&f, false);
	assert_true(judge(f.schema, &f.event, text) < 0);
	if (!strstr(err_text(), expected))
		fail_msg("'%s': '%s' has no '%s'", text, err_text(), expected);
	arena_done(&f.arena);
}

TEST(messages)
{
	check_message("i == 1 && u => 2",
		      "operator is expected (== != < <= > >= & ~), at character "
		      "13: '=> 2'");
	check_message("i ==", "a value is expected, at the end of 'i =='");
	check_message("s == bash", "a string in quotes, is expected, at character 6: 'bash'");
	check_message("common_pit == 1",
		      "test:test has no field 'common_pit'; did you mean common_pid, common_cpu "
		      "or common_type?, at "
		      "character 1: 'common_pit == 1'");
	check_message("u == -16", "'u' is unsigned: -16 as an unsigned number is "
				  "0xfffffffffffffff0, at character 6: '-16'");
	check_message("(i == 1", "the closing bracket is missing, at character 1: '(i == 1'");
	check_message("CPU & CPUS{x}", "CPUS{0,2-3}, at character 7: 'CPUS{x}'");
}
