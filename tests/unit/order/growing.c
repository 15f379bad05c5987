/* SPDX-License-Identifier: MIT */
/* Several live streams at once: pipes that are read while they are written. */
#include "unittest.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "model/defects.h"
#include "order/order.h"

enum { NR_PIPES = 4, PADDING = 40 };

struct record {
	uint64_t time_ns;
	uint32_t pipe, serial;
	uint8_t padding[PADDING];
};

static struct live {
	struct source source; /* first */
	struct stream streams[NR_PIPES];
	int in[NR_PIPES], out[NR_PIPES];
	uint32_t serials[NR_PIPES], seen[NR_PIPES];
	atomic_int stopped;
	struct defects defects;
	struct order *order;
	uint64_t newest_ns, late;
	uint64_t
		/* A record of this time is written to pipe 0 while pipe 1 is cut; 0: none. */
		older_ns;
} live;

static void put(unsigned i, uint64_t time_ns);

static bool live_file(struct source *s, unsigned i, struct source_file *ret)
{
	if (i >= NR_PIPES)
		return false;
	*ret = (struct source_file){
		.fd = -1,
		.path = "a pipe",
		.end = UINT64_MAX,
		.stream = &live.streams[i],
		.is_monotonic = true,
		.is_growing = true,
	};
	return true;
}

static int live_cut(const struct source *s, unsigned file, struct unit *unit, const uint8_t *p,
		    size_t len, uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used,
		    size_t *ret_need)
{
	int n = 0;

	if (file == 1 && live.older_ns) {
		put(0, live.older_ns);
		live.older_ns = 0;
	}
	*ret_need = 0;
	for (; n < max && len - (size_t)n * sizeof(struct record) >= sizeof(struct record); n++) {
		const uint8_t *bytes = p + (size_t)n * sizeof(struct record);

		ret[n] = (struct cut){
			.file_off = file_off + (uint64_t)(bytes - p),
			.bytes = bytes,
			.len = sizeof(struct record),
			.file = (uint16_t)file,
		};
		memcpy(&ret[n].time_ns, bytes, 8);
	}
	*ret_used = (uint64_t)n * sizeof(struct record);
	if (n < max)
		*ret_need = sizeof(struct record);
	return n;
}

static const struct source_ops live_ops = { .name = "live", .file = live_file, .cut = live_cut };

static void begin(void)
{
	const struct order_options opts = { .window_bytes = 4096, .defects = &live.defects };

	live = (struct live){ .source = { &live_ops } };
	for (int i = 0; i < NR_PIPES; i++) {
		int fds[2];

		assert_int_equal(pipe(fds), 0);
		live.out[i] = fds[0];
		live.in[i] = fds[1];
		stream_init(&live.streams[i], fds[0], "a pipe", &live.stopped);
	}
	assert_int_equal(order_open(&live.order, &live.source, &opts), 0);
}

static void end(void)
{
	order_close(live.order);
	for (int i = 0; i < NR_PIPES; i++) {
		stream_done(&live.streams[i]);
		close(live.out[i]);
	}
}

static void close_pipe(unsigned i)
{
	close(live.in[i]);
	live.in[i] = -1;
}

static struct record record_of(unsigned i, uint64_t time_ns)
{
	return (struct record){ .time_ns = time_ns, .pipe = i, .serial = live.serials[i]++ };
}

static void put(unsigned i, uint64_t time_ns)
{
	const struct record r = record_of(i, time_ns);

	assert_int_equal(write(live.in[i], &r, sizeof(r)), sizeof(r));
}

/*
 * Takes the next batch. All records but late ones are in order, and all records of a pipe are in
 * its order.
 */
static int next(void)
{
	const struct cut *cuts;
	int n = order_next(live.order, &cuts);

	for (int i = 0; i < n; i++) {
		struct record r;

		memcpy(&r, cuts[i].bytes, sizeof(r));
		assert_int_equal(r.pipe, cuts[i].file);
		assert_int_equal(r.serial, live.seen[r.pipe]++);
		assert_int_equal(cuts[i].flags & CUT_LATE ? 1 : 0, r.time_ns < live.newest_ns);
		if (cuts[i].flags & CUT_LATE)
			live.late++;
		else
			live.newest_ns = r.time_ns;
	}
	return n;
}

