/* SPDX-License-Identifier: MIT */
/*
 * Lines that blkparse 1.2.0 printed for the same values. tests/roundtrip/blktrace.py compares with
 * a running blkparse.
 */
#include "unittest.h"

#include <string.h>

#include "sinks/blkparse/line.h"

enum { MS = 1000000 };

#define ACTION(word) .action = blkparse_action_find(word)
#define DEVICE       .major = 8, .minor = 1, .pid = 100, .comm = "kjournald"

static void expect(const struct blkparse_line *line, const char *text)
{
	struct outbuf out = { 0 };

	assert_int_equal(blkparse_line_put(&out, line), text != NULL);
	outbuf_char(&out, '\0');
	assert_string_equal(out.data, text ? text : "");
	outbuf_done(&out);
}

static void expect_request(const char *action, bool is_pc, uint32_t bytes, const char *text)
{
	const struct blkparse_line line = { ACTION(action),
					    DEVICE,
					    .sequence = 1,
					    .since_ns = 1 * MS,
					    .rwbs = "WS",
					    .is_pc = is_pc,
					    .sector = 77,
					    .bytes = bytes,
					    .nr_sector = bytes / 512,
					    .error = 3,
					    .pdu = (const uint8_t *)"\x12\0\0\1\0\0\0",
					    .pdu_len = 7 };
	char all[160];

	snprintf(all, sizeof(all), "  8,1    0        1     0.001000000   100 %s\n",
		 text ? text : "");
	expect(&line, text ? all : NULL);
}

TEST(requests)
{
	expect_request("queue", false, 1000, " Q  WS 77 + 1 [kjournald]");
	expect_request("backmerge", false, 1000, " M  WS 77 + 1 [kjournald]");
	expect_request("frontmerge", false, 1000, " F  WS 77 + 1 [kjournald]");
	expect_request("getrq", false, 1000, " G  WS 77 + 1 [kjournald]");
	expect_request("sleeprq", false, 1000, " S  WS 77 + 1 [kjournald]");
	expect_request("requeue", false, 1000, " R  WS 77 + 1 [3]");
	expect_request("issue", false, 1000, " D  WS 77 + 1 [kjournald]");
	expect_request("complete", false, 1000, " C  WS 77 + 1 [3]");
	expect_request("plug", false, 1000, " P  WS [kjournald]");
	expect_request("insert", false, 1000, " I  WS 77 + 1 [kjournald]");
	expect_request("bounce", false, 1000, " B  WS 77 + 1 [kjournald]");
}

TEST(requests_without_data)
{
	expect_request("queue", false, 0, " Q  WS [kjournald]");
	expect_request("getrq", false, 0, " G  WS [kjournald]");
	expect_request("requeue", false, 0, " R  WS 77 [3]");
	expect_request("complete", false, 0, " C  WS 77 [3]");
}

TEST(packet_commands)
{
	expect_request("queue", true, 1000, " Q  WS 1000 [kjournald]");
	expect_request("getrq", true, 1000, " G  WS 77 + 1 [kjournald]");
	expect_request("sleeprq", true, 0, " S  WS [kjournald]");
	expect_request("requeue", true, 1000, " R  WS [3]");
	expect_request("issue", true, 1000, " D  WS 1000 (12 00 00 01 00 ..) [kjournald]");
	expect_request("insert", true, 0, " I  WS 0 (12 00 00 01 00 ..) [kjournald]");
	expect_request("complete", true, 1000, " C  WS (12 00 00 01 00 ..) [3]");
	expect_request("backmerge", true, 1000, NULL);
	expect_request("unplug", true, 1000, NULL);
}

TEST(commands_bytes)
{
	static const struct {
		const char *bytes;
		uint32_t len;
		const char *text;
	} cases[] = { { "", 0, "" },
		      { "\0", 1, "(00 ..) " },
		      { "\1", 1, "(01) " },
		      { "\1\0", 2, "(01 00 ..) " },
		      { "\1\2", 2, "(01 02) " },
		      { "\1\0\2", 3, "(01 00 02) " },
		      { "\0\0\0", 3, "(00 ..) " } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct blkparse_line line = {
			ACTION("issue"),        DEVICE,     .rwbs = "W",
			.is_pc = true,          .bytes = 6, .pdu = (const uint8_t *)cases[i].bytes,
			.pdu_len = cases[i].len
		};
		char all[160];

		snprintf(all, sizeof(all),
			 "  8,1    0        0     0.000000000   100  D   W 6 %s[kjournald]\n",
			 cases[i].text);
		expect(&line, all);
	}
}

