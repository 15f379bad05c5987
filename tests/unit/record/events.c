/* SPDX-License-Identifier: MIT */
/* The grammar of -e beyond names: groups, terms, event sources, breakpoints, numbers. */

#include <fcntl.h>
#include <limits.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/events.h"
#include "capture/pmu.h"
#include "unittest.h"

static const struct capture_event *add(struct capture_events *l, const char *text)
{
	if (capture_events_add(l, text) < 0)
		fail_msg("'%s': %s", text, err_text());
	return &l->list.v[l->last_add];
}

TEST(groups_have_a_leader_and_share_modifiers)
{
	struct capture_events l = { 0 };
	const struct capture_event *e =
		add(&l, "cs , reads{cs:u,faults}:kS ,{migrations},minor-faults");

	assert_int_equal(l.list.n, 5);
	assert_string_equal(e[0].name, "cs");
	assert_int_equal(e[0].leader, 0);
	assert_int_equal(e[1].leader, 1);
	assert_int_equal(e[2].leader, 1);
	assert_string_equal(e[1].group_name, "reads");
	assert_string_equal(e[1].name, "cs:u");
	assert_int_equal(capture_events_members(&l, 1), 2);
	assert_int_equal(e[3].leader, 3);
	assert_int_equal(e[4].leader, 4);
	/* its own u and the group's k: both; k alone excludes user space */
	assert_true(!e[1].attr.exclude_user && !e[1].attr.exclude_kernel && e[1].attr.exclude_hv);
	assert_true(e[2].attr.exclude_user && !e[2].attr.exclude_kernel);
	assert_true(e[1].sample_read && e[2].sample_read && !e[0].sample_read);
	capture_events_done(&l);
}

TEST(modifiers_of_a_leader)
{
	struct capture_events l = { 0 };
	const struct capture_event *e = add(&l, "{cs:P,faults}:De");

	assert_true(e[0].attr.pinned && e[0].attr.exclusive);
	assert_true(!e[1].attr.pinned && !e[1].attr.exclusive);
	/* as in perf: modifiers of a group take the place of P */
	assert_int_equal(e[0].attr.precise_ip, 0);
	e = add(&l, "{cs:P,faults}");
	assert_int_equal(e[0].attr.precise_ip, 3);
	e = add(&l, "{cs:p,faults}:W");
	assert_int_equal(e[0].attr.precise_ip, 1);
	assert_true(e[0].is_weak);
	capture_events_done(&l);
}

TEST(a_group_outlives_its_leader)
{
	struct capture_events l = { 0 };

	add(&l, "cs,named{cs,faults,migrations},{cs,faults}");
	capture_events_remove(&l, 1);
	assert_int_equal(l.list.n, 5);
	assert_int_equal(l.list.v[1].leader, 1);
	assert_int_equal(l.list.v[2].leader, 1);
	assert_string_equal(l.list.v[1].group_name, "named");
	assert_int_equal(l.list.v[3].leader, 3);
	assert_int_equal(l.list.v[4].leader, 3);
	capture_events_remove(&l, 0);
	assert_int_equal(l.list.v[1].leader, 0);
	assert_int_equal(l.list.v[3].leader, 2);
	capture_events_ungroup(&l, 0);
	assert_int_equal(l.list.v[1].leader, 1);
	assert_int_equal(capture_events_group_all(&l), 0);
	assert_int_equal(capture_events_members(&l, 0), 4);
	capture_events_done(&l);
}

