/* SPDX-License-Identifier: MIT */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/strpool.h"
#include "filters/early.h"
#include "filters/event_names.h"
#include "filters/event_switch.h"
#include "filters/late.h"
#include "filters/place.h"

/* A recording from 1000 s to 1010 s. */
static const struct time_span ten_seconds = { UINT64_C(1000000000000), UINT64_C(1010000000000) };

static void check_windows(const char *text, bool relative, enum sonde_compat compat,
			  const char *expected)
{
	struct time_windows w = TIME_WINDOWS_ALL;
	char got[512] = "bad", *p = got;
	int r = time_windows_parse(text, &ten_seconds, relative, rules_of(compat), &w);

	if (!relative)
		assert_int_equal(time_windows_parse(text, NULL, relative, rules_of(compat), NULL),
				 r);
	if (r < 0)
		assert_non_null(strstr(err_text(), "Invalid time string"));
	else if (!w.nr)
		sprintf(got, "%llu-%lld", (unsigned long long)w.bounds.from_ns,
			(long long)w.bounds.to_ns);
	for (size_t i = 0; i < w.nr; i++)
		p += sprintf(p, "%s%llu-%lld", i ? " " : "", (unsigned long long)w.list[i].from_ns,
			     (long long)w.list[i].to_ns);
	if (strcmp(got, expected))
		fail_msg("'%s': got %s, expected %s", text, got, expected);
	time_windows_done(&w);
}

