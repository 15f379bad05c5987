/* SPDX-License-Identifier: MIT */
/*
 * Records of state that are kept for later events (sinks/perf/liveness.h). They give the same names
 * and mappings of living tasks as all records do, and their number is limited.
 */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>

#include "sinks/perf/liveness.h"
#include "state/state.h"

enum { TIDS = 12, PLACES = 6, PAGE = 0x1000 };

/* A record of the list. The list does not look at its bytes. */
struct record {
	uint32_t type;
	uint16_t misc, size;
	struct change change;
};

static const char *const names[] = { "a", "b", "c", "d", "e" };

static unsigned long long seed;

static unsigned upto(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* ---- two readers ----------------------------------------------------------------------------- */

static struct strpool strings;

static void give(struct liveness *a, struct state *whole, struct change c)
{
	struct record r;

	memset(&r, 0, sizeof(r));
	r.change = c;
	assert_int_equal(liveness_add(a, &c, (const uint8_t *)&r, sizeof(r), 0), 0);
	if (whole)
		assert_int_equal(state_apply(whole, &c), 0);
}

static const char *mapped(struct state *s, int32_t pid, uint64_t addr)
{
	struct address_space *space = state_space(s, pid);
	const struct mapping *m = space ? address_space_find(space, addr) : NULL;

	return m ? strpool_text(&strings, m->name) : "";
}

static void compare(struct liveness *a, struct state *whole, const bool *lives, const int32_t *pids)
{
	const struct liveness_record *r;
	struct state part;
	uint32_t ids[2];

	assert_int_equal(state_init(&part, &strings), 0);
	liveness_rewind(a);
	while ((r = liveness_next(a)) != NULL) {
		struct record copy;

		memcpy(&copy, r->bytes, sizeof(copy));
		assert_int_equal(state_apply(&part, &copy.change), 0);
	}
	for (int32_t tid = 1; tid < TIDS; tid++) {
		if (!lives[tid])
			continue;
		assert_int_equal(state_comm(whole, pids[tid], tid, &ids[0]), 0);
		assert_int_equal(state_comm(&part, pids[tid], tid, &ids[1]), 0);
		assert_string_equal(strpool_text(&strings, ids[0]), strpool_text(&strings, ids[1]));
		for (uint64_t addr = PAGE / 2; addr < PLACES * PAGE; addr += PAGE)
			assert_string_equal(mapped(whole, pids[tid], addr),
					    mapped(&part, pids[tid], addr));
	}
	state_done(&part);
}

/* ---- what happens ---------------------------------------------------------------------------- */

static void happen(struct liveness *a, struct state *whole, bool *lives, int32_t *pids)
{
	int32_t tid = 1 + (int32_t)upto(TIDS - 1), child;
	struct change c = { .pid = pids[tid], .tid = tid };

	if (!lives[tid])
		return;
	switch (upto(8)) {
	case 0:
	case 1:
		for (child = 1; child < TIDS && lives[child];)
			child++;
		if (child == TIDS)
			return;
		pids[child] = upto(3) ? child : pids[tid];
		lives[child] = true;
		c = (struct change){
			.kind = CHANGE_FORK,
			.pid = pids[child],
			.tid = child,
			.ppid = pids[tid],
			.ptid = tid,
		};
		break;
	case 2:
		/* A process that ends takes its threads with it. */
		for (int32_t other = 1; other < TIDS; other++)
			if (other != tid && lives[other] && pids[other] == tid)
				return;
		if (tid == 1)
			return;
		c.kind = CHANGE_EXIT;
		lives[tid] = false;
		break;
	case 3:
	case 4:
		c.kind = CHANGE_COMM;
		c.text = names[upto(5)];
		c.exec = pids[tid] == tid && !upto(3);
		break;
	default:
		c.kind = CHANGE_MMAP;
		c.tid = c.pid;
		c.start = (uint64_t)upto(PLACES - 1) * PAGE;
		c.len = (1 + upto(4)) * PAGE;
		c.executable = true;
		c.text = names[upto(5)];
	}
	give(a, whole, c);
}

TEST(what_lives_is_known_from_what_is_kept)
{
	for (unsigned long long s = 1; s <= 300; s++) {
		bool lives[TIDS] = { false, true };
		int32_t pids[TIDS] = { 0, 1 };
		struct state whole;
		struct liveness *a = calloc(1, sizeof(*a));

		assert_non_null(a);
		seed = s;
		assert_int_equal(strpool_init(&strings), 0);
		assert_int_equal(state_init(&whole, &strings), 0);
		whole.marks_exec = true;
		for (int i = 0; i < 400; i++) {
			happen(a, &whole, lives, pids);
			if (!upto(10))
				compare(a, &whole, lives, pids);
		}
		liveness_done(a);
		free(a);
		state_done(&whole);
		strpool_done(&strings);
	}
}

/* ---- nothing grows --------------------------------------------------------------------------- */

static size_t kept(const struct liveness *a)
{
	size_t n = 0;

	for (const struct liveness_record *r = a->first; r; r = r->next)
		n++;
	return n;
}

/*
 * A long-lived shell: it forks, the child calls exec and ends, the shell maps files and changes its
 * name.
 */
TEST(one_that_forks_for_ever)
{
	struct liveness *a = calloc(1, sizeof(*a));
	const struct liveness_record *last;
	const struct liveness_task *shell;

	assert_non_null(a);
	give(a, NULL, (struct change){ .kind = CHANGE_COMM, .pid = 1, .tid = 1, .text = "sh" });
	for (int32_t i = 0; i < 50000; i++) {
		int32_t child = 2 + i % 30000;

		give(a, NULL,
		     (struct change){
			     .kind = CHANGE_FORK,
			     .pid = child,
			     .tid = child,
			     .ppid = 1,
			     .ptid = 1,
		     });
		give(a, NULL,
		     (struct change){
			     .kind = CHANGE_MMAP,
			     .pid = 1,
			     .tid = 1,
			     .start = (uint64_t)(i % 3) * PAGE,
			     .len = PAGE,
			     .text = "x",
		     });
		give(a, NULL,
		     (struct change){ .kind = CHANGE_COMM, .pid = 1, .tid = 1, .text = "sh" });
		if (i % 10) /* the others have their parent's name until they end */
			give(a, NULL,
			     (struct change){
				     .kind = CHANGE_COMM,
				     .pid = child,
				     .tid = child,
				     .text = "ls",
				     .exec = true,
			     });
		give(a, NULL,
		     (struct change){
			     .kind = CHANGE_EXIT,
			     .pid = child,
			     .tid = child,
			     .ppid = 1,
			     .ptid = 1,
		     });
	}
	/*
	 * Kept are FORK, COMM and EXIT of the last LIVENESS_EXITED children, and the parent's
	 * records that a tenth of them need.
	 */
	assert_in_range(kept(a), 1, LIVENESS_EXITED * 3 + LIVENESS_EXITED);
	shell = lineage_payload(&a->tasks, 1);
	assert_in_range(shell->nr_records, 1, LIVENESS_EXITED);
	a->once = true;
	while ((last = liveness_next(a)) != NULL)
		;
	assert_int_equal(kept(a), 0);
	liveness_done(a);
	free(a);
}

/*
 * A smaller mapping leaves a part of the mapping below it. That record is kept until it is covered.
 */
TEST(mappings_of_changing_size)
{
	struct liveness *a = calloc(1, sizeof(*a));

	assert_non_null(a);
	for (int i = 0; i < 1000; i++) {
		struct change c = { .kind = CHANGE_MMAP, .pid = 1, .tid = 1, .text = "x" };

		c.len = (uint64_t)(4 - i % 3) * PAGE;
		give(a, NULL, c);
		assert_in_range(kept(a), 1, 3);
	}
	liveness_done(a);
	free(a);
}

TEST(subjects)
{
	static const uint8_t bodies[][4] = { "one", "two" };
	struct liveness *a = calloc(1, sizeof(*a));

	assert_non_null(a);
	for (int i = 0; i < 1000; i++) {
		/* The recorder writes the same record again and again. */
		assert_int_equal(
			liveness_add_subject(a, &(struct liveness_subject){ .id = 1, .adds = true },
					     bodies[0], 4, 0),
			0);
		/* A record with other bytes replaces the one before. */
		assert_int_equal(liveness_add_subject(a, &(struct liveness_subject){ .id = 2 },
						      bodies[i % 2], 4, 0),
				 0);
	}
	assert_int_equal(kept(a), 2);
	assert_int_equal(liveness_add_subject(a,
					      &(struct liveness_subject){ .id = 1, .adds = true },
					      bodies[1], 4, 0),
			 0);
	assert_int_equal(kept(a), 3);
	/* A smaller mapping leaves a part of the larger one. */
	for (uint64_t bytes = 3; bytes; bytes--)
		assert_int_equal(liveness_add_subject(
					 a,
					 &(struct liveness_subject){ .id = 3, .map_bytes = bytes },
					 bodies[0], 4, 0),
				 0);
	assert_int_equal(kept(a), 6);
	/* An end is written once, into the current file. */
	assert_int_equal(liveness_add_subject(a,
					      &(struct liveness_subject){ .id = 2, .ends = true },
					      bodies[0], 4, 0),
			 0);
	assert_int_equal(kept(a), 6);
	while (liveness_next(a))
		;
	assert_int_equal(kept(a), 5);
	liveness_done(a);
	free(a);
}