TEST(terms)
{
	struct capture_events l = { 0 };
	const struct capture_event *e =
		add(&l, "cs/period=0x10,name=x, inherit=0/u,faults/freq=7/");

	assert_int_equal(l.list.n, 2);
	assert_string_equal(e[0].name, "x");
	assert_int_equal(e[0].terms.rate, RATE_PERIOD);
	assert_int_equal(e[0].terms.rate_value, 16);
	assert_int_equal(e[0].terms.inherit, TERM_NO);
	assert_true(e[0].attr.exclude_kernel);
	assert_int_equal(e[1].terms.rate, RATE_FREQ);
	assert_string_equal(e[1].name, "faults/freq=7/");
	e = add(&l, "r1a8/config1=3,config2=0xff,no-inherit=0,time=0,overwrite/");
	assert_int_equal(e->attr.type, PERF_TYPE_RAW);
	assert_int_equal(e->attr.config, 0x1a8);
	assert_int_equal(e->attr.config1, 3);
	assert_int_equal(e->attr.config2, 0xff);
	assert_int_equal(e->terms.inherit, TERM_YES);
	assert_int_equal(e->terms.time, TERM_NO);
	assert_int_equal(e->terms.overwrite, TERM_YES);
	e = add(&l, "cs/call-graph=dwarf,stack-size=64,max-stack=9,branch_type=any/");
	assert_string_equal(e->terms.call_graph, "dwarf");
	assert_string_equal(e->terms.branch_type, "any");
	assert_int_equal(e->terms.stack_bytes, 64);
	assert_int_equal(e->terms.max_frames, 9);
	e = add(&l, "cs//,1:3:k,0x1:0x2/period=5/");
	assert_string_equal(e[0].name, "cs//");
	assert_int_equal(e[1].attr.config, 3);
	assert_true(e[1].attr.exclude_user);
	assert_int_equal(e[2].attr.config, 2);
	assert_int_equal(e[2].terms.rate_value, 5);
	capture_events_done(&l);
}

TEST(breakpoints)
{
	static const struct {
		const char *text;
		uint32_t type;
		uint64_t len;
	} good[] = {
		{ "mem:0x1000", HW_BREAKPOINT_RW, 4 },
		{ "mem:4096:w", HW_BREAKPOINT_W, 4 },
		{ "mem:0x1000/8:rw", HW_BREAKPOINT_RW, 8 },
		{ "mem:0x1000/1:w:u", HW_BREAKPOINT_W, 1 },
		{ "mem:0x1000:x", HW_BREAKPOINT_X, sizeof(long) },
		{ "mem:0x1000:u", HW_BREAKPOINT_RW, 4 },
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct capture_events l = { 0 };
		const struct capture_event *e = add(&l, good[i].text);

		assert_int_equal(e->attr.type, PERF_TYPE_BREAKPOINT);
		assert_int_equal(e->attr.bp_addr, 0x1000);
		assert_int_equal(e->attr.bp_type, good[i].type);
		assert_int_equal(e->attr.bp_len, good[i].len);
		assert_int_equal(e->attr.sample_period, 1);
		assert_int_equal(e->attr.exclude_kernel, strstr(good[i].text, ":u") != NULL);
		assert_string_equal(e->name, good[i].text);
		capture_events_done(&l);
	}
}

/* ---- event sources out of a folder of our own ------------------------------------------------ */