TEST(time_windows_in_seconds)
{
	static const char *const cases[][2] = {
		/* an end of -1 is none */
		{ "4344.05,4344.06", "4344050000000-4344060000000" },
		{ ",1.000000001", "0-1000000001" },
		{ "1.5,", "1500000000--1" },
		{ ".5,2.", "500000000-2000000000" },
		{ ",", "0--1" },
		{ "3,0", "3000000000--1" },
		{ "5,5", "5000000000-5000000000" },
		{ ",18446744073.709551615", "0--1" },
		{ " 1,2", "1000000000-2000000000" },
		{ "1, 2", "1000000000-2000000000" },
		{ "+1,+2", "1000000000-2000000000" },
		{ "1,2 3,4", "1000000000-2000000000 3000000000-4000000000" },
		{ "1,2  3,4", "1000000000-2000000000 3000000000-4000000000" },
		{ "1, 2 3,", "1000000000-2000000000 3000000000--1" },
		{ ",2 4,5 6,", "0-2000000000 4000000000-5000000000 6000000000--1" },
	};
	static const char *const bad[] = { "",
					   "5",
					   "x,y",
					   "2,1",
					   "1.0123456789,2",
					   "1,2,3",
					   "-1,2",
					   "1,-1",
					   "0x10,20",
					   "1.5x,",
					   ".,1",
					   " .5,1",
					   "1 2",
					   "1..,2",
					   "1.-5,",
					   "18446744074,",
					   ",18446744073.709551616",
					   "99999999999999999999999,",
					   "1,2 ",
					   "1,2 3",
					   "1,2 2,3",
					   "3,4 1,2",
					   "1, 3,4",
					   "1,2 ,,",
					   ",," };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_windows(cases[i][0], false, SONDE_COMPAT_NONE, cases[i][1]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		check_windows(bad[i], false, SONDE_COMPAT_NONE, "bad");
	/* A window in the middle has no end: perf finds no overlap. */
	check_windows("1,0 3,4", false, SONDE_COMPAT_NONE, "bad");
	check_windows("1,0 3,4", false, SONDE_COMPAT_PERF_6_1,
		      "1000000000--1 3000000000-4000000000");
}

TEST(time_windows_in_percents)
{
	static const char *const cases[][2] = {
		{ "10%", "1000000000000-1000999999999" },
		{ "10%/1", "1000000000000-1000999999999" },
		{ "10%/2", "1001000000000-1001999999999" },
		{ "10%/10", "1009000000000-1010000000000" },
		{ "100%", "1000000000000-1010000000000" },
		{ "0%-100%", "1000000000000-1010000000000" },
		{ "0%-10%,50%-60%", "1000000000000-1000999999999 1005000000000-1005999999999" },
		{ "30%-40%,10%-20%", "1003000000000-1003999999999 1001000000000-1001999999999" },
		{ "10%/2,10%/3", "1001000000000-1001999999999 1002000000000-1002999999999" },
		{ "10%/2,", "1001000000000-1001999999999" },
		{ " 10%", "1000000000000-1000999999999" },
		{ "33.3%/2", "1003330000000-1006659999999" },
		{ ".5%/1", "1000000000000-1000049999999" },
		{ "50%-50%", "1005000000000-1005000000000" },
	};
	static const char *const bad[] = {
		"%",           "10% ",   "10%,20%", "10%/0",  "10%/11",
		"10%/",        "10%/x",  "10%/-1",  "0%/1",   "0%",
		"110%",        "-5%",    "5%-",     "10%-x",  "10%/2,20%-30%",
		",10%/2",      "10%20%", "nan%",    "inf%",   "1e1%",
		"0x10%",       "1,2 5%", "10%-2%",  "1.2.3%", "10%/99999999999",
		"10%-20%-30%", "10/2%"
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_windows(cases[i][0], false, SONDE_COMPAT_NONE, cases[i][1]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		check_windows(bad[i], false, SONDE_COMPAT_NONE, "bad");
	check_windows("20%-10%", false, SONDE_COMPAT_PERF_6_1, "1002000000000-1001000000000");
}

TEST(time_windows_from_the_first_sample)
{
	check_windows("1,2", true, SONDE_COMPAT_NONE, "1001000000000-1002000000000");
	check_windows("1,", true, SONDE_COMPAT_NONE, "1001000000000--1");
	check_windows("1,", true, SONDE_COMPAT_PERF_6_1, "1001000000000-1000000000000");
	check_windows("10%/1", true, SONDE_COMPAT_NONE, "1000000000000-1000999999999");
	check_windows("10%/1", true, SONDE_COMPAT_PERF_6_1, "2000000000000-2000999999999");
	check_windows("18446744073,", true, SONDE_COMPAT_NONE, "bad");
}

/* Doubles round these numbers: up to 2^64, and down to 2^53. */
TEST(time_windows_of_long_recordings)
{
	const struct time_span all = { .last_ns = UINT64_MAX };
	const struct time_span odd = { .last_ns = ((uint64_t)1 << 53) + 1 };
	struct time_windows w;

	for (int compat = 0; compat <= SONDE_COMPAT_PERF_6_12; compat++) {
		assert_int_equal(time_windows_parse("100%", &all, false, rules_of(compat), &w), 0);
		assert_true(w.bounds.from_ns == 0 && w.bounds.to_ns == UINT64_MAX);
		time_windows_done(&w);
	}
	assert_int_equal(time_windows_parse("100%", &odd, false, &default_rules, &w), 0);
	assert_true(w.bounds.to_ns == odd.last_ns);
	time_windows_done(&w);
}

TEST(time_windows_hold_both_ends)
{
	struct time_windows w;

	assert_int_equal(time_windows_parse("1,2 4,5", &ten_seconds, false, &default_rules, &w), 0);
	assert_true(w.bounds.from_ns == 1000000000 && w.bounds.to_ns == 5000000000);
	assert_false(time_windows_hold(&w, 999999999));
	assert_true(time_windows_hold(&w, 1000000000));
	assert_true(time_windows_hold(&w, 2000000000));
	assert_false(time_windows_hold(&w, 2000000001));
	assert_true(time_windows_hold(&w, 4000000000));
	assert_false(time_windows_hold(&w, 5000000001));
	assert_false(time_windows_hold(&w, SONDE_NO_TIME));
	assert_true(time_windows_hold(&w, 0)); /* says nothing */
	time_windows_done(&w);
}

TEST(cpu_lists)
{
	static const char *const bad[] = {
		"",     "a",     "3-1",           ",0",   "0,", "0 1", "-1", "1-",
		"0,,1", "65536", "0-99999999999", "0-1-2"
	};
	struct cpu_list l = { 0 };

	assert_true(cpu_list_holds(&l, 5) && cpu_list_holds(&l, -1));
	assert_int_equal(cpu_list_max(&l), -1);
	assert_int_equal(cpu_list_parse("0,2-3,130", &l), 0);
	assert_true(cpu_list_holds(&l, 0) && !cpu_list_holds(&l, 1) && cpu_list_holds(&l, 2));
	assert_true(cpu_list_holds(&l, 3) && !cpu_list_holds(&l, 4) && cpu_list_holds(&l, 130));
	assert_false(cpu_list_holds(&l, 129) || cpu_list_holds(&l, 100000));
	assert_true(cpu_list_holds(&l, -1));
	assert_int_equal(cpu_list_max(&l), 130);
	cpu_list_done(&l);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(cpu_list_parse(bad[i], &l), -EINVAL);
}

TEST(id_lists)
{
	static const char *const bad[] = { "",     "a",  "1,",         ",1", "1x",
					   "0x10", "1 ", "2147483648", "--1" };
	struct id_list l = { 0 };

	assert_true(id_list_holds(&l, 4));
	assert_int_equal(id_list_parse("30,10, 20,-1", "pid", &l), 0);
	assert_true(id_list_holds(&l, 10) && id_list_holds(&l, 20) && id_list_holds(&l, 30));
	assert_true(id_list_holds(&l, -1));
	assert_false(id_list_holds(&l, 0) || id_list_holds(&l, 15) || id_list_holds(&l, 31));
	id_list_done(&l);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(id_list_parse(bad[i], "pid", &l), -EINVAL);
	assert_non_null(strstr(err_text(), "pid"));
}

TEST(late_filters)
{
	struct late_filter f = { 0 };
	struct sonde_event ev = { .pid = 7, .tid = 8 };
	struct strpool strings;
	char path[] = "/tmp/sonde-comms-XXXXXX", uri[64];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(strpool_init(&strings), 0);
	assert_int_equal(strpool_intern(&strings, "make", 4, &ev.comm), 0);
	assert_true(late_filter_pass(&f, &ev));
	assert_int_equal(comm_list_parse("bash,make", "comm", &strings, &f.comms), 0);
	assert_true(late_filter_pass(&f, &ev));
	assert_int_equal(id_list_parse("8", "tid", &f.tids), 0);
	assert_true(late_filter_pass(&f, &ev));
	assert_int_equal(id_list_parse("8", "pid", &f.pids), 0);
	assert_false(late_filter_pass(&f, &ev));
	late_filter_done(&f);

	assert_int_equal(comm_list_parse("", "comm", &strings, &f.comms), 0);
	assert_false(late_filter_pass(&f, &ev));
	late_filter_done(&f);

	assert_int_equal(write(fd, "a b\nmake", 8), 8);
	close(fd);
	snprintf(uri, sizeof(uri), "file://%s", path);
	assert_int_equal(comm_list_parse(uri, "comm", &strings, &f.comms), 0);
	assert_true(late_filter_pass(&f, &ev));
	assert_int_equal(f.comms.nr, 2);
	late_filter_done(&f);
	unlink(path);
	assert_int_equal(comm_list_parse(uri, "comm", &strings, &f.comms), -ENOENT);
	strpool_done(&strings);
}

TEST(name_lists)
{
	struct name_list l = { 0 };
	char path[] = "/tmp/sonde-names-XXXXXX", text[64];
	int fd = mkstemp(path);

	assert_true(fd >= 0 && name_list_holds(&l, "x"));
	assert_int_equal(write(fd, "b c\n\nd\ne", 8), 8);
	close(fd);
	snprintf(text, sizeof(text), "z,,file://%s, a", path);
	assert_int_equal(name_list_parse(text, "symbol", &l), 0);
	assert_int_equal(l.nr, 5);
	assert_true(name_list_holds(&l, "z") && name_list_holds(&l, "b c") &&
		    name_list_holds(&l, "e"));
	assert_true(name_list_holds(&l, " a") && !name_list_holds(&l, "a") &&
		    !name_list_holds(&l, ""));
	assert_false(l.repeats);
	name_list_done(&l);
	unlink(path);
	assert_int_equal(name_list_parse(text, "symbol", &l), -ENOENT);
	assert_non_null(strstr(err_text(), "symbol list"));
	assert_int_equal(name_list_parse("file:///", "symbol", &l), -EISDIR);
	assert_int_equal(name_list_parse("a,b,a", "symbol", &l), 0);
	assert_true(l.nr == 2 && l.repeats);
	name_list_done(&l);
}

static bool passes(const char *dsos, const char *symbols, uint64_t range, enum sonde_compat compat,
		   const struct sonde_location *where)
{
	struct place_filter f = { 0 };
	bool yes;

	if (dsos)
		assert_int_equal(place_filter_dsos(&f, dsos, rules_of(compat)), 0);
	if (symbols)
		assert_int_equal(place_filter_symbols(&f, symbols, range, rules_of(compat)), 0);
	assert_int_equal(place_filter_is_set(&f), dsos || symbols);
	yes = place_filter_pass(&f, where);
	place_filter_done(&f);
	return yes;
}

TEST(places)
{
	const struct sonde_location leaf = {
		.addr = 0x1010,
		.dso = "/usr/bin/w",
		.sym = "face",
		.sym_off = 0x10,
	};
	const struct sonde_location jit = { .addr = 7, .dso = "/tmp/perf-12.map" };
	const struct sonde_location nowhere = { .addr = 0x1010 };
	enum sonde_compat perf = SONDE_COMPAT_PERF_6_1;

	assert_true(passes(NULL, NULL, 0, 0, &nowhere));
	assert_true(passes("w", NULL, 0, 0, &leaf) && passes("x,/usr/bin/w", NULL, 0, 0, &leaf));
	assert_false(passes("bin/w", NULL, 0, 0, &leaf) || passes("", NULL, 0, 0, &leaf));
	assert_false(passes("w", NULL, 0, 0, &nowhere));
	assert_true(passes("[JIT] tid 12", NULL, 0, perf, &jit));
	assert_true(passes("perf-12.map", NULL, 0, 0, &jit) &&
		    !passes("perf-12.map", NULL, 0, perf, &jit));

	assert_true(passes(NULL, "x,face", 0, 0, &leaf) && !passes(NULL, "x,y", 0, 0, &leaf));
	assert_false(passes(NULL, "face", 0, perf, &leaf)); /* 0xface to perf */
	assert_true(passes(NULL, "0x1010", 0, perf, &leaf) &&
		    passes(NULL, " 1010 ", 0, perf, &leaf));
	assert_true(passes(NULL, "0x1000", 0, 0, &leaf) && !passes(NULL, "0x1000", 0, perf, &leaf));
	assert_true(passes(NULL, "0x100d", 4, perf, &leaf) &&
		    !passes(NULL, "0x100c", 4, perf, &leaf));
	assert_false(passes(NULL, "0x1011", 4, perf, &leaf) ||
		     passes(NULL, "0x1010", 0, 0, &nowhere));
	assert_false(passes(NULL, "", 0, 0, &leaf));
	assert_false(passes("x", "face", 0, 0, &leaf));
}

/* Events of families 0 to 9, and those that are shown. */
static void check_switch(struct event_switch s, const char *events, const char *expected)
{
	char shown[64], *p = shown;

	s.is_off = s.on != EVENT_SWITCH_NONE;
	for (; *events; events++) {
		if (event_switch_pass(&s, (uint32_t)(*events - '0')))
			*p++ = *events;
	}
	*p = '\0';
	assert_string_equal(shown, expected);
}

TEST(event_switches)
{
	struct event_switch none = { .on = EVENT_SWITCH_NONE, .off = EVENT_SWITCH_NONE }, s = none;

	check_switch(none, "0120", "0120");
	s.on = 1;
	check_switch(s, "0212312", "2312");
	s.off = 2;
	check_switch(s, "3213123313421", "3134");
	s.shows_both = true;
	check_switch(s, "0132453142", "132142");
	s = none;
	s.off = 2;
	check_switch(s, "312332", "31");
	s.omits_one = true;
	check_switch(s, "312332", "31332");
	s.shows_both = true;
	check_switch(s, "312332", "312332");
	s = (struct event_switch){ .on = 1, .off = 1 };
	check_switch(s, "0121312", "22");
}

static void check_names(const char *list, const char *name, bool is_tracepoint, bool expected)
{
	struct event_names l;

	assert_int_equal(event_names_parse(list, &l), 0);
	if (event_names_hold(&l, name, is_tracepoint) != expected)
		fail_msg("'%s' holds %s: %d", list, name, !expected);
	event_names_done(&l);
}

TEST(names_of_events)
{
	struct event_names none = { 0 };

	check_names("sched:sched_switch", "sched:sched_switch", true, true);
	check_names("sched_switch", "sched:sched_switch", true, true);
	check_names("sched:*", "sched:sched_switch", true, true);
	check_names("irq:*,sched_w*", "sched:sched_wakeup", true, true);
	check_names("sched", "sched:sched_switch", true, false);
	check_names("sched_switch", "my_sched_switch", true, false);
	check_names("cycles", "cycles:u", false, true);
	check_names("cycle", "cycles:u", false, false);
	check_names("u", "cycles:u", false, false);
	check_names("cpu/event=0x3c,umask=0x0/,faults", "cpu/event=0x3c,umask=0x0/", false, true);
	check_names("cpu/event=0x3c,umask=0x0/,faults", "faults", false, true);
	check_names("cpu/event=0x3c,faults", "faults", false, true);
	assert_true(event_names_hold(&none, "anything", false));
	assert_int_equal(event_names_parse("", &none), -EINVAL);
	assert_int_equal(event_names_parse("a,,b", &none), -EINVAL);
	assert_int_equal(event_names_parse("a,", &none), -EINVAL);
}
