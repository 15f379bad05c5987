/* SPDX-License-Identifier: MIT */
/* Settings of samples that the kernel of this machine may refuse, checked in the attr. */

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/err.h"
#include "record/drain/drain.h"
#include "capture/setup/sampling.h"
#include "unittest.h"

static const struct say nobody;

static uint64_t branches_of(const char *text)
{
	struct capture_options o = { .branch_filter = (char *)text };
	struct sampling s;

	return sampling_parse(&s, &o, &nobody) == 0 ? s.branches : UINT64_MAX;
}

TEST(kinds_of_branches)
{
	/* the values that perf 6.1 -vv prints for the same words */
	assert_int_equal(branches_of("any"), 0x8);
	assert_int_equal(branches_of("any_call,any_ret"), 0x30);
	assert_int_equal(branches_of("ind_call"), 0x40);
	assert_int_equal(branches_of("abort_tx,in_tx,no_tx"), 0x380);
	assert_int_equal(branches_of("cond"), 0x400);
	assert_int_equal(branches_of("stack"), 0x800);
	assert_int_equal(branches_of("ind_jmp,call"), 0x3000);
	assert_int_equal(branches_of("any,save_type,priv"), 0x50008);
	assert_int_equal(branches_of("ANY,U,k,Hv"), 0xf);
	/* privilege levels are no branch types */
	assert_int_equal(branches_of("u"), 0x8);
	assert_int_equal(branches_of("u,k"), 0x8);
	assert_int_equal(branches_of(""), UINT64_MAX);
	assert_int_equal(branches_of("any,"), UINT64_MAX);
	assert_int_equal(branches_of("an"), UINT64_MAX);
	assert_int_equal(branches_of("any_callx"), UINT64_MAX);
}

static int chain_of(const char *text, struct callchain *ret)
{
	return sampling_parse_callchain(ret, "--call-graph", text);
}

TEST(kinds_of_call_chains)
{
	static const char *const wrong[] = { "no",          "f",           "fpx",      "FP",
					     ",32",         "fp,x",        "fp,-1",    "dwarf,0",
					     "dwarf,-8",    "dwarf,65529", "dwarf,8k", "dwarf,1,2",
					     "dwarf,0x1p1", "lbr,1",       "dwarf 64" };
	struct callchain c;

	assert_int_equal(chain_of("", &c), 0);
	assert_int_equal(c.mode, CALLCHAIN_FP);
	assert_int_equal(chain_of("fp,32", &c), 0);
	assert_int_equal(c.max_frames, 32);
	assert_int_equal(chain_of("dwarf", &c), 0);
	assert_int_equal(c.mode, CALLCHAIN_DWARF);
	assert_int_equal(c.stack_bytes, 8192);
	assert_int_equal(chain_of("dwarf,65521", &c), 0);
	assert_int_equal(c.stack_bytes, 65528);
	assert_int_equal(chain_of("lbr", &c), 0);
	assert_int_equal(c.mode, CALLCHAIN_LBR);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(chain_of(wrong[i], &c), -EBADR);
}

static struct perf_event_attr attr_of(const char *event, const struct capture_options *o)
{
	struct capture_events l = { 0 };
	struct perf_event_attr a;
	struct sampling s;

	assert_int_equal(sampling_parse(&s, o, &nobody), 0);
	assert_int_equal(capture_events_add(&l, event), 0);
	assert_int_equal(sampling_configure(&l, &s, &nobody), 0);
	a = l.list.v[0].attr;
	capture_events_done(&l);
	return a;
}

TEST(chains_of_branch_records)
{
	struct capture_options o = { .call_graph = (char *)"lbr" };
	struct perf_event_attr a = attr_of("cycles", &o);

	assert_int_equal(a.branch_sample_type, 0x2c801);
	assert_true(a.sample_type & PERF_SAMPLE_BRANCH_STACK);
	assert_true(a.sample_type & PERF_SAMPLE_CALLCHAIN);
	/* only user space has them; a dummy event has no samples; -j has precedence */
	a = attr_of("cycles:k", &o);
	assert_int_equal(a.branch_sample_type, 0);
	assert_false(a.sample_type & PERF_SAMPLE_BRANCH_STACK);
	assert_true(a.sample_type & PERF_SAMPLE_CALLCHAIN);
	a = attr_of("dummy", &o);
	assert_false(a.sample_type & PERF_SAMPLE_BRANCH_STACK);
	o.branch_filter = (char *)"any";
	a = attr_of("cycles", &o);
	assert_int_equal(a.branch_sample_type, 0x8);
}

TEST(trailers_follow_the_sample_type)
{
	struct perf_event_attr a = { .sample_type = ~(uint64_t)0 };

	assert_int_equal(sampling_trailer_bytes(&a), 0);
	a.sample_id_all = 1;
	assert_int_equal(sampling_trailer_bytes(&a), 48);
	a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW;
	assert_int_equal(sampling_trailer_bytes(&a), 0);
	a.sample_type |= PERF_SAMPLE_TID | PERF_SAMPLE_IDENTIFIER;
	assert_int_equal(sampling_trailer_bytes(&a), 16);
}

TEST(times_in_all_samples_some_or_none)
{
	struct capture_events l = { 0 };
	struct counters c = { 0 };
	struct hash64 untimed = { 0 };
	enum drain_times times;

	assert_int_equal(capture_events_add(&l, "cs,faults"), 0);
	l.list.v[0].attr.sample_type = l.list.v[1].attr.sample_type = PERF_SAMPLE_TIME;
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(
			vec_push(&c.list, ((struct counter){ .event = i / 2, .id = 10 + i })), 0);
	assert_int_equal(drain_find_times(&l, &c, &untimed, &times), 0);
	assert_int_equal(times, DRAIN_TIMES_ALL);
	l.list.v[1].attr.sample_type = 0;
	assert_int_equal(drain_find_times(&l, &c, &untimed, &times), 0);
	assert_int_equal(times, DRAIN_TIMES_SOME);
	assert_int_equal(hash64_find(&untimed, 11), HASH64_EMPTY);
	assert_int_equal(hash64_find(&untimed, 12), 1);
	assert_int_equal(hash64_find(&untimed, 13), 1);
	l.list.v[0].attr.sample_type = 0;
	assert_int_equal(drain_find_times(&l, &c, &untimed, &times), 0);
	assert_int_equal(times, DRAIN_TIMES_NONE);
	hash64_done(&untimed);
	vec_done(&c.list);
	capture_events_done(&l);
}
