/* SPDX-License-Identifier: MIT */
/* The progress of a reading and its text, with a clock that advances each time it is read. */

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "session/progress_line.h"
#include "session/session.h"
#include "sonde/sonde.h"
#include "unittest.h"

enum { STEP_MS = 70, SAMPLES = 50000 };

static unsigned long looks;

/* Replaces the function of libc, for the library, too. */
int clock_gettime(clockid_t clock, struct timespec *ret);
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	const unsigned long ms = STEP_MS * looks++;

	*ret = (struct timespec){
		.tv_sec = (time_t)(ms / 1000),
		.tv_nsec = (long)(ms % 1000 * 1000000),
	};
	return 0;
}

static void put(FILE *f, uint64_t v, int bytes)
{
	/* recordings have the machine's byte order */
	assert_int_equal(fwrite(&v, (size_t)bytes, 1, f), 1);
}

/* A recording in file mode. Its samples have only pid, tid and time. */
static void make_recording(char *path)
{
	const int fd = mkstemp(path);
	FILE *f = fdopen(fd, "wb");
	const uint64_t head[] = { 104, 80, 104, 80, 184, 24 * SAMPLES, 0, 0, 0, 0, 0, 0 };

	assert_non_null(f);
	fwrite("PERFILE2", 8, 1, f);
	for (size_t i = 0; i < sizeof(head) / sizeof(*head); i++)
		put(f, head[i], 8);
	put(f, 1, 4);  /* type: software */
	put(f, 64, 4); /* size */
	put(f, 0, 8);
	put(f, 1, 8);
	put(f, 6, 8); /* sample_type: TID TIME */
	put(f, 0, 8);
	put(f, 0x40000, 8); /* sample_id_all */
	for (int i = 0; i < 4; i++)
		put(f, 0, 8);
	for (int i = 0; i < SAMPLES; i++) {
		put(f, 9 | 2ul << 32 | 24ul << 48, 8);
		put(f, 12 | 12ul << 32, 8);
		put(f, (uint64_t)(1000 + i), 8);
	}
	assert_int_equal(fclose(f), 0);
}

struct seen {
	struct sonde_progress last;
	unsigned calls, ends;
};

static void on_progress(void *ctx, const struct sonde_progress *p)
{
	struct seen *seen = ctx;

	assert_int_equal(p->size, sizeof(*p));
	assert_true(p->done <= p->total && p->events <= SAMPLES);
	assert_int_equal(p->total, 2 * 24 * SAMPLES);
	assert_false(seen->ends);
	if (!p->ended && !seen->calls)
		assert_in_range(p->elapsed_ms, 1000, 1000 + STEP_MS - 1);
	else if (!p->ended)
		assert_in_range(p->elapsed_ms - seen->last.elapsed_ms, 200, 200 + STEP_MS - 1);
	assert_true(p->done >= seen->last.done && p->events >= seen->last.events);
	seen->ends += p->ended;
	seen->calls += !p->ended;
	seen->last = *p;
}

TEST(first_after_a_second_then_five_times_a_second_and_at_the_end)
{
	char path[] = "/tmp/sonde-progress-XXXXXX", text[64];
	struct seen seen = { 0 };
	struct sonde_session *s;
	const struct sonde_event *ev;
	unsigned n = 0;

	make_recording(path);
	snprintf(text, sizeof(text), "input=%s\n", path);
	assert_int_equal(sonde_session_open(&s, text, NULL), 0);
	sonde_session_on_progress(s, on_progress, &seen);
	while (sonde_session_next(s, &ev) == 1)
		n++;
	assert_int_equal(n, SAMPLES);
	assert_true(seen.calls > 10);
	assert_int_equal(seen.ends, 1);
	assert_int_equal(seen.last.done, seen.last.total);
	assert_int_equal(seen.last.events, SAMPLES);
	sonde_session_close(s);
	unlink(path);
}

static const char *words(uint64_t done, uint64_t total, uint64_t events, uint64_t elapsed_ms)
{
	static char text[PROGRESS_LINE_BYTES];
	const struct sonde_progress p = {
		.size = sizeof(p),
		.done = done,
		.total = total,
		.events = events,
		.elapsed_ms = elapsed_ms,
	};

	const size_t len = progress_line_text(&p, text);

	assert_int_equal(len, strlen(text));
	return text;
}

TEST(share_events_and_time_left)
{
	assert_string_equal(words(25, 100, 7, 1000), "25 %, 7 events, 3 s left");
	assert_string_equal(words(999, 1000, 7, 10000), "99 %, 7 events, 0 s left");
	assert_string_equal(words(100, 100, 7, 1000), "100 %, 7 events, 0 s left");
	assert_string_equal(words(120, 100, 7, 1000), "100 %, 7 events, 0 s left");
	assert_string_equal(words(6 << 20, 0, 7, 1000), "3 MiB, 7 events");
	assert_string_equal(words(0, 100, 0, 1000), "0 %, 0 events");
}

static const char *unpacking(uint64_t done, uint64_t total, uint64_t elapsed_ms)
{
	static char text[PROGRESS_LINE_BYTES];
	const size_t len = progress_line_unpacking(done, total, elapsed_ms, text);

	assert_int_equal(len, strlen(text));
	return text;
}

TEST(share_of_what_is_unpacked)
{
	assert_string_equal(unpacking(1, 5, 2000), "unpacking: 20 %, 8 s left");
	assert_string_equal(unpacking(3 << 20, 0, 2000), "unpacking: 3 MiB");
}

/*
 * A caller without work of its own takes batches as soon as the thread has made them. The progress
 * is reported by the batch or by the thread.
 */
static void read_quickly(void)
{
	const struct sonde_event *const *events;
	uint64_t done = 0, last = 0, total = 0;
	struct sonde_session *s;
	char text[512];
	size_t nr = 256;

	snprintf(text, sizeof(text), "input=%s\nwindow=4096\nthreads=2\n",
		 getenv("SONDE_DEMO_DATA"));
	assert_int_equal(sonde_session_open(&s, text, NULL), 0);
	for (; sonde_session_next_batch(s, &events, &nr) > 0; nr = 256) {
		for (int i = 0; i < 200; i++) { /* the thread makes batches meanwhile */
			recording_progress(&s->recordings.v[0], &done, &total);
			if (done < last || done > total)
				fail_msg("%llu after %llu of %llu", (unsigned long long)done,
					 (unsigned long long)last, (unsigned long long)total);
			last = done;
		}
	}
	sonde_session_close(s);
}

TEST(never_goes_back)
{
	for (int i = 0; i < 50; i++)
		read_quickly();
}
