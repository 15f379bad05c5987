/* SPDX-License-Identifier: MIT */
/* Definitions of the tables of print formats, for scripts. */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>

#include "fixture.h"

/* One line per definition: F field delimiter, f field value name, S field, s field value name. */
static char *defines_of(const char *print_fmt, enum printfmt_dialect dialect)
{
	static const char letters[] = "FfSs";
	const struct sonde_define *d;
	struct arena a = { 0 }, kept = { 0 };
	struct outbuf out = { 0 };
	struct printfmt *pf = NULL;
	struct sonde_schema *sc = fixture_schema(&a, fixture_fields, print_fmt, fixture_abi(0, 8));
	size_t n;

	assert_int_equal(printfmt_compile(&pf, sc, dialect), 0);
	assert_int_equal(printfmt_defines(pf, &kept, &d, &n), 0);
	printfmt_free(pf); /* they live in the arena */
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(d[i].size, sizeof(*d));
		outbuf_fmt(&out, "%c %s", letters[d[i].kind], d[i].field);
		if (d[i].kind == SONDE_DEFINE_FLAG_FIELD)
			outbuf_fmt(&out, " %s", d[i].text);
		if (d[i].kind == SONDE_DEFINE_FLAG_VALUE ||
		    d[i].kind == SONDE_DEFINE_SYMBOLIC_VALUE)
			outbuf_fmt(&out, " %llu %s", (unsigned long long)d[i].value, d[i].text);
		outbuf_char(&out, '\n');
	}
	outbuf_char(&out, 0);
	arena_done(&kept);
	arena_done(&a);
	return out.data;
}

static void check(const char *print_fmt, enum printfmt_dialect dialect, const char *want)
{
	char *got = defines_of(print_fmt, dialect);

	assert_string_equal(got, want);
	free(got);
}

#define STATE                                                                                   \
	"\"%s %s%s %d\", REC->str, (REC->c & ((1 | 2) + 1)) ? __print_flags(REC->c & 3, \"|\"," \
	" { 1, \"S\" }, { 1 << 1, \"D\" }) : \"R\", REC->c & 0x100 ? \"+\" : \"\", REC->b"

TEST(defines_of_perf_hold_every_constant)
{
	static const char want[] =
		"f c 0 1\nf c 0 2\nf c 0 1\nf c 0 3\nF c |\nf c 1 S\nf c 2 D\nf c 0 R\n"
		"f c 0 0x100\nf c 0 +\nf c 0 \n";

	check(STATE, PRINTFMT_PERF_6_1, want);
	/* libtraceevent 1.7.1 computes (1 | 2) + 1. */
	check(STATE, PRINTFMT_PERF_6_12,
	      "f c 0 4\nf c 0 3\nF c |\nf c 1 S\nf c 2 D\nf c 0 R\nf c 0 0x100\nf c 0 +\nf c 0 \n");
}

TEST(defines_hold_tables_only)
{
	check(STATE, PRINTFMT_RIGHT, "F c |\nf c 1 S\nf c 2 D\nf c 0 R\n");
	check("\"%d %d\", REC->a + 5, 7", PRINTFMT_RIGHT, "");
	check("\"%s\", REC->a == 1 ? __print_symbolic(REC->b, { 3, \"x\" }) : "
	      "__print_flags(REC->c, \"\", { 4, \"y\" })",
	      PRINTFMT_RIGHT, "S b\ns b 3 x\nF c \nf c 4 y\n");
}

TEST(defines_know_values)
{
	/* perf folds constants, knows names of softirqs, and reads any other text as 0. */
	check("\"%s\", __print_symbolic(REC->a, { 0x10, \"hex\" }, { 010, \"octal\" }, { (1UL << "
	      "4) | 1, \"or\" },"
	      " { TASKLET_SOFTIRQ, \"t\" }, { FOO, \"foo\" }, { -1, \"minus\" })",
	      PRINTFMT_PERF_6_1,
	      "S a\ns a 16 hex\ns a 8 octal\ns a 17 or\ns a 6 t\ns a 0 foo\ns a 0 minus\n");
	check("\"%s\", __print_symbolic(REC->a, { -1, \"minus\" }, { 5 * 2, \"ten\" })",
	      PRINTFMT_RIGHT, "S a\ns a 18446744073709551615 minus\ns a 10 ten\n");
}

TEST(defines_walk_as_perf_does)
{
	/*
	 * Elements name their field first; helpers of dynamic fields end the walk; those of strings
	 * do not.
	 */
	check("\"%lx %lx\", REC->arr[0], REC->arr[1]", PRINTFMT_PERF_6_1, "f arr 0 0\nf arr 0 1\n");
	check("\"%d %d %d\", REC->a + 1, __get_dynamic_array_len(du), REC->b + 2",
	      PRINTFMT_PERF_6_1, "f a 0 1\n");
	check("\"%d %s %d\", REC->a + 1, __get_str(dyn), REC->b + 2", PRINTFMT_PERF_6_1,
	      "f a 0 1\nf b 0 2\n");
	check("\"%s %d\", __print_hex(REC->str, 4), 9", PRINTFMT_PERF_6_1,
	      "f str 0 4\nf str 0 9\n");
	check("\"%d %s\", (u8)REC->a, (REC->b ? \"x\" : \"y\")", PRINTFMT_PERF_6_1,
	      "f b 0 x\nf b 0 y\n");
}

TEST(defines_of_refused_texts_are_those_before)
{
	check("\"%s %d\", __print_symbolic(REC->a, { 1, \"one\" }), unknown(REC->b)",
	      PRINTFMT_PERF_6_1, "S a\ns a 1 one\n");
	check("rubbish", PRINTFMT_PERF_6_1, "");
	check("rubbish", PRINTFMT_RIGHT, "");
}
