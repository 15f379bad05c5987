/* SPDX-License-Identifier: MIT */
/* Counts of a machine with two sockets, two cores each, two cpus a core. */
#include "unittest.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "stat/metrics.h"
#include "stat/rows.h"

enum { CPUS = 8, EVENTS = 3 };

static struct stat_count cells[EVENTS * CPUS];
static const struct stat_reading reading = { .v = cells, .elapsed_ns = 1000, .run_ns = 1000 };

/* Event 0 counts cycles, event 1 has the term percore, event 2 is not supported. */
static void make_machine(struct stat_subject *s)
{
	const struct stat_event events[EVENTS] = {
		{ .name = "cycles", .type = PERF_TYPE_HARDWARE, .is_supported = true },
		{ .name = "x/y,percore/", .type = 40, .is_supported = true, .per_core = true },
		{ .name = "nothing", .type = PERF_TYPE_HARDWARE, .config = 9 },
	};

	*s = (struct stat_subject){ 0 };
	memset(cells, 0, sizeof(cells));
	for (int i = 0; i < EVENTS; i++)
		assert_int_equal(0, vec_push(&s->events, events[i]));
	for (int i = 0; i < CPUS; i++) {
		const struct cpu_place place = { i / 2 % 2, 0, i / 4, i / 4 };

		assert_int_equal(0, vec_push(&s->cpus, i));
		assert_int_equal(0, vec_push(&s->places, place));
	}
	assert_int_equal(0, vec_push(&s->tasks, (struct stat_task){ .pid = -1, .tid = -1 }));
	for (size_t event = 0; event < 2; event++)
		for (size_t cpu = 0; cpu < CPUS; cpu++)
			cells[stat_cell(s, event, cpu, 0)] =
				(struct stat_count){ UINT64_C(1) << cpu, 100, 100, true };
}

/* The rows of the first two events: their counts. */
static void rows_are(enum sonde_stat_by by, bool shows_threads, const uint64_t *expected, size_t n)
{
	struct stat_rows r = { .by = by, .shows_threads_of_core = shows_threads };
	struct stat_subject s;
	size_t at = 0;

	make_machine(&s);
	assert_int_equal(0, stat_rows_fill(&r, &s, &reading, true));
	vec_foreach(row, &r.list) {
		if (row->event == 2) {
			assert_int_equal(SONDE_STAT_NOT_SUPPORTED, row->state);
			continue;
		}
		assert_true(at < n);
		assert_int_equal(expected[at], row->count);
		assert_int_equal(SONDE_STAT_COUNTED, row->state);
		at++;
	}
	assert_int_equal(n, at);
	stat_rows_done(&r);
	stat_subject_done(&s);
}

#define ROWS_ARE(by, shows_threads, ...)                                                        \
	do {                                                                                    \
		const uint64_t expected_[] = { __VA_ARGS__ };                                   \
		rows_are(by, shows_threads, expected_, sizeof(expected_) / sizeof(*expected_)); \
	} while (0)

TEST(places_are_added_up)
{
	ROWS_ARE(SONDE_STAT_BY_ALL, false, 255, 255);
	ROWS_ARE(SONDE_STAT_BY_SOCKET, false, 15, 240, 15, 240);
	ROWS_ARE(SONDE_STAT_BY_NODE, false, 15, 240, 15, 240);
	ROWS_ARE(SONDE_STAT_BY_DIE, false, 15, 240, 15, 240);
	ROWS_ARE(SONDE_STAT_BY_CORE, false, 3, 12, 48, 192, 3, 12, 48, 192);
}

TEST(percore_adds_up_a_core_among_rows_of_cpus)
{
	ROWS_ARE(SONDE_STAT_BY_CPU, false, 1, 2, 4, 8, 16, 32, 64, 128, 3, 12, 48, 192);
	ROWS_ARE(SONDE_STAT_BY_CPU, true, 1, 2, 4, 8, 16, 32, 64, 128, 3, 3, 12, 12, 48, 48, 192,
		 192);
}

TEST(a_cpu_that_was_never_online_has_no_rows)
{
	struct stat_rows r = { .by = SONDE_STAT_BY_CPU };
	struct stat_subject s;

	make_machine(&s);
	for (size_t event = 0; event < EVENTS; event++)
		cells[stat_cell(&s, event, 5, 0)] = (struct stat_count){ 0 };
	assert_int_equal(0, stat_rows_fill(&r, &s, &reading, false));
	vec_foreach(row, &r.list)
		assert_int_not_equal(5, row->cpu);
	stat_rows_done(&r);
	stat_subject_done(&s);
}

TEST(a_shared_counter_is_extrapolated)
{
	struct stat_rows r = { .by = SONDE_STAT_BY_CPU };
	struct stat_subject s;

	make_machine(&s);
	cells[0] = (struct stat_count){ 10, 300, 100, true };
	assert_int_equal(0, stat_rows_fill(&r, &s, &reading, false));
	assert_int_equal(30, r.list.v[0].count);
	r.no_scale = true;
	assert_int_equal(0, stat_rows_fill(&r, &s, &reading, false));
	assert_int_equal(10, r.list.v[0].count);
	stat_rows_done(&r);
	stat_subject_done(&s);
}

/* 4 and 8: mean 6, deviation of the mean 2. */
TEST(runs_have_a_mean_and_its_deviation)
{
	struct stat_rows r = { .by = SONDE_STAT_BY_CPU };
	struct stat_subject s;

	make_machine(&s);
	cells[0] = (struct stat_count){ 4, 100, 100, true };
	assert_int_equal(0, stat_rows_fill(&r, &s, &reading, true));
	assert_true(r.list.v[0].deviation == 0);
	assert_true(r.list.v[0].mean_running_ns == 100);
	cells[0] = (struct stat_count){ 8, 300, 300, true };
	assert_int_equal(0, stat_rows_fill(&r, &s, &reading, true));
	assert_true(fabs(r.list.v[0].value - 6) < 1e-9);
	assert_true(fabs(r.list.v[0].deviation - 2) < 1e-9);
	assert_true(fabs(r.list.v[0].mean_enabled_ns - 200) < 1e-9);
	assert_true(fabs(r.list.v[0].mean_running_ns - 200) < 1e-9);
	assert_int_equal(300, r.list.v[0].running_ns);
	stat_rows_done(&r);
	stat_subject_done(&s);
}