TEST(counts)
{
	struct blkparse_line line = { ACTION("unplug"),   DEVICE,      .sequence = 5,
				      .since_ns = 4 * MS, .rwbs = "N", .count = 1 };

	expect(&line, "  8,1    0        5     0.004000000   100  U   N [kjournald] 1\n");
	line.action = blkparse_action_find("unplug_timer");
	line.count = UINT64_MAX;
	expect(&line, "  8,1    0        5     0.004000000   100 UT   N [kjournald] "
		      "4294967295\n");
	line.action = blkparse_action_find("split");
	line.sector = 2000;
	line.count = 2004;
	line.rwbs = "W";
	expect(&line, "  8,1    0        5     0.004000000   100  X   W 2000 / 2004 [kjournald]\n");
}

TEST(remap)
{
	expect(&(struct blkparse_line){ ACTION("remap"), DEVICE, .sequence = 12,
					.since_ns = 11 * MS, .rwbs = "W", .sector = 2000,
					.bytes = 4096, .nr_sector = 8, .old_major = 8,
					.old_sector = 4048 },
	       "  8,1    0       12     0.011000000   100  A   W 2000 + 8 <- (8,0) 4048\n");
	expect(&(struct blkparse_line){ ACTION("remap"), .major = 259, .minor = 70000, .cpu = 131,
					.pid = 7, .rwbs = "FN", .old_major = 4095,
					.old_minor = 1048575 },
	       "259,70000 131        0     0.000000000     7  A  FN 0 + 0 <- (4095,1048575) 0\n");
}

TEST(messages)
{
	struct blkparse_line line = { ACTION("message"),   .major = 8,
				      .minor = 1,          .rwbs = "N",
				      .since_ns = 23 * MS, .sequence = 24,
				      .pid = 100,          .pdu = (const uint8_t *)"hello message",
				      .pdu_len = 13 };

	expect(&line, "  8,1    0        0     0.023000000     0  m   N hello message\n");
	line.is_pc = true;
	line.pdu = (const uint8_t *)"a\nb\0c";
	line.pdu_len = 5;
	expect(&line, "  8,1    0        0     0.023000000     0  m   N a\nb\n");
	line.pdu_len = 0;
	expect(&line, NULL);
}

TEST(wide_values)
{
	struct blkparse_line line = { ACTION("complete"),
				      .major = 4095,
				      .minor = 1048575,
				      .sequence = 123456789,
				      .since_ns = 123456789012340,
				      .pid = UINT32_MAX,
				      .rwbs = "FDFASM",
				      .bytes = UINT32_MAX,
				      .sector = UINT64_MAX,
				      .nr_sector = 8388607,
				      .error = 65535 };

	expect(&line, "4095,1048575  0 123456789 123456.789012340 4294967295  C FDFASM "
		      "18446744073709551615 + 8388607 [65535]\n");
	line.action = blkparse_action_find("queue");
	expect(&line, "4095,1048575  0 123456789 123456.789012340 4294967295  Q FDFASM "
		      "18446744073709551615 + 8388607 [(null)]\n");
}

/* blkparse prints times before its first event modulo 2^64; sonde prints a sign. */
TEST(times_before_the_first_event)
{
	struct blkparse_line line = { ACTION("plug"), DEVICE, .rwbs = "N", .since_ns = -1500 * MS };

	expect(&line, "  8,1    0        0    -1.500000000   100  P   N [kjournald]\n");
	line.since_ns = INT64_MIN;
	expect(&line, "  8,1    0        0 -9223372036.854775808   100  P   N [kjournald]\n");
}

TEST(actions_that_have_no_line)
{
	assert_null(blkparse_action_find("abort"));
	assert_null(blkparse_action_find("drv_data"));
	assert_null(blkparse_action_find(""));
}
