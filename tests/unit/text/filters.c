/* SPDX-License-Identifier: MIT */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/strpool.h"
#include "filters/early.h"
#include "filters/late.h"

TEST(time_windows)
{
	static const struct {
		const char *text;
		uint64_t from, to;
	} good[] = {
		{ "4344.05,4344.06", 4344050000000, 4344060000000 },
		{ ",1.000000001", 0, 1000000001 },
		{ "1.5,", 1500000000, UINT64_MAX },
		{ ".5,2.", 500000000, 2000000000 },
		{ ",", 0, UINT64_MAX },
		{ "3,0", 3000000000, UINT64_MAX },
		{ "5,5", 5000000000, 5000000000 },
		{ ",18446744073.709551615", 0, UINT64_MAX },
	};
	static const char *const bad[] = { "",
					   "5",
					   "x,y",
					   "2,1",
					   "1.0123456789,2",
					   "1,2,3",
					   " 1,2",
					   "1, 2",
					   "-1,2",
					   "0x10,20",
					   "1.5x,",
					   ".,1",
					   "1 2",
					   "1..,2",
					   "1.-5,",
					   "18446744074,",
					   ",18446744073.709551616",
					   "99999999999999999999999," };
	struct time_window w = TIME_WINDOW_ALL;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(time_window_parse(good[i].text, &w), 0);
		assert_true(w.from_ns == good[i].from && w.to_ns == good[i].to);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(time_window_parse(bad[i], &w), -EINVAL);
		assert_non_null(strstr(err_text(), "Invalid time string"));
	}
}

TEST(time_windows_hold_both_ends)
{
	struct time_window w;

	assert_int_equal(time_window_parse("1,2", &w), 0);
	assert_false(time_window_holds(&w, 999999999));
	assert_true(time_window_holds(&w, 1000000000));
	assert_true(time_window_holds(&w, 2000000000));
	assert_false(time_window_holds(&w, 2000000001));
	assert_false(time_window_holds(&w, SONDE_NO_TIME));
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
