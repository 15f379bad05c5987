/* SPDX-License-Identifier: MIT */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/strpool.h"
#include "filters/early.h"
#include "filters/late.h"

/* A recording from 1000 s to 1010 s. */
static const struct time_span ten_seconds = { UINT64_C(1000000000000), UINT64_C(1010000000000) };

static void check_windows(const char *text, bool relative, enum sonde_compat compat,
			  const char *expected)
{
	struct time_windows w = TIME_WINDOWS_ALL;
	char got[512] = "bad", *p = got;
	int r = time_windows_parse(text, &ten_seconds, relative, compat, &w);

	if (!relative)
		assert_int_equal(time_windows_parse(text, NULL, relative, compat, NULL), r);
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
	/* An open end in the middle: perf sees no overlap. */
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

TEST(time_windows_hold_both_ends)
{
	struct time_windows w;

	assert_int_equal(time_windows_parse("1,2 4,5", &ten_seconds, false, SONDE_COMPAT_NONE, &w),
			 0);
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
	assert_false(cpu_list_holds(&l, -1) || cpu_list_holds(&l, 129) ||
		     cpu_list_holds(&l, 100000));
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
	assert_int_equal(comm_list_parse("bash,make", &strings, &f.comms), 0);
	assert_true(late_filter_pass(&f, &ev));
	assert_int_equal(id_list_parse("8", "tid", &f.tids), 0);
	assert_true(late_filter_pass(&f, &ev));
	assert_int_equal(id_list_parse("8", "pid", &f.pids), 0);
	assert_false(late_filter_pass(&f, &ev));
	late_filter_done(&f);

	assert_int_equal(comm_list_parse("", &strings, &f.comms), 0);
	assert_false(late_filter_pass(&f, &ev));
	late_filter_done(&f);

	assert_int_equal(write(fd, "a b\nmake", 8), 8);
	close(fd);
	snprintf(uri, sizeof(uri), "file://%s", path);
	assert_int_equal(comm_list_parse(uri, &strings, &f.comms), 0);
	assert_true(late_filter_pass(&f, &ev));
	assert_int_equal(f.comms.nr, 2);
	late_filter_done(&f);
	unlink(path);
	assert_int_equal(comm_list_parse(uri, &strings, &f.comms), -ENOENT);
	strpool_done(&strings);
}
