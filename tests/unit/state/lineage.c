/* SPDX-License-Identifier: MIT */
/*
 * The rules of state/lineage.h, seen in calls of its hooks, and its table of the holders of
 * numbers.
 */
#include "unittest.h"

#include <string.h>

#include "state/lineage.h"

/* ---- the rules ---- */

static char calls[128];

static void add(const char *what, int32_t number)
{
	snprintf(calls + strlen(calls), sizeof(calls) - strlen(calls), "%s%s %d",
		 *calls ? ", " : "", what, number);
}

static int forked(void *user, const struct change *c, enum lineage_maps maps)
{
	static const char *const names[] = { [LINEAGE_SHARES] = "thread",
					     [LINEAGE_INHERITS] = "process",
					     [LINEAGE_DESCRIBED] = "described" };

	assert_ptr_equal(user, calls);
	add(names[maps], c->tid);
	return 0;
}

static int named(void *user, const struct change *c)
{
	(void)user;
	add("name", c->tid);
	return c->tid == 13 ? -EINVAL : 0;
}

static int execed(void *user, const struct change *c)
{
	(void)user;
	add("exec", c->pid);
	return 0;
}

static int mapped(void *user, const struct change *c)
{
	(void)user;
	add("map", c->pid);
	return 0;
}

static int ended(void *user, const struct change *c, bool is_process)
{
	(void)user;
	add(is_process ? "process ends" : "task ends", c->tid);
	return 0;
}

static const char *hooks_of(struct change c)
{
	static const struct lineage_ops none = { 0 }, all = {
		.fork = forked,
		.name = named,
		.exec = execed,
		.map = mapped,
		.exit = ended,
	};
	int r;

	*calls = '\0';
	assert_int_equal(lineage_apply(&none, calls, &c), 0);
	r = lineage_apply(&all, calls, &c);
	assert_int_equal(r, c.tid == 13 ? -EINVAL : 0);
	return calls;
}

