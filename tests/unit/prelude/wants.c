/* SPDX-License-Identifier: MIT */
/* What a program of handlers records. */
#include "unittest.h"

#include <string.h>

#include "prelude/wants.h"

static void assert_want(const struct prelude_wants *w, size_t i, const char *name,
			const char *condition)
{
	const struct prelude_want *want = prelude_wants_at(w, i);

	assert_non_null(want);
	assert_string_equal(want->name, name);
	if (condition)
		assert_string_equal(want->condition, condition);
	else
		assert_null(want->condition);
}

TEST(kinds_of_names)
{
	assert_true(prelude_is_pair("pair(a:b,a:c,tid)"));
	assert_false(prelude_is_pair("pair:x"));
	assert_true(prelude_is_glob("sched:*"));
	assert_true(prelude_is_glob("sched:sched_[ab]"));
	assert_false(prelude_is_glob("*"));
	assert_false(prelude_is_glob("cpu:x/event=*/"));
	assert_true(prelude_is_tracepoint("sched:sched_switch"));
	assert_true(prelude_is_tracepoint("sched:*"));
	assert_false(prelude_is_tracepoint("cpu-clock"));
	assert_false(prelude_is_tracepoint("cpu-clock:u"));
	assert_false(prelude_is_tracepoint("cpu-clock:"));
	assert_false(prelude_is_tracepoint("pfm:INSTRUCTIONS"));
	assert_false(prelude_is_tracepoint("mem:0x1000/4:rw"));
	assert_false(prelude_is_tracepoint("{a:b,c:d}"));
	assert_true(prelude_is_tracepoint("memory:x"));
	assert_true(prelude_is_like("sched:sched_[!ab]*", "sched:sched_switch"));
	assert_false(prelude_is_like("sched:*", "syscalls:sys_enter_read"));
}

TEST(conditions_of_a_name_are_alternatives)
{
	struct prelude_wants *w = prelude_wants_new();

	assert_int_equal(prelude_wants_add(w, "a:one", "x > 0"), 0);
	assert_int_equal(prelude_wants_add(w, "a:two", "x > 0"), 0);
	assert_int_equal(prelude_wants_add(w, "a:three", "y == 1"), 0);
	assert_int_equal(prelude_wants_add(w, "a:one", "x == 7"), 0);
	assert_int_equal(prelude_wants_add(w, "a:one", "x > 0"), 0);
	assert_int_equal(prelude_wants_add(w, "a:three", NULL), 0);
	assert_int_equal(prelude_wants_merge(w), 0);
	assert_want(w, 0, "a:one", "(x > 0) || (x == 7)");
	assert_want(w, 1, "a:two", "x > 0");
	assert_want(w, 2, "a:three", NULL);
	assert_null(prelude_wants_at(w, 3));
	prelude_wants_free(w);
}

TEST(a_pattern_takes_the_names_that_it_covers)
{
	struct prelude_wants *w = prelude_wants_new();

	assert_int_equal(prelude_wants_add(w, "a:one", NULL), 0);
	assert_int_equal(prelude_wants_add(w, "a:*", "x > 0"), 0);
	assert_int_equal(prelude_wants_add(w, "b:one", "x > 0"), 0);
	assert_int_equal(prelude_wants_merge(w), 0);
	assert_want(w, 0, "a:*", NULL);
	assert_want(w, 1, "b:one", "x > 0");
	assert_null(prelude_wants_at(w, 2));
	prelude_wants_free(w);
}

TEST(patterns_that_overlap_become_names)
{
	struct prelude_wants *w = prelude_wants_new();
	char **known = prelude_tracepoints();
	const struct prelude_want *want;
	size_t n = 0;

	assert_non_null(known);
	if (!known[0]) { /* no right to read their names */
		prelude_tracepoints_free(known);
		prelude_wants_free(w);
		return;
	}
	assert_int_equal(prelude_wants_add(w, "sched:sched_s*", "x > 0"), 0);
	assert_int_equal(prelude_wants_add(w, "sched:*_switch", NULL), 0);
	assert_int_equal(prelude_wants_merge(w), 0);
	for (; (want = prelude_wants_at(w, n)); n++) {
		assert_null(strchr(want->name, '*'));
		if (!strcmp(want->name, "sched:sched_switch"))
			assert_null(want->condition);
		else
			assert_string_equal(want->condition, "x > 0");
		for (size_t i = 0; i < n; i++)
			assert_string_not_equal(prelude_wants_at(w, i)->name, want->name);
	}
	assert_true(n > 1);
	prelude_tracepoints_free(known);
	prelude_wants_free(w);
}
