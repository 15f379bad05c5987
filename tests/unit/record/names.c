/* SPDX-License-Identifier: MIT */
/* Names of events, lists of cpus, similar names, mistakes in filters. */

#include <linux/perf_event.h>
#include <string.h>

#include "base/near.h"
#include "capture/cpus.h"
#include "capture/events.h"
#include "capture/filter.h"
#include "capture/names.h"
#include "unittest.h"

static uint64_t config_of(const char *name, uint32_t type)
{
	uint32_t got_type;
	uint64_t config;

	assert_int_equal(capture_name_lookup(name, &got_type, &config), 0);
	assert_int_equal(got_type, type);
	return config;
}

TEST(software_and_hardware_names)
{
	assert_int_equal(config_of("cs", PERF_TYPE_SOFTWARE), 3);
	assert_int_equal(config_of("context-switches", PERF_TYPE_SOFTWARE), 3);
	assert_int_equal(config_of("cgroup-switches", PERF_TYPE_SOFTWARE), 11);
	assert_int_equal(config_of("cpu-cycles", PERF_TYPE_HARDWARE), 0);
	assert_int_equal(config_of("idle-cycles-backend", PERF_TYPE_HARDWARE), 8);
	assert_int_equal(config_of("r1A8", PERF_TYPE_RAW), 0x1a8);
	assert_int_equal(config_of("rffffffffffffffff", PERF_TYPE_RAW), UINT64_MAX);
}

TEST(cache_names)
{
	assert_int_equal(config_of("L1-dcache-loads", PERF_TYPE_HW_CACHE), 0);
	assert_int_equal(config_of("L1-dcache-load-misses", PERF_TYPE_HW_CACHE), 0x10000);
	assert_int_equal(config_of("LLC-stores", PERF_TYPE_HW_CACHE), 0x102);
	assert_int_equal(config_of("LLC-misses", PERF_TYPE_HW_CACHE), 0x10002);
	assert_int_equal(config_of("dTLB-prefetch-misses", PERF_TYPE_HW_CACHE), 0x10203);
	assert_int_equal(config_of("node-speculative-read-access", PERF_TYPE_HW_CACHE), 0x206);
	assert_int_equal(config_of("branch-load-misses", PERF_TYPE_HW_CACHE), 0x10005);
}

TEST(names_of_another_kind)
{
	static const char *const others[] = {
		"",     "r",     "rx",          "rfffffffffffffffff", "nosuch",
		"LLC-", "LLC-x", "iTLB-stores", "LLC-loads-loads",    "LLC-misses-miss",
		"cs2",  "l1"
	};
	uint32_t type;
	uint64_t config;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_equal(capture_name_lookup(others[i], &type, &config), -ENOENT);
}

static const struct capture_event *first(struct capture_events *l, const char *text)
{
	assert_int_equal(capture_events_add(l, text), 0);
	return &l->list.v[l->last_add];
}

TEST(lists_and_modifiers)
{
	struct capture_events l = { 0 };
	const struct capture_event *e = first(&l, "cs:u, faults:kH,cpu-clock:pp");

	assert_int_equal(l.list.n, 3);
	assert_string_equal(e[0].name, "cs:u");
	assert_true(e[0].attr.exclude_kernel && e[0].attr.exclude_hv && !e[0].attr.exclude_user);
	assert_true(e[0].attr.exclude_guest && e[0].chose_levels);
	assert_string_equal(e[1].name, "faults:kH");
	assert_true(e[1].attr.exclude_user && !e[1].attr.exclude_kernel && e[1].attr.exclude_guest);
	assert_int_equal(e[2].attr.precise_ip, 2);
	e = first(&l, "cs:G");
	assert_true(e->attr.exclude_host && !e->attr.exclude_guest);
	assert_int_equal(l.last_add, 3);
	e = first(&l, "cs");
	assert_true(!e->attr.exclude_host && e->attr.exclude_guest && !e->chose_levels);
	capture_events_done(&l);
}

TEST(bad_events_are_refused_with_a_reason)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "no event is named" },
		{ " ", "no event is named" },
		{ ",,", "without a name" },
		{ "cs,", "without a name" },
		{ ":u", "without a name" },
		{ "cs:uz", "'z' is not a modifier" },
		{ "cs:pppp", "at most ppp" },
		{ "cs:uu", "'u' is given twice" },
		{ "cs:", "no modifier" },
		{ "cpu-clokc", "cpu-clock" },
		{ "contextswitches", "context-switches" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct capture_events l = { 0 };

		assert_true(capture_events_add(&l, bad[i].text) < 0);
		if (!strstr(err_text(), bad[i].says))
			fail_msg("'%s': %s", bad[i].text, err_text());
		capture_events_done(&l);
	}
}

