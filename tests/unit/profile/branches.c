/* SPDX-License-Identifier: MIT */
/* Profiles of branch stacks: a row for each branch. */
#include "unittest.h"

#include <errno.h>
#include <stddef.h>

#include "../session/recording.h"
#include "sonde/sonde.h"

/* Addresses without a symbol. */
enum { A = 0x401000, B = 0x402000, C = 0x403000 };

enum { MISPREDICTED = 1, PREDICTED = 2, IN_TX = 4, ABORT = 8 };
#define CYCLES(n) ((uint64_t)(n) << 4)

/* Both event types have branch stacks in place of call chains. */
static void branches_begin(struct recording *r)
{
	recording_begin_as(r, true);
	recording_sample_types(r, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_BRANCH_STACK);
	recording_comm(r, 10, 12, 12, "sh", false);
}

static void branches_sample(struct recording *r, uint64_t time_ns, const uint64_t (*entries)[3],
			    uint64_t nr)
{
	size_t at = recording_open(r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	recording_u64(r, 1);
	recording_u64(r, A);
	recording_u32s(r, 12, 12);
	recording_u64(r, time_ns);
	recording_u32s(r, 1, 0);
	recording_u64(r, nr);
	recording_put(r, entries, nr * sizeof(*entries));
	recording_close(r, at);
}

static struct sonde_profile *branches_profile(struct recording *r, const char *text,
					      const char *compat)
{
	struct sonde_session *s;
	struct sonde_profile *p;
	char session[160];

	branches_begin(r);
	branches_sample(
		r, 20,
		(const uint64_t[][3]){ { A, B, PREDICTED | CYCLES(3) }, { B, C, MISPREDICTED } },
		2);
	branches_sample(r, 21,
			(const uint64_t[][3]){ { A, B, PREDICTED | CYCLES(42141) },
					       { C, A, IN_TX },
					       { C, A, ABORT } },
			3);
	branches_sample(r, 22, NULL, 0);
	snprintf(session, sizeof(session),
		 "input=%s\nkallsyms=/dev/null\nno-follow=1\nforce=1\ncompat=%s\n",
		 recording_finish(r), compat);
	if (sonde_session_open(&s, session, NULL) < 0 || sonde_profile_new(&p, text, "test") < 0 ||
	    sonde_profile_read(p, s) < 0 || sonde_profile_finish(p) < 0)
		fail_msg("%s", sonde_error_text());
	sonde_session_close(s);
	return p;
}

/* Checks the rows: their texts, joined by blanks, and their periods. */
static void branches_check_as(const char *compat, const char *keys, const char *const *texts,
			      const uint64_t *periods, uint64_t nr, uint32_t nr_keys)
{
	char settings[128], text[256];
	struct sonde_profile_row row = { .size = sizeof(row) };
	struct sonde_profile *p;
	struct recording r;

	snprintf(settings, sizeof(settings), "branches=1\nkeys=%s\n", keys);
	p = branches_profile(&r, settings, compat);
	for (uint64_t i = 0; i < nr; i++) {
		text[0] = '\0';
		for (uint32_t k = 0; k < nr_keys; k++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), k ? " %s" : "%s",
				 sonde_profile_text(p, 0, i, k));
		assert_string_equal(text, texts[i]);
		assert_int_equal(sonde_profile_row(p, 0, i, &row), 1);
		assert_int_equal(row.period, periods[i]);
		assert_int_equal(row.samples, periods[i]);
	}
	assert_int_equal(sonde_profile_row(p, 0, nr, &row), 0);
	sonde_profile_free(p);
	recording_done(&r);
}

static void branches_check(const char *keys, const char *const *texts, const uint64_t *periods,
			   uint64_t nr, uint32_t nr_keys)
{
	branches_check_as("none", keys, texts, periods, nr, nr_keys);
}

TEST(branches_are_rows)
{
	branches_check("symbol_from,symbol_to",
		       (const char *[]){ "0x0000000000401000 0x0000000000402000",
					 "0x0000000000403000 0x0000000000401000",
					 "0x0000000000402000 0x0000000000403000" },
		       (const uint64_t[]){ 2, 2, 1 }, 3, 2);
}

