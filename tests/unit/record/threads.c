/* SPDX-License-Identifier: MIT */
/*
 * Which thread reads which ring if there are not rings of all cpus; the filter on the recorder's
 * own threads.
 */
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/thread.h"
#include "record/drain/affinity.h"
#include "record/drain/drain_threads.h"
#include "record/options.h"
#include "capture/setup/self.h"
#include "unittest.h"

TEST(lanes_are_those_of_the_rings_cpus)
{
	/* event 0 counts on cpu 4 only; cpu 2 is offline: rings of cpus 4 and 0, in this order */
	struct counter list[] = {
		{ .fd = 10, .event = 0, .cpu = 4, .buffer = 2 },
		{ .fd = 11, .event = 1, .cpu = 0, .buffer = 0, .tid = 1 },
		{ .fd = 12, .event = 1, .cpu = 0, .buffer = 0, .tid = 2 },
		{ .fd = 13, .event = 1, .cpu = 4, .buffer = 2 },
	};
	struct ring rings[] = { { .fd = 10, .buffer = 2 }, { .fd = 11, .buffer = 0 } };
	int cpu_list[] = { 0, 2, 4 };
	struct capture_cpus cpus = { 0 };
	struct counters c = { 0 };
	struct drain_lane lanes[2];
	int fds[6];

	c.list.v = list;
	c.list.n = 4;
	c.rings.list.v = rings;
	c.rings.list.n = 2;
	cpus.list.v = cpu_list;
	cpus.list.n = 3;
	for (int by_pid = 0; by_pid < 2; by_pid++) {
		drain_lanes_fill(&c, &cpus, by_pid, lanes, fds);
		assert_true(lanes[0].ring == &rings[0] && lanes[1].ring == &rings[1]);
		assert_int_equal(lanes[0].cpu, 4);
		assert_int_equal(lanes[1].cpu, 0);
		assert_int_equal(lanes[0].nr_fds, 1);
		assert_int_equal(lanes[0].fds[0], 10);
		assert_int_equal(lanes[1].nr_fds, by_pid ? 2 : 1);
		assert_int_equal(lanes[1].fds[0], 11);
	}
	assert_int_equal(lanes[1].fds[1], 12);
}

/* The only ring is that of the second recorded cpu. The thread runs there, not on the first. */
TEST(the_thread_moves_to_the_cpu_of_the_ring)
{
	static uint64_t bytes[512] = { 0 };
	const struct perfdata_record_header h = { .type = PERF_RECORD_LOST, .size = 24 };
	struct perf_event_mmap_page page = { .data_head = 24 };
	struct ring ring = {
		.control = &page,
		.data = (const uint8_t *)bytes,
		.mask = sizeof(bytes) - 1,
		.buffer = 1,
	};
	struct perfdata_writer *writer;
	struct outlet *outlet;
	struct affinity places;
	struct capture_cpus cpus = { 0 };
	struct drain d = { .rings = &ring, .nr_rings = 1, .affinity = &places };
	char path[] = "/tmp/sonde-unit-XXXXXX";
	cpu_set_t before, now;
	int fd;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && cpus.list.n < 2; cpu++)
		if (CPU_ISSET(cpu, &before))
			assert_int_equal(vec_push(&cpus.list, cpu), 0);
	if (cpus.list.n < 2) {
		vec_done(&cpus.list);
		SKIP("one cpu only");
	}
	fd = mkstemp(path);
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(perfdata_writer_open(&writer, fd, "x.data", false), 0);
	assert_int_equal(perfdata_writer_begin(writer, NULL, 0, NULL, 0), 0);
	assert_int_equal(outlet_new(&outlet, writer, &(struct outlet_options){ 0 }), 0);
	assert_int_equal(affinity_init(&places, &cpus, false), 0);
	memcpy(bytes, &h, sizeof(h));
	d.outlet = outlet;
	assert_int_equal(drain_pass(&d), 1);
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_int_equal(CPU_COUNT(&now), 1);
	assert_true(CPU_ISSET(cpus.list.v[1], &now));
	sched_setaffinity(0, sizeof(before), &before);
	drain_done(&d);
	affinity_done(&places);
	outlet_free(outlet);
	perfdata_writer_close(writer);
	vec_done(&cpus.list);
}

static void check_filter(int32_t *tids, size_t n, const char *wanted)
{
	struct outbuf o = { 0 };

	self_filter_text(tids, n, &o);
	assert_string_equal(o.data, wanted);
	outbuf_done(&o);
}

TEST(threads_in_a_row_are_a_range_of_the_filter)
{
	check_filter((int32_t[]){ 7 }, 1, "common_pid != 7");
	check_filter((int32_t[]){ 14, 9, 13, 12 }, 4,
		     "common_pid != 9 && (common_pid < 12 || common_pid > 14)");
	check_filter((int32_t[]){ 8, 9, 11, 12 }, 4,
		     "(common_pid < 8 || common_pid > 9) && (common_pid < 11 || common_pid > 12)");
	check_filter((int32_t[]){ 1, 3 }, 2, "common_pid != 1 && common_pid != 3");
}

static void *wait_for_end(void *arg)
{
	pthread_mutex_lock(arg);
	pthread_mutex_unlock(arg);
	return NULL;
}

static void *nothing(void *arg)
{
	return arg;
}

static void count_warnings(void *ctx, int level, const char *text)
{
	(void)level;
	*(int *)ctx += strstr(text, "do not fit into a filter") != NULL;
}

/*
 * Every other number belongs to a thread that has ended: 20 bytes of filter for each of the others.
 */
TEST(too_many_threads_for_a_filter)
{
	enum { MANY = 400 };
	static pthread_t threads[MANY];
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct capture_events events = { 0 };
	struct capture_event e = {
		.system = "syscalls",
		.event = "sys_enter_write",
		.filter = "fd == 1",
		.exclude_self = true,
	};
	int n, warnings = 0;
	const struct say to = { count_warnings, &warnings };

	pthread_mutex_lock(&lock);
	for (n = 0; n < MANY; n++) {
		pthread_t other;

		if (thread_start(&threads[n], NULL, wait_for_end, &lock))
			break;
		if (!thread_start(&other, NULL, nothing, NULL))
			pthread_join(other, NULL);
	}
	assert_int_equal(n, MANY);
	assert_true(vec_push(&events.list, e) == 0);
	assert_int_equal(self_add_filters(&events, CAPTURE_YES, NULL, &to), -E2BIG);
	assert_true(strstr(err_text(), "--exclude-self"));
	err_clear();
	assert_int_equal(warnings, 0);
	assert_int_equal(self_add_filters(&events, CAPTURE_AUTO, NULL, &to), 0);
	assert_int_equal(warnings, 1);
	assert_true(!self_is_excluded(&events));
	assert_string_equal(events.list.v[0].filter, "fd == 1");
	pthread_mutex_unlock(&lock);
	while (n)
		pthread_join(threads[--n], NULL);
	capture_events_done(&events);
}