static void put(const char *root, const char *path, const char *text)
{
	char whole[PATH_MAX];
	char *slash;
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	for (slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(whole, 0755);
		*slash = '/';
	}
	f = fopen(whole, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void make_sources(char *root)
{
	static const char *const files[][2] = {
		{ "cpu/type", "4\n" },
		{ "cpu/format/event", "config:0-7\n" },
		{ "cpu/format/umask", "config:8-15\n" },
		{ "cpu/format/wide", "config:0-3,32-35\n" },
		{ "cpu/format/ldlat", "config1:0-15\n" },
		{ "cpu/format/far", "config2:0-63\n" },
		{ "cpu/format/odd", "config3:0-3\n" },
		{ "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3,period=100\n" },
		{ "cpu/events/mem-loads.unit", "loads\n" },
		{ "uncore_box_0/type", "11\n" },
		{ "uncore_box_0/cpumask", "0,2\n" },
		{ "uncore_box_0/format/event", "config:0-7\n" },
		{ "uncore_box_1/type", "12\n" },
		{ "uncore_box_1/format/event", "config:0-7\n" },
		{ "uncore_boxes/type", "13\n" },
	};

	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		put(root, files[i][0], files[i][1]);
}

static void remove_sources(const char *root)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -r '%s'", root);
	assert_int_equal(system(command), 0);
}

TEST(event_sources)
{
	char root[] = "/tmp/sonde-sources-XXXXXX";
	struct capture_events l = { 0 };
	const struct capture_event *e;

	make_sources(root);
	l.sources = root;
	e = add(&l, "cpu/event=0xc0,umask=1,ldlat=7,far=0xffffffffffffffff/k");
	assert_int_equal(e->attr.type, 4);
	assert_int_equal(e->attr.config, 0x1c0);
	assert_int_equal(e->attr.config1, 7);
	assert_true(e->attr.config2 == UINT64_MAX);
	assert_true(e->attr.exclude_user);
	assert_string_equal(e->source, "cpu");
	e = add(&l, "cpu/wide=0xa5/");
	assert_true(e->attr.config == 0xa00000005);
	/* the event has defaults; terms of the user override them, in any order */
	e = add(&l, "cpu/period=5,mem-loads,ldlat=9/,cpu/mem-loads,period=6/,cpu/mem-loads/");
	assert_int_equal(e[0].attr.config, 0x1cd);
	assert_int_equal(e[0].attr.config1, 9);
	assert_int_equal(e[0].terms.rate_value, 5);
	assert_int_equal(e[1].terms.rate_value, 6);
	assert_int_equal(e[2].terms.rate_value, 100);
	e = add(&l, "mem-loads:u");
	assert_int_equal(e->attr.config, 0x1cd);
	assert_true(e->attr.exclude_kernel);
	assert_string_equal(e->name, "mem-loads:u");
	/* several boxes of a kind; the cpus of their cpumask count for all */
	e = add(&l, "box/event=3/");
	assert_ptr_equal(e + 2, l.list.v + l.list.n);
	assert_int_equal(e[0].attr.type, 11);
	assert_int_equal(e[0].nr_cpus, 2);
	assert_int_equal(e[0].cpus[1], 2);
	assert_int_equal(e[1].attr.type, 12);
	assert_int_equal(e[1].nr_cpus, 0);
	e = add(&l, "uncore_box_1/event=3/");
	assert_ptr_equal(e + 1, l.list.v + l.list.n);
	capture_events_done(&l);
	remove_sources(root);
}

/* An event of each type of cores; a group of each type, other events in the first one. */
TEST(hybrid_processors)
{
	char root[] = "/tmp/sonde-sources-XXXXXX";
	struct capture_events l = { .sources = root };
	const struct capture_event *e;
	const int core_0 = 0;

	assert_non_null(mkdtemp(root));
	put(root, "cpu_atom/type", "10\n");
	put(root, "cpu_atom/cpus", "4-7\n");
	put(root, "cpu_core/type", "4\n");
	put(root, "cpu_core/cpus", "0-3\n");
	e = add(&l, "cycles:u");
	assert_ptr_equal(e + 2, l.list.v + l.list.n);
	assert_string_equal(e[0].name, "cpu_core/cycles/u");
	assert_string_equal(e[0].name_of_all, "cycles:u");
	assert_int_equal(e[0].attr.type, PERF_TYPE_HARDWARE);
	assert_true(e[0].attr.config == 4ULL << 32 && e[1].attr.config == 10ULL << 32);
	assert_true(e[0].attr.exclude_kernel && e[1].attr.exclude_kernel);
	assert_int_equal(e[1].nr_cpus, 4);
	assert_int_equal(e[1].cpus[0], 4);
	e = add(&l, "r1a8,cpu-clock");
	assert_ptr_equal(e + 3, l.list.v + l.list.n);
	assert_true(e[0].attr.type == 4 && e[1].attr.type == 10 && e[1].attr.config == 0x1a8);
	e = add(&l, "name{cycles,cs,instructions}:D");
	assert_ptr_equal(e + 5, l.list.v + l.list.n);
	assert_string_equal(e[0].name, "cpu_core/cycles/");
	assert_string_equal(e[1].name, "cs");
	assert_string_equal(e[2].name, "cpu_core/instructions/");
	assert_string_equal(e[3].name, "cpu_atom/cycles/");
	assert_string_equal(e[4].name, "cpu_atom/instructions/");
	assert_int_equal(e[2].leader, e - l.list.v);
	assert_int_equal(e[4].leader, e - l.list.v + 3);
	assert_string_equal(e[3].group_name, "name");
	assert_true(e[0].attr.pinned && !e[1].attr.pinned && e[3].attr.pinned);
	capture_events_leave_out(&l, &core_0, 1);
	assert_int_equal(l.list.n, 6);
	assert_string_equal(l.list.v[0].name, "cpu_core/cycles/u");
	assert_string_equal(l.list.v[5].name, "cpu_core/instructions/");
	assert_int_equal(l.list.v[5].leader, 3);
	capture_events_done(&l);

	l = (struct capture_events){ .sources = root };
	assert_int_equal(capture_events_add_default(&l), 0);
	assert_int_equal(l.list.n, 2);
	assert_string_equal(l.list.v[1].name, "cpu_atom/cycles/P");
	assert_true(l.list.v[1].is_default && l.list.v[1].attr.precise_ip == 3);
	capture_events_done(&l);
	remove_sources(root);
}

TEST(mistakes_are_named)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "{}", "without a name" },
		{ "{cs", "not closed" },
		{ "cs}", "'}' too many" },
		{ "{cs,{faults}}", "within a group" },
		{ "{cs,a{faults}}", "within a group" },
		{ "{cs}u", "after a group" },
		{ "{cs}:", "no modifier" },
		{ "{cs}:z", "'z' is not a modifier" },
		{ "{cs,faults:S}", "{cs,...}:S" },
		{ "{cs,faults:D}", "pinned" },
		{ "{cs:pp,faults}:pp", "at most ppp" },
		{ "cs/period=10", "not closed" },
		{ "cs/period=10/:u", "without a colon" },
		{ "cs:u/period=10/", "after the last slash" },
		{ "cs/period=x/", "needs a number" },
		{ "cs/period=-1/", "needs a number" },
		{ "cs/period=99999999999999999999/", "needs a number" },
		{ "cs/period=0x/", "needs a number" },
		{ "cs/period=/", "no value after period=" },
		{ "cs/period=1,/", "a term is missing" },
		{ "cs/time=2/", "0 or 1" },
		{ "cs/name/", "needs a value" },
		{ "cs/perod=1/", "did you mean period" },
		{ "cs/percore/", "perf stat" },
		{ "cs/aux-output/", "aux-output is not taken" },
		{ "nosuch/x/", "no event source 'nosuch'" },
		{ "cpuu/event=1/", "did you mean cpu" },
		{ "gpu/event=1/", "did you mean cpu" },
		{ "cpu/evnt=1/", "did you mean event" },
		{ "cpu/event=256/", "at most 255" },
		{ "cpu/odd=1/", "is not supported" },
		{ "cpu/mem-loads=1/", "no term 'mem-loads'" },
		{ "cpu/mem-loads.unit/", "no term" },
		{ "cpu/../", "no term '..'" },
		{ "mem:x", "needs an address" },
		{ "mem:0x1000/3", "1, 2, 4 or 8" },
		{ "mem:0x1000:ww", "'w' is given twice" },
		{ "mem:0x1000:", "not understood" },
		{ "mem:0x1000:q", "not a modifier" },
		{ "1:x", "two numbers" },
		{ "1:2:", "no modifier" },
		{ "duration_time", "sonde stat" },
		{ "prog.c", "BPF" },
		{ "%sdt_x:y", "SDT" },
	};
	char root[] = "/tmp/sonde-sources-XXXXXX";

	make_sources(root);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct capture_events l = { .sources = root };

		if (capture_events_add(&l, bad[i].text) != -EBADR)
			fail_msg("'%s' is not refused as usage", bad[i].text);
		if (!strstr(err_text(), bad[i].says))
			fail_msg("'%s': %s", bad[i].text, err_text());
		capture_events_done(&l);
	}
	remove_sources(root);
}

