/* SPDX-License-Identifier: MIT */
/* Texts of values: registers, branches, data sources, bytes; escapes for terminals. */
#include "unittest.h"

#include <string.h>

#include "model/registers.h"
#include "sinks/text/bpf_output.h"
#include "model/data_src.h"
#include "sinks/text/machine_words.h"
#include "sinks/text/terminal.h"

static char room[24];

static const char *reg(enum sonde_compat compat, const char *arch, unsigned nr)
{
	return register_name(rules_of(compat), arch, nr, room);
}

TEST(registers_of_machines)
{
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_1, "x86_64", 9), "FLAGS");
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_1, "x86_64", 23), "R15");
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_1, "x86_64", 24), "unknown");
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_1, "x86_64", 63), "XMM15");
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_1, "x86_64", 64), "unknown");
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_1, "i686", 0), "AX");
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_1, "aarch64", 30), "lr");
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_1, "armv7l", 11), "fp");
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_1, "ppc64le", 51), "pmc1");
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_1, "s390x", 33), "PC");
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_1, "mips64", 26), "unknown");
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_1, "sparc64", 1), "unknown");
	assert_string_equal(reg(SONDE_COMPAT_NONE, "riscv64", 31), "t6");
	assert_string_equal(reg(SONDE_COMPAT_NONE, "riscv64", 32), "unknown");
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_12, "riscv64", 1), "unknown");
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_1, "loongarch64", 3), "unknown");
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_12, "loongarch64", 3), "%r3");
	assert_string_equal(reg(SONDE_COMPAT_PERF_6_1, "csky", 3), "unknown");
	assert_string_equal(reg(SONDE_COMPAT_NONE, "csky", 3), "sr");
	assert_string_equal(reg(SONDE_COMPAT_NONE, "", 3), "unknown");
}

TEST(kinds_of_branches)
{
	assert_string_equal(branch_type_name(&default_rules, 0, room), "");
	assert_string_equal(branch_type_name(&default_rules, 6 << 20, room), "RET");
	assert_string_equal(branch_type_name(&default_rules, 15 << 20 | 1 << 26, room),
			    "FAULT_DATA");
	assert_string_equal(branch_type_name(&default_rules, 15 << 20 | 9ull << 26, room), "NEW_9");
	assert_string_equal(
		branch_type_name(rules_of(SONDE_COMPAT_PERF_6_1), 15 << 20 | 9ull << 26, room),
		"(null)");
}

static const char *data_src(enum sonde_compat compat, uint64_t value)
{
	static struct outbuf out;
	size_t width = 0;

	out.len = 0;
	data_src_put(rules_of(compat), value, &width, &out);
	assert_int_equal(width, out.len);
	outbuf_char(&out, '\0');
	return out.data;
}

TEST(data_sources)
{
	static const uint64_t load_l1_hit = 2 | (uint64_t)(2 | 8) << 5;
	struct outbuf out = { 0 };
	size_t width = 0;

	assert_string_equal(data_src(SONDE_COMPAT_NONE, load_l1_hit),
			    "             142 |OP LOAD|LVL L1 hit|SNP N/A|TLB N/A|LCK No|BLK  N/A");
	assert_string_equal(data_src(SONDE_COMPAT_PERF_6_12, (uint64_t)8 << 5),
			    "             100 |OP No|LVL L1 |SNP N/A|TLB N/A|LCK No|BLK  N/A");
	assert_non_null(strstr(data_src(SONDE_COMPAT_PERF_6_1, (uint64_t)5 << 33), "|LVL L5|"));
	assert_non_null(strstr(data_src(SONDE_COMPAT_NONE, (uint64_t)5 << 33), "|LVL L2 MHB|"));
	assert_int_equal(strlen(data_src(SONDE_COMPAT_PERF_6_1, UINT64_MAX)), 99);
	assert_non_null(strstr(data_src(SONDE_COMPAT_NONE, UINT64_MAX), "|BLK  N/A"));
	data_src_put(&default_rules, load_l1_hit, &width, &out);
	data_src_put(&default_rules, 0, &width, &out); /* padded to the longest */
	assert_int_equal(out.len, 2 * width);
	outbuf_done(&out);
}

TEST(output_of_bpf)
{
	struct outbuf out = { 0 };

	text_bpf_output_put((const uint8_t *)"hello, world\0\0\0", 16, &out);
	outbuf_char(&out, '\0');
	assert_string_equal(out.data, "\n"
				      "      BPF output: 0000: 68 65 6c 6c 6f 2c 20 77  hello, w\n"
				      "                  0008: 6f 72 6c 64 00 00 00 00  orld....\n"
				      "      BPF string: \"hello, world\"\n");
	out.len = 0;
	text_bpf_output_put((const uint8_t *)"a\0b", 3, &out);
	outbuf_char(&out, '\0');
	assert_string_equal(out.data,
			    "\n      BPF output: 0000: 61 00 62                 a.b     \n");
	out.len = 0;
	text_bpf_output_put(NULL, 0, &out);
	assert_int_equal(out.len, 1);
	outbuf_done(&out);
}

static const char *quiet(const char *text, bool line_ends)
{
	static struct outbuf out;

	out.len = 0;
	outbuf_str(&out, "\x1b");
	outbuf_str(&out, text);
	text_terminal_quiet(&out, 1, line_ends);
	assert_int_equal(out.data[0], 0x1b); /* the text before does not change */
	outbuf_char(&out, '\0');
	return out.data + 1;
}

TEST(text_for_a_terminal)
{
	assert_string_equal(quiet("", true), "");
	assert_string_equal(quiet("plain é € 😀", false), "plain é € 😀");
	assert_string_equal(quiet("\x1b[31mred\a", true), "\\x1b[31mred\\x07");
	assert_string_equal(quiet("a\tb\n", true), "a\tb\n");
	assert_string_equal(quiet("a\tb\n", false), "a\\x09b\\x0a");
	assert_string_equal(quiet("\x9b"
				  "1m",
				  true),
			    "\\x9b1m");
	assert_string_equal(quiet("\xc2\x9b"
				  "1m",
				  true),
			    "\\xc2\\x9b1m");
	assert_string_equal(quiet("\xe2\x82", true), "\\xe2\\x82"); /* cut off */
	assert_string_equal(quiet("\xc0\xaf\x7f\r", true), "\\xc0\\xaf\\x7f\\x0d");
}
