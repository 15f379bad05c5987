/* SPDX-License-Identifier: MIT */
/* What handlers and aggregations need, over the recording of the demo. */
#include "unittest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prelude/needs.h"
#include "prelude/record_line.h"

/* words: what, text, ...; ends with NULL. */
static struct prelude_needs *needs_made(const char *const *words)
{
	struct prelude_needs *n = prelude_needs_new();

	assert_non_null(n);
	for (; *words; words += 2)
		assert_int_equal(prelude_needs_put(n, words[0], words[1]), 0);
	return n;
}

#define NEEDS(...) needs_made((const char *const[]){ "own", "time", __VA_ARGS__, NULL })

static struct sonde_session *demo(struct prelude_needs *n)
{
	struct sonde_session *s;
	char text[4096];

	snprintf(text, sizeof(text), "input=%s\n", getenv("SONDE_DEMO_DATA"));
	assert_int_equal(sonde_session_open(&s, text, NULL), 0);
	assert_int_equal(prelude_needs_learn(n, s), 0);
	return s;
}

static void assert_lines(struct prelude_needs *n, const char *expected)
{
	char *lines = prelude_needs_lines(n);

	assert_string_equal(lines, expected);
	free(lines);
}

static void assert_settings(struct prelude_needs *n, const char *expected)
{
	char *settings = prelude_needs_settings(n);

	assert_string_equal(settings, expected);
	free(settings);
	prelude_needs_free(n);
}

/* NULL: nothing is wrong. */
static void assert_wrong(struct prelude_needs *n, const char *text)
{
	struct sonde_session *s = demo(n);

	assert_int_equal(prelude_needs_check_users(n), text ? 1 : 0);
	assert_string_equal(prelude_needs_text(n), text ? text : "");
	prelude_needs_free(n);
	sonde_session_close(s);
}

TEST(patterns_name_types)
{
	assert_true(prelude_names("sched:sched_switch", "sched:sched_switch"));
	assert_true(prelude_names("sched_switch", "sched:sched_switch"));
	assert_true(prelude_names("sched_*", "sched:sched_switch"));
	assert_false(prelude_names("sched", "sched:sched_switch"));
	assert_true(prelude_names("*", "sched:sched_switch"));
	assert_true(prelude_names("cycles", "cycles:u"));
	assert_false(prelude_names("cycles:k", "cycles:u"));
	assert_true(prelude_names("pair(a:b,c:d)", "pair(a:b,c:d)"));
	assert_false(prelude_names("*", "pair(a:b,c:d)"));
	assert_false(prelude_names("pair(a:b,c:d)", "a:b"));
}

TEST(occurrences)
{
	static const char *const names[][2] = {
		{ "page-faults", "page-faults/period=1,name=page-faults/" },
		{ "page-faults:u", "page-faults/period=1,name=page-faults:u/u" },
		{ "cpu-clock", "cpu-clock" },
		{ "task-clock:u", "task-clock:u" },
		{ "no-such", "no-such" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *name = prelude_each_occurrence(names[i][0]);

		assert_string_equal(name, names[i][1]);
		free(name);
	}
	assert_string_equal(prelude_clocked("cpu-clock"), "cpu-clock");
	assert_string_equal(prelude_clocked("cycles2"), "cycles2");
}

TEST(lines_and_settings)
{
	struct prelude_needs *n = NEEDS("handler", "f()", "event", "a:b", "event", "pair(a:b,c:d)",
					"aggregate", "count()", "event", "a:b", "event", "x");

	assert_lines(n, "pair=a:b,c:d\nevent=a:b,pair(a:b,c:d),x\n");
	assert_int_equal(prelude_needs_put(n, "lost", ""), 0);
	assert_lines(n, "pair=a:b,c:d\nevents=all\nevent=a:b,pair(a:b,c:d),x\n");
	assert_settings(n, "");
	n = NEEDS("lost", "");
	assert_lines(n, "events=all\n");
	assert_int_equal(prelude_needs_put(n, "event", "a:b"), -EINVAL); /* nobody's */
	assert_int_equal(prelude_needs_put(n, "aggregate", "count()"), 0);
	assert_int_equal(prelude_needs_put(n, "nothing", "x"), -EINVAL);
	prelude_needs_free(n);
	assert_settings(NEEDS("handler", "f()", "event", "a:b", "callchain", ""),
			"call-graph=fp\n");
	assert_settings(NEEDS("aggregate", "count()", "event", "x", "key", "addr", "key", "cgroup",
			      "key", "kstack"),
			"call-graph=fp\nall-cgroups=1\ndata=1\n");
	assert_settings(NEEDS("aggregate", "count()", "event", "a:bcd", "key", "addr"), "");
}

TEST(fields_are_checked)
{
	assert_wrong(NEEDS("handler", "x:1: f()", "event", "sched:sched_switch", "field",
			   "next_pid", "field", "time"),
		     NULL);
	assert_wrong(
		NEEDS("handler", "x:1: f()", "event", "sched:sched_switch", "field", "next_pdi"),
		"x:1: f(): sched:sched_switch has no field 'next_pdi'; did you mean "
		"'next_pid'?");
	assert_wrong(NEEDS("aggregate", "sum()", "event", "sched:*", "field", "prev_comm", "key",
			   "f_pid"),
		     NULL);
	assert_wrong(NEEDS("aggregate", "sum()", "event", "sched:*", "field", "zzzzz"),
		     "sum(): no event of 'sched:*' has a field 'zzzzz'");
	assert_wrong(NEEDS("aggregate", "count()", "event", "sched:*", "condition",
			   "comm == \"x\" && zzzzz > 0"),
		     "count(): 'comm == \"x\" && zzzzz > 0': no event of 'sched:*' has a field "
		     "'zzzzz'");
	/* the kernel is asked about these */
	assert_wrong(NEEDS("aggregate", "count()", "event", "sched:sched_switch", "condition",
			   "zzzzz > 0"),
		     NULL);
	assert_wrong(NEEDS("aggregate", "count()", "event", "sched:sched_switch", "key", "addr"),
		     "count(): sched:sched_switch has no field 'addr': it was recorded without "
		     "addresses (-d)");
}

TEST(what_handlers_cannot_take_is_reported_once)
{
	struct prelude_needs *n =
		NEEDS("handler", "f()", "event", "*", "field", "next_pid", "field", "prev_pid");
	struct sonde_session *s = demo(n);
	const char *line;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(prelude_needs_check_users(n), 0);
		line = prelude_needs_line(n);
		assert_true(i == (line == NULL));
		if (line) {
			assert_true(!strncmp(line, "f(): not called for ", 20));
			assert_non_null(strstr(line, "of '*', which have no field 'next_pid': "));
		}
		assert_null(prelude_needs_line(n));
	}
	prelude_needs_free(n);
	sonde_session_close(s);
}