/* As in virtual machines. "cs" is not suggested for it. */
TEST(a_machine_without_counters_of_its_processor)
{
	char root[] = "/tmp/sonde-sources-XXXXXX";
	struct capture_events l = { .sources = root };

	assert_non_null(mkdtemp(root));
	put(root, "msr/type", "9\n");
	assert_int_equal(capture_events_add(&l, "cpu/event=1/"), -EBADR);
	assert_string_equal(
		err_text(),
		"event 'cpu/event=1/': this machine has no event source 'cpu': the "
		"counters of its processor are not available (often in a virtual machine); "
		"it has msr");
	capture_events_done(&l);
	remove_sources(root);
}

TEST(control_groups_belong_to_events_by_number)
{
	struct capture_events l = { 0 };

	assert_int_equal(capture_events_cgroups(&l, "-G", "x"), -EBADR);
	add(&l, "cs,{faults,migrations}");
	/* an empty one means all tasks, and has a place in the list */
	assert_int_equal(capture_events_cgroups(&l, "-G", ",,"), 0);
	assert_int_equal(l.nr_cgroups, 3);
	assert_int_equal(capture_events_check_cgroups(&l), 0);
	assert_int_equal(capture_events_cgroups(&l, "-G", "x"), -EBADR);
	assert_non_null(strstr(err_text(), "event number 4"));
	/* events of a group share a control group */
	l.list.v[1].cgroup_fd = 100;
	assert_int_equal(capture_events_check_cgroups(&l), -EBADR);
	assert_non_null(strstr(err_text(), "faults and migrations"));
	capture_events_done(&l);
}