#define TOLD(k, p, t, ...) \
	hooks_of((struct change){ .kind = CHANGE_##k, .pid = p, .tid = t, ##__VA_ARGS__ })

TEST(rules)
{
	assert_string_equal(TOLD(FORK, 5, 5, .ppid = 4, .ptid = 4), "process 5");
	assert_string_equal(TOLD(FORK, 5, 6, .ppid = 5, .ptid = 5), "thread 6");
	assert_string_equal(TOLD(FORK, 5, 5, .ppid = 4, .ptid = 4, .exec = true), "described 5");
	assert_string_equal(TOLD(FORK, 5, 6, .ppid = 5, .ptid = 5, .exec = true), "thread 6");
	assert_string_equal(TOLD(COMM, 5, 6), "name 6");
	assert_string_equal(TOLD(COMM, 5, 6, .exec = true), "name 6, exec 5");
	assert_string_equal(TOLD(COMM, 13, 13, .exec = true), "name 13");
	assert_string_equal(TOLD(COMM, 5, 6, .exec = true, .is_untimed = true), "name 6");
	assert_string_equal(TOLD(MMAP, 5, 5), "map 5");
	assert_string_equal(TOLD(MMAP, -1, 0, .kernel = true), "");
	assert_string_equal(TOLD(EXIT, 5, 5), "process ends 5");
	assert_string_equal(TOLD(EXIT, 5, 6), "task ends 6");
	assert_string_equal(TOLD(EXIT, 0, 0), "task ends 0");
	assert_string_equal(TOLD(EXIT, -1, -1), "task ends -1");
	assert_string_equal(TOLD(CGROUP, 5, 5), "");
}

/* ---- the table ---- */

enum { KEPT = 2 };
static int a, b, c; /* payloads */

static void *end(struct lineage *l, int32_t number)
{
	void *gone = l;

	assert_int_equal(lineage_end(l, number, KEPT, &gone), 0);
	return gone;
}

TEST(a_payload_outlives_the_exit)
{
	struct lineage l = { 0 };

	assert_null(lineage_payload(&l, 1));
	assert_int_equal(lineage_put(&l, 1, &a), 0);
	assert_int_equal(lineage_put(&l, -1, &b), 0);
	assert_ptr_equal(lineage_payload(&l, 1), &a);
	assert_ptr_equal(lineage_payload(&l, -1), &b);
	assert_int_equal(lineage_put(&l, 1, &c), 0);
	assert_false(lineage_find(&l, 1)->has_ended);
	assert_null(end(&l, 1));
	assert_true(lineage_find(&l, 1)->has_ended);
	assert_ptr_equal(lineage_payload(&l, 1), &c);
	/* exits of numbers without payload count, too */
	assert_null(end(&l, 70));
	assert_ptr_equal(end(&l, 71), &c);
	assert_null(lineage_payload(&l, 1));
	assert_null(end(&l, 72));
	assert_ptr_equal(lineage_payload(&l, -1), &b);
	lineage_done(&l);
}

TEST(a_number_is_used_again)
{
	struct lineage l = { 0 };

	lineage_begin(&l, 1); /* not in the table */
	assert_int_equal(lineage_put(&l, 1, &a), 0);
	assert_null(end(&l, 1));
	lineage_begin(&l, 1);
	assert_false(lineage_find(&l, 1)->has_ended);
	assert_ptr_equal(lineage_payload(&l, 1), &a);
	for (int32_t other = 70; other < 80; other++)
		assert_null(end(&l, other));
	assert_ptr_equal(lineage_payload(&l, 1), &a);
	assert_null(end(&l, 1));
	assert_null(end(&l, 70));
	assert_ptr_equal(end(&l, 71), &a);
	/* a task that ended before any other record of it */
	assert_null(end(&l, 2));
	lineage_begin(&l, 2);
	assert_int_equal(lineage_put(&l, 2, &b), 0);
	assert_null(end(&l, 70));
	assert_null(end(&l, 71));
	assert_ptr_equal(lineage_payload(&l, 2), &b);
	lineage_done(&l);
}

/* Numbers that are not kept share entries, however many there are. */
TEST(numbers_that_ended_take_no_entry)
{
	struct lineage l = { 0 };

	for (int32_t number = 1; number < 100; number++) {
		assert_int_equal(lineage_put(&l, number, &a), 0);
		assert_ptr_equal(end(&l, number), number > KEPT ? &a : NULL);
	}
	assert_int_equal(l.lives.n, KEPT + 1);
	assert_null(lineage_find(&l, 1));
	assert_true(lineage_has_ended(&l, 1));
	assert_false(lineage_has_ended(&l, 1000));
	/* only a payload is found ... */
	assert_int_equal(lineage_put(&l, 1, &b), 0);
	assert_true(lineage_has_ended(&l, 1));
	/* ... unless another one has the number */
	lineage_begin(&l, 2);
	assert_false(lineage_has_ended(&l, 2));
	assert_int_equal(lineage_put(&l, 2, &c), 0);
	assert_false(lineage_has_ended(&l, 2));
	/* a repeated exit ends one holder, not the next one */
	assert_ptr_equal(end(&l, 3), &a);
	assert_ptr_equal(end(&l, 3), &a);
	lineage_begin(&l, 3);
	assert_int_equal(lineage_put(&l, 3, &b), 0);
	assert_null(end(&l, 70));
	assert_null(end(&l, 71));
	assert_ptr_equal(lineage_payload(&l, 3), &b);
	lineage_done(&l);
}

TEST(numbers_without_a_payload_leave_the_table)
{
	struct lineage l = { 0 };

	assert_int_equal(lineage_compact(&l), 0);
	assert_int_equal(lineage_put(&l, 1, &a), 0);
	assert_int_equal(lineage_put(&l, 2, NULL), 0);
	assert_int_equal(lineage_put(&l, 3, &c), 0);
	lineage_find(&l, 3)->has_ended = true;
	assert_int_equal(lineage_compact(&l), 0);
	assert_int_equal(l.lives.n, 2);
	assert_ptr_equal(lineage_payload(&l, 1), &a);
	assert_null(lineage_find(&l, 2));
	assert_ptr_equal(lineage_payload(&l, 3), &c);
	assert_true(lineage_find(&l, 3)->has_ended);
	lineage_done(&l);
}