static uint32_t all_seen(void)
{
	uint32_t n = 0;

	for (int i = 0; i < NR_PIPES; i++)
		n += live.seen[i];
	return n;
}

static void see(uint32_t n)
{
	while (all_seen() < n)
		assert_true(next() > 0);
	assert_int_equal(all_seen(), n);
}

/* All records are delivered, although a pipe has no data and another one only half a record. */
TEST(silent_streams_block_nobody)
{
	struct record half;

	begin();
	for (uint64_t t = 1; t <= 300; t++)
		put(t % 2, 1000 + t);
	half = record_of(2, 1200);
	assert_int_equal(write(live.in[2], &half, 20), 20);
	see(300);
	assert_int_equal(live.late, 0);
	/* A later record of a silent pipe is in order, or marked late. */
	put(3, 5000);
	put(0, 4000);
	see(302);
	assert_int_equal(live.late, 0);
	assert_int_equal(write(live.in[2], (const char *)&half + 20, sizeof(half) - 20),
			 sizeof(half) - 20);
	see(303);
	assert_int_equal(live.late, 1);
	assert_int_equal(live.defects.count[DEFECT_LATE], 1);
	for (unsigned i = 0; i < NR_PIPES; i++)
		close_pipe(i);
	assert_int_equal(next(), 0);
	assert_int_equal(live.defects.count[DEFECT_TRUNCATED], 0);
	end();
}

/* A stream without data is read again before newer records of others are delivered. */
TEST(older_records_that_come_while_others_are_read)
{
	begin();
	live.older_ns = 10;
	put(1, 20);
	put(2, 30);
	see(3);
	assert_int_equal(live.late, 0);
	live.older_ns = 40;
	put(1, 50);
	see(5);
	assert_int_equal(live.late, 0);
	for (unsigned i = 0; i < NR_PIPES; i++)
		close_pipe(i);
	assert_int_equal(next(), 0);
	end();
}

/* Records do not wait for streams that have ended. An incomplete last record is reported. */
TEST(streams_that_end)
{
	begin();
	for (unsigned i = 0; i < NR_PIPES; i++) {
		for (uint64_t t = 1; t <= 100; t++)
			put(i, t * 10 + (i * 7) % 10);
		if (i == 1)
			assert_int_equal(write(live.in[i], "\1\2\3", 3), 3);
		close_pipe(i);
	}
	see(400);
	assert_int_equal(next(), 0);
	assert_int_equal(live.late, 0);
	assert_int_equal(live.defects.count[DEFECT_TRUNCATED], 1);
	end();
}

TEST(waiting_for_all_of_them_can_be_stopped)
{
	begin();
	atomic_store(&live.stopped, 1);
	assert_int_equal(next(), -EINTR);
	assert_int_equal(next(), -EINTR);
	atomic_store(&live.stopped, 0);
	put(1, 7);
	see(1);
	for (unsigned i = 0; i < NR_PIPES; i++)
		close_pipe(i);
	assert_int_equal(next(), 0);
	end();
}

enum { WRITTEN = 20000 };

static void *write_records(void *arg)
{
	const unsigned i = (unsigned)(uintptr_t)arg;

	for (uint64_t t = 1; t <= WRITTEN; t++)
		put(i, t * NR_PIPES + i);
	close_pipe(i);
	return NULL;
}

/*
 * Concurrent writers, and a pipe without data until they are done: every record is delivered once,
 * in order or marked late.
 */
TEST(writers_of_their_own_pace)
{
	pthread_t writers[NR_PIPES - 1];

	begin();
	for (uintptr_t i = 0; i < NR_PIPES - 1; i++)
		assert_int_equal(pthread_create(&writers[i], NULL, write_records, (void *)i), 0);
	see((NR_PIPES - 1) * WRITTEN);
	for (int i = 0; i < NR_PIPES - 1; i++)
		pthread_join(writers[i], NULL);
	put(NR_PIPES - 1, UINT64_MAX - 1);
	close_pipe(NR_PIPES - 1);
	see((NR_PIPES - 1) * WRITTEN + 1);
	assert_int_equal(next(), 0);
	assert_int_equal(live.defects.count[DEFECT_LATE], live.late);
	end();
}