TEST(filters_belong_to_tracepoints_named_before)
{
	struct capture_events l = { 0 };
	struct capture_event tracepoint = {
		.name = "sched:sched_switch",
		.system = "sched",
		.event = "sched_switch",
	};

	assert_int_equal(capture_events_filter(&l, "a == 1"), -EBADR);
	assert_int_equal(capture_events_add(&l, "cs"), 0);
	assert_int_equal(capture_events_filter(&l, "a == 1"), -EBADR);
	assert_non_null(strstr(err_text(), "cs is not a tracepoint"));
	l.last_add = l.list.n;
	assert_int_equal(vec_push(&l.list, tracepoint), 0);
	assert_int_equal(capture_events_filter(&l, "a == 1 || b == 1"), 0);
	assert_string_equal(l.list.v[1].filter, "a == 1 || b == 1");
	assert_int_equal(capture_events_filter(&l, "c == 1"), 0);
	assert_string_equal(l.list.v[1].filter, "(a == 1 || b == 1) && (c == 1)");
	assert_null(l.list.v[0].filter);
	capture_events_done(&l);
}

TEST(near_names)
{
	char text[256];
	struct near n;

	assert_int_equal(near_distance("abc", "abc"), 0);
	assert_int_equal(near_distance("abc", "acb"), 1);
	assert_int_equal(near_distance("abc", "abcd"), 1);
	assert_int_equal(near_distance("", "abc"), 3);
	assert_int_equal(near_apart("sched_switch", "sched:sched_switch"), 1);
	assert_int_equal(near_apart("shed:sched_switch", "sched:sched_switch"), 1);
	assert_true(near_is_meant("cpu", "cpus", 1));
	assert_false(near_is_meant("cpu", "gpus", 2));
	assert_true(near_is_meant("chk", "check", 2));
	near_init(&n, "sched_swich");
	near_offer(&n, "sched:sched_switch");
	near_offer(&n, "irq:softirq_entry");
	near_offer(&n, "sched:sched_stick");
	near_text(&n, text, sizeof(text));
	assert_string_equal(text, "; did you mean sched:sched_switch or sched:sched_stick?");
	near_init(&n, "x");
	near_offer(&n, "sched:sched_switch");
	near_text(&n, text, sizeof(text));
	assert_string_equal(text, "");
}

TEST(cpu_lists)
{
	struct capture_cpus c;

	assert_int_equal(capture_cpus_parse("0-2,5\n", &c), 0);
	assert_int_equal(c.list.n, 4);
	assert_int_equal(c.list.v[2], 2);
	assert_int_equal(c.list.v[3], 5);
	vec_done(&c.list);
	assert_int_equal(capture_cpus_parse("2-1", &c), -EINVAL);
	assert_int_equal(capture_cpus_parse("0-99999999", &c), -EINVAL);
	assert_int_equal(capture_cpus_parse("x", &c), -EINVAL);
	assert_int_equal(capture_cpus_parse("1-", &c), -EINVAL);
}

TEST(what_is_wrong_with_a_filter)
{
	static const struct sonde_field fields[] = {
		{
			.name = "prev_comm",
			.type = "char[16]",
			.is_text = 1,
			.is_array = 1,
			.width = 16,
		},
		{ .name = "prev_pid", .type = "pid_t", .width = 4, .is_signed = 1 },
		{ .name = "dfd", .type = "int", .width = 8 },
		{ .name = "filename", .type = "const char *", .is_pointer = 1, .width = 8 },
	};
	static const struct {
		const char *filter, *says;
	} cases[] = {
		{ "prev_pid > 1 && (prev_comm ~ \"a*\" || !(cpu == 1))", "" },
		{ "prev_pid > 1 &&", "" },
		{ "comm == 'x' && CPU & CPUS{0-1}", "" },
		{ "prev_pid == -1", "" },
		{ "prev_pid&0x1f", "" },
		{ "filename.ustring ~ \"/etc*\"", "" },
		{ "prev_pi > 1", "no field prev_pi; did you mean prev_pid?" },
		{ "prev_pid = 1", "operators are" },
		{ "prev_pid > ", "no value" },
		{ "prev_pid > x", "x is not a number" },
		{ "prev_pid > \"1\"", "takes no quotes" },
		{ "prev_comm == sh", "needs quotes, prev_comm == \"sh\"" },
		{ "prev_comm > \"sh\"", "is text" },
		{ "prev_comm == \"sh", "not closed" },
		{ "dfd == -100", "dfd has no sign" },
		{ "(prev_pid > 1", "a ')' is missing" },
		{ "prev_pid > 1)", "a ')' too many" },
		{ "prev_pid > 1 dfd == 1", "'dfd == 1' follows without && or ||" },
		{ "", "a field's name is missing at 'the end'" },
		{ "prev_pid == CPUS{0", "not closed with }" },
	};
	char said[256], deep[400];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		filter_check(cases[i].filter, fields, sizeof(fields) / sizeof(*fields), said,
			     sizeof(said));
		if (*cases[i].says ? !strstr(said, cases[i].says) : *said)
			fail_msg("%s: %s", cases[i].filter, said);
	}
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	filter_check(deep, fields, 1, said, sizeof(said));
	assert_string_equal(said, "too many parentheses");
}