/* A branch counts for the thread of its sample; a sample without branches does not count. */
TEST(branches_of_thread)
{
	branches_check("comm", (const char *[]){ "sh" }, (const uint64_t[]){ 5 }, 1, 1);
}

/* More cycles come first; none are shown as '-'. */
TEST(branches_by_cycles)
{
	const uint64_t periods[] = { 3, 1, 1 };

	branches_check("cycles", (const char *[]){ "-", "42141", "3" }, periods, 3, 1);
	branches_check_as("perf-6.1", "cycles", (const char *[]){ "-", "-23395", "3" }, periods, 3,
			  1);
}

TEST(branches_by_flag)
{
	branches_check("abort", (const char *[]){ ".", "A" }, (const uint64_t[]){ 4, 1 }, 2, 1);
	branches_check("in_tx", (const char *[]){ ".", "T" }, (const uint64_t[]){ 4, 1 }, 2, 1);
	branches_check("mispredict", (const char *[]){ "N/A", "N", "Y" },
		       (const uint64_t[]){ 2, 2, 1 }, 3, 1);
}

/* perf makes the line of a target when it compares it with another target of the same branch. */
TEST(branches_lines_of_perf)
{
	const char *const all[] = { "0x0000000000401000 ??:0", "0x0000000000403000 ??:0",
				    "0x0000000000402000 ??:0" };
	const char *const some[] = { all[0], all[1], "0x0000000000402000 (null)" };
	const uint64_t periods[] = { 2, 2, 1 };

	branches_check("symbol_from,srcline_to", all, periods, 3, 2);
	branches_check_as("perf-6.1", "symbol_from,srcline_to", some, periods, 3, 2);
}

/* The function and dso of a row are those of the target. */
TEST(branches_target)
{
	branches_check("sym",
		       (const char *[]){ "0x0000000000401000", "0x0000000000402000",
					 "0x0000000000403000" },
		       (const uint64_t[]){ 2, 2, 1 }, 3, 1);
}

/* Addresses of one function stay apart in a merged profile. */
TEST(branches_are_merged)
{
	struct sonde_profile_row row = { .size = sizeof(row) };
	struct sonde_profile *one, *all, *samples;
	struct recording r;

	one = branches_profile(&r, "branches=1\nkeys=addr_from,cycles\n", "none");
	assert_int_equal(sonde_profile_new(&all, "branches=1\nkeys=addr_from,cycles\n", NULL), 0);
	assert_int_equal(sonde_profile_merge(all, one), 0);
	assert_int_equal(sonde_profile_finish(all), 0);
	for (uint64_t i = 0; sonde_profile_row(one, 0, i, &row) == 1; i++) {
		assert_string_equal(sonde_profile_text(all, 0, i, 0),
				    sonde_profile_text(one, 0, i, 0));
		assert_string_equal(sonde_profile_text(all, 0, i, 1),
				    sonde_profile_text(one, 0, i, 1));
	}
	sonde_profile_free(all);
	sonde_profile_free(one);
	recording_done(&r);
	one = branches_profile(&r, "branches=1\nkeys=comm\n", "none");
	assert_int_equal(sonde_profile_new(&samples, "keys=comm\n", NULL), 0);
	assert_int_equal(sonde_profile_merge(samples, one), -EINVAL);
	assert_non_null(strstr(sonde_error_text(), "branches="));
	sonde_profile_free(samples);
	sonde_profile_free(one);
	recording_done(&r);
}

/* Without branches=1 there is no branch whose values they could be. */
TEST(branch_keys_need_branches)
{
	static const char *const keys[] = { "dso_from",   "symbol_to",  "addr_from",
					    "srcline_to", "mispredict", "cycles" };
	struct sonde_profile *p;
	char text[64];

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		snprintf(text, sizeof(text), "keys=comm,%s\n", keys[i]);
		assert_int_equal(sonde_profile_new(&p, text, "test"), -EINVAL);
		assert_non_null(strstr(sonde_error_text(), "needs branches=1"));
	}
}

TEST(branches_exclude_call_graphs)
{
	struct sonde_profile *p;

	assert_true(sonde_profile_new(&p, "branches=1\ncallgraph=caller\n", "test") < 0);
}
