/* SPDX-License-Identifier: MIT */
/* Profiles with branch-history=1: branches are frames before the call chain. */
#include "unittest.h"

#include <errno.h>
#include <stddef.h>

#include "../session/recording.h"
#include "sonde/sonde.h"

/* Addresses without a symbol. */
enum { A = 0x401000, B = 0x402000, C = 0x403000, D = 0x404000, E = 0x405000 };

enum { PREDICTED = 2, COND = 1 << 20, CALL = 4 << 20 };
#define CYCLES(n) ((uint64_t)(n) << 4)

static void history_begin(struct recording *r)
{
	recording_begin_as(r, true);
	recording_sample_types(r, 0, PERF_SAMPLE_BRANCH_STACK);
	recording_comm(r, 10, 12, 12, "sh", false);
}

/* A sample at A with the chain A, E. */
static void history_sample(struct recording *r, uint64_t time_ns, const uint64_t (*entries)[3],
			   uint64_t nr)
{
	size_t at = recording_open(r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	recording_u64(r, 1);
	recording_u64(r, A);
	recording_u32s(r, 12, 12);
	recording_u64(r, time_ns);
	recording_u32s(r, 1, 0);
	recording_u64(r, 3);
	recording_u64(r, (uint64_t)PERF_CONTEXT_USER);
	recording_u64(r, A);
	recording_u64(r, E);
	recording_u64(r, nr);
	recording_put(r, entries, nr * sizeof(*entries));
	recording_close(r, at);
}

static struct sonde_profile *history_profile(struct recording *r, const char *compat)
{
	struct sonde_session *s;
	struct sonde_profile *p;
	char session[160];

	history_begin(r);
	history_sample(r, 20,
		       (const uint64_t[][3]){ { B, A, PREDICTED | COND | CYCLES(4) },
					      { D, C, CALL | CYCLES(1) } },
		       2);
	history_sample(r, 21,
		       (const uint64_t[][3]){ { B, A, COND | CYCLES(8) },
					      { D, C, PREDICTED | CALL | CYCLES(1) } },
		       2);
	snprintf(session, sizeof(session),
		 "input=%s\nkallsyms=/dev/null\nno-follow=1\nforce=1\ncompat=%s\n",
		 recording_finish(r), compat);
	if (sonde_session_open(&s, session, NULL) < 0 ||
	    sonde_profile_new(&p, "keys=comm\ncallgraph=callee\nbranch-history=1\n", "test") < 0 ||
	    sonde_profile_read(p, s) < 0 || sonde_profile_finish(p) < 0)
		fail_msg("%s", sonde_error_text());
	sonde_session_close(s);
	return p;
}

/* Checks the addresses of the only run of frames. */
static void history_check_frames(const char *compat, const uint64_t *ips, uint32_t nr)
{
	struct sonde_profile_node node = { .size = sizeof(node) };
	struct sonde_profile_place place = { .size = sizeof(place) };
	struct recording r;
	struct sonde_profile *p = history_profile(&r, compat);
	uint32_t root;

	assert_int_equal(sonde_profile_tree(p, 0, 0, &root), 1);
	assert_int_equal(sonde_profile_node(p, root, &node), 1);
	assert_int_equal(node.nr_frames, nr);
	for (uint32_t i = 0; i < nr; i++) {
		assert_int_equal(sonde_profile_place(p, node.frames[i], &place), 1);
		assert_int_equal(place.ip, ips[i]);
	}
	sonde_profile_free(p);
	recording_done(&r);
}

/* perf drops as many entries of the chain, with its marker, as there are branches. */
TEST(history_chain)
{
	history_check_frames("none", (const uint64_t[]){ A, B, C, D, A, E }, 6);
	history_check_frames("perf-6.1", (const uint64_t[]){ A, B, C, D }, 4);
}

TEST(history_counts)
{
	struct sonde_profile_branches b = { .size = sizeof(b) };
	struct recording r;
	struct sonde_profile *p = history_profile(&r, "none");
	uint32_t root;

	assert_int_equal(sonde_profile_tree(p, 0, 0, &root), 1);
	assert_int_equal(sonde_profile_branches(p, root, 0, &b), 1);
	assert_true(b.is_target);
	assert_int_equal(b.branches, 2);
	assert_int_equal(b.predicted, 1);
	assert_int_equal(b.backward, 2);
	assert_int_equal(b.cross_4k, 2);
	assert_int_equal(b.types[1], 2);
	assert_int_equal(sonde_profile_branches(p, root, 1, &b), 1);
	assert_false(b.is_target);
	assert_int_equal(b.cycles, 12);
	assert_int_equal(b.sources, 2);
	assert_int_equal(sonde_profile_branches(p, root, 4, &b), 1);
	assert_int_equal(b.branches, 0);
	assert_int_equal(sonde_profile_branches(p, root, 6, &b), 0);
	sonde_profile_free(p);
	recording_done(&r);
}

TEST(history_settings)
{
	struct sonde_profile *p;

	assert_int_equal(sonde_profile_new(&p, "branch-history=1\n", "test"), -EINVAL);
	assert_int_equal(sonde_profile_new(&p, "blocks=1\n", "test"), -EINVAL);
}