TEST(kernel_filters)
{
	struct prelude_needs *n =
		NEEDS("given", "c:ddd", "handler", "f()", "event", "a:bcd", "condition", "x > 0",
		      "handler", "g()", "event", "a:bcd", "condition", "y > 0", "handler", "h()",
		      "event", "c:ddd", "condition", "x > 0", "handler", "i()", "event",
		      "pair(a:xyz,a:zyx)", "condition", "ns > 0");
	static const char *const expected[][2] = { { "c:ddd", NULL },
						   { "a:bcd", "(x > 0) || (y > 0)" },
						   { "a:xyz", NULL },
						   { "a:zyx", NULL } };
	struct prelude_wants *w;

	assert_int_equal(prelude_needs_wants(n, &w), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(prelude_wants_at(w, i)->name, expected[i][0]);
		if (expected[i][1])
			assert_string_equal(prelude_wants_at(w, i)->condition, expected[i][1]);
		else
			assert_null(prelude_wants_at(w, i)->condition);
	}
	assert_null(prelude_wants_at(w, 4));
	prelude_wants_free(w);
	prelude_needs_free(n);
	n = NEEDS("aggregate", "count()", "event", "a:*", "condition", "x >");
	assert_int_equal(prelude_needs_wants(n, &w), -EINVAL);
	prelude_needs_free(n);
}

TEST(names_of_lists)
{
	static const struct {
		const char *list;
		size_t len;
	} lists[] = { { "a,b", 1 },         { "", 0 },
		      { ",a", 0 },          { "pair(a:b,c:d),x", 13 },
		      { "{a,b}:u,x", 7 },   { "cpu/a=1,b=2/u,x", 13 },
		      { "cpu/a=(1,b", 10 }, { "a),b", 2 } };

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		assert_int_equal(prelude_name_length(lists[i].list), lists[i].len);
}

TEST(the_line_of_sonde_record)
{
	static const struct sonde_record_event events[] = { { .events = "a:b" },
							    { .filter = "x > 'y'" },
							    { .cgroup = "g" } };
	static const char *const command[] = { "sh", "-c", "", NULL };
	const struct sonde_record_options r = {
		.size = sizeof(r),
		.events = events,
		.nr_events = 3,
		.settings =
			"\ncall-graph=\ncall-graph=fp\nmmap-pages=8M\ndata=1\ndata=1\n=x\nall\n",
		.command = command,
	};
	const struct sonde_record_options none = { .size = sizeof(none) };
	char *line = prelude_record_line(&r, "a b");

	assert_string_equal(line,
			    "sonde record -g --call-graph=fp --mmap-pages=8M --data --all -o 'a b' "
			    "-e a:b --filter 'x > '\"'\"'y'\"'\"'' -G g -- sh -c ''");
	free(line);
	line = prelude_record_line(&none, NULL);
	assert_string_equal(line, "sonde record");
	free(line);
}
