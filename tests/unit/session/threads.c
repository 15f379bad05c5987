/* SPDX-License-Identifier: MIT */
/* threads=: a recording gives the same events if a thread reads it ahead. */
#include "unittest.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/outbuf.h"
#include "base/vec.h"
#include "dump.h"
#include "open.h"
#include "recording.h"
#include "sonde/sonde.h"

/* Wraps pthread_create(), and can refuse threads as a limit or a sandbox does. */
static bool refuses_threads;
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *ctx);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *ctx);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *ctx)
{
	return refuses_threads ? EAGAIN : __real_pthread_create(thread, attr, run, ctx);
}

/*
 * The number of the library's threads in this process, 0 or 1. *ret_blocked: the signals it blocks.
 */
static int count_readers(uint64_t *ret_blocked)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		char path[300], line[256];
		bool is_reader = false;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f)) {
			is_reader |= !strcmp(line, "Name:\tsonde-read\n");
			if (is_reader && !strncmp(line, "SigBlk:", 7))
				*ret_blocked = strtoull(line + 7, NULL, 16);
		}
		if (f)
			fclose(f);
		n += is_reader;
	}
	closedir(dir);
	return n;
}

/* ---- a recording of many batches ------------------------------------------------------------- */

/*
 * Runs of samples, some of them late, between forks, execs, mappings and exits. Rounds release the
 * records, so that windows are reused.
 */
static const char *recording_of(struct recording *r, bool is_plain, uint32_t nr_runs)
{
	uint64_t t = 1000;

	recording_begin_as(r, is_plain);
	for (uint32_t i = 0; i < nr_runs; i++) {
		const uint32_t pid = 10 + i % 7;
		const uint64_t chain[] = { 0x401000 + i, 0xfffffffffffffe00, 0x501000 };
		char name[16];

		snprintf(name, sizeof(name), "task-%u", i);
		if (i % 5 == 0)
			recording_fork(r, t++, pid + 1, pid + 1, pid, pid);
		if (i % 3 == 0)
			recording_comm(r, t++, pid, pid, name, i % 2);
		if (i % 7 == 0)
			recording_mmap(r, t++, pid, 0x400000 + 0x1000 * (i % 9), 0x3000, name);
		if (i % 11 == 0)
			recording_exit(r, t++, pid, pid);
		for (uint32_t k = 0; k < i % 40; k++)
			recording_sample(r, t++, 10 + k % 7, 10 + k % 7, chain, k % 4);
		if (i % 5 == 4)
			t -= 100; /* the buffer of the next cpu */
		if (i % 10 == 9)
			recording_close(r, recording_open(r, RECORD_FINISHED_ROUND, 0));
	}
	return recording_finish(r);
}

static const char *long_recording(struct recording *r, bool is_plain)
{
	return recording_of(r, is_plain, 200);
}

/* ---- the same events ------------------------------------------------------------------------- */

/* The text of an event, and of the defects so far. */
static void put_event(struct outbuf *o, const struct sonde_event *ev)
{
	dump_event(o, ev);
	outbuf_char(o, '\n');
}

static void put_defects(struct outbuf *o, struct sonde_session *s)
{
	const struct sonde_defect *d;

	for (size_t i = 0; (d = sonde_session_defect(s, i)); i++)
		outbuf_fmt(o, "%s %llu %s\n", d->name, (unsigned long long)d->count, d->first);
}

/*
 * Reads with calls that the seed chooses: single events, batches, events given back, schemas that
 * are not wanted for a while. Batches that are not mixed with other calls have the same sizes with
 * and without a thread.
 */
static void read_by_seed(struct outbuf *o, const char *path, const char *more, unsigned seed)
{
	struct sonde_session *s = open_session(path, more);
	const struct sonde_event *const *events;
	const struct sonde_event *ev;
	int r = 1;

	while (r > 0) {
		size_t nr = seed ? 1 + (size_t)rand_r(&seed) % 300 : 256;

		switch (seed ? rand_r(&seed) % 6 : 0) {
		case 1:
			r = sonde_session_next(s, &ev);
			if (r > 0)
				put_event(o, ev);
			break;
		case 2:
			sonde_session_want(s, (uint32_t)rand_r(&seed) % 2, rand_r(&seed) % 3 > 0);
			break;
		default:
			r = sonde_session_next_batch(s, &events, &nr);
			if (r > 0 && seed && rand_r(&seed) % 4 == 0) {
				assert_int_equal(sonde_session_unread(s, nr / 2), 0);
				nr -= nr / 2;
			}
			for (size_t i = 0; r > 0 && i < nr; i++)
				put_event(o, events[i]);
			outbuf_fmt(o, "batch of %zu\n", r > 0 ? nr : 0);
		}
		put_defects(o, s);
	}
	outbuf_fmt(o, "end %d %s\n", r, r < 0 ? sonde_error_text() : "");
	put_defects(o, s);
	sonde_session_close(s);
}

static void expect_the_same(const char *path, const char *more, unsigned seed)
{
	struct outbuf one = { 0 }, two = { 0 };
	char text[256];

	snprintf(text, sizeof(text), "%sthreads=1\n", more);
	read_by_seed(&one, path, text, seed);
	snprintf(text, sizeof(text), "%sthreads=2\n", more);
	read_by_seed(&two, path, text, seed);
	outbuf_char(&one, '\0');
	outbuf_char(&two, '\0');
	if (strcmp(one.data, two.data) != 0) {
		size_t at = 0;

		while (one.data[at] == two.data[at])
			at++;
		fail_msg("seed %u, %s: one thread: %.80s, two: %.80s", seed, more, one.data + at,
			 two.data + at);
	}
	outbuf_done(&one);
	outbuf_done(&two);
}

TEST(a_reading_thread_changes_nothing)
{
	static const char *const ways[] = { "",
					    "window=4096\n",
					    "window=4096\nevents=all\n",
					    "compat=perf-6.1\n",
					    "clock=relative\n",
					    "cpu=1\npid=11,12\n",
					    "time=0.000001500,0.000002500\n",
					    "unsorted=1\n" };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		for (int is_plain = 0; is_plain < 2; is_plain++) {
			struct recording r;

			long_recording(&r, is_plain);
			for (unsigned seed = 0; seed < 3; seed++)
				expect_the_same(r.path, ways[i], seed);
			recording_done(&r);
		}
	}
}

TEST(damage_ends_reading_at_the_same_place)
{
	for (size_t cut = 1; cut < 40; cut += 7) {
		struct recording r;

		long_recording(&r, true);
		/* A record of size 0 somewhere, and a file that ends in a record. */
		assert_int_equal(pwrite(r.fd, (char[8]){ 0 }, 8, (off_t)(r.len * cut / 40 / 8 * 8)),
				 8);
		assert_int_equal(truncate(r.path, (off_t)(r.len - cut)), 0);
		expect_the_same(r.path, "window=4096\n", 0);
		expect_the_same(r.path, "events=all\n", cut);
		recording_done(&r);
	}
}

/* ---- header records between samples ---------------------------------------------------------- */

static void put_header(struct recording *r, uint32_t type, uint32_t size)
{
	recording_u32s(r, type, size << 16);
}

/* Pipe mode: one event with the id 7, which gets another name after every few samples. */
static const char *renaming_recording(struct recording *r, unsigned nr_names)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER0,
		.sample_period = 1,
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER,
	};
	uint64_t t = 1000;

	recording_begin(r);
	r->len = 0;
	recording_u64(r, PERFDATA_MAGIC);
	recording_u64(r, 16);
	put_header(r, RECORD_HEADER_ATTR, 8 + PERF_ATTR_SIZE_VER0 + 8);
	recording_put(r, &attr, PERF_ATTR_SIZE_VER0);
	recording_u64(r, 7);
	for (unsigned i = 0; i < nr_names; i++) {
		char name[16] = { 0 };

		for (unsigned k = 0; k <= i % 3; k++) {
			recording_u32s(r, PERF_RECORD_SAMPLE, 32 << 16 | PERF_RECORD_MISC_USER);
			recording_u64(r, 7);
			recording_u32s(r, 12, 13);
			recording_u64(r, t++);
		}
		put_header(r, RECORD_FINISHED_ROUND, 8);
		snprintf(name, sizeof(name), "name-%u", i);
		put_header(r, RECORD_EVENT_UPDATE, 8 + 16 + sizeof(name));
		recording_u64(r, 2);
		recording_u64(r, 7);
		recording_put(r, name, sizeof(name));
	}
	r->fd = memfd_create("renaming", MFD_CLOEXEC);
	assert_int_equal(write(r->fd, r->bytes, r->len), r->len);
	snprintf(r->path, sizeof(r->path), "/proc/self/fd/%d", r->fd);
	return r->path;
}

TEST(header_records_are_taken_behind_the_batches_in_front_of_them)
{
	struct recording r;

	renaming_recording(&r, 3000);
	for (unsigned seed = 0; seed < 5; seed++)
		expect_the_same(r.path, "window=4096\n", seed);
	recording_done(&r);
}

/* ---- the thread ------------------------------------------------------------------------------ */

TEST(the_thread_starts_with_the_first_read_and_ends_with_the_session)
{
	struct recording r;
	uint64_t blocked = 0, all = ~(uint64_t)0;
	const struct sonde_event *ev;
	struct sonde_session *s;

	s = open_session(long_recording(&r, true), "threads=2\nwindow=4096\n");
	assert_int_equal(count_readers(&blocked), 0);
	assert_int_equal(sonde_session_next(s, &ev), 1);
	assert_int_equal(count_readers(&blocked), 1);
	/* SIGKILL, SIGSTOP and two signals of the C library cannot be blocked */
	all &= ~(UINT64_C(1) << 8 | UINT64_C(1) << 18 | UINT64_C(1) << 31 | UINT64_C(1) << 32);
	assert_int_equal(blocked & all, all);
	sonde_session_close(s); /* far from the end */
	assert_int_equal(count_readers(&blocked), 0);

	s = open_session(r.path, "threads=2\n");
	while (sonde_session_next(s, &ev) > 0)
		;
	assert_int_equal(count_readers(&blocked), 0);
	assert_int_equal(sonde_session_next(s, &ev), 0);
	sonde_session_close(s);
	recording_done(&r);
}

TEST(small_files_and_threads_1_start_none)
{
	static const char *const ways[] = { "threads=1\n", "threads=0\n", "" };
	uint64_t blocked;
	struct recording r;

	unsetenv("SONDE_THREADS");
	long_recording(&r, true);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct sonde_session *s = open_session(r.path, ways[i]);
		const struct sonde_event *ev;

		assert_int_equal(sonde_session_next(s, &ev), 1);
		assert_int_equal(count_readers(&blocked), 0);
		sonde_session_close(s);
	}
	recording_done(&r);
}

TEST(the_environment_decides_where_the_session_does_not)
{
	const struct sonde_event *ev;
	struct sonde_session *s;
	struct recording r;
	uint64_t blocked;

	long_recording(&r, true);
	setenv("SONDE_THREADS", "2", 1);
	s = open_session(r.path, "window=4096\n");
	assert_int_equal(sonde_session_next(s, &ev), 1);
	assert_int_equal(count_readers(&blocked), 1);
	sonde_session_close(s);
	s = open_session(r.path, "window=4096\nthreads=1\n");
	assert_int_equal(sonde_session_next(s, &ev), 1);
	assert_int_equal(count_readers(&blocked), 0);
	sonde_session_close(s);
	setenv("SONDE_THREADS", "two", 1);
	assert_int_equal(sonde_session_open(&s, "input=/dev/null", NULL), -EINVAL);
	assert_non_null(strstr(sonde_error_text(), "SONDE_THREADS=two"));
	unsetenv("SONDE_THREADS");
	recording_done(&r);
}

TEST(without_a_thread_the_caller_reads)
{
	struct recording r;

	long_recording(&r, true);
	refuses_threads = true;
	expect_the_same(r.path, "window=4096\n", 3);
	refuses_threads = false;
	recording_done(&r);
}

/*
 * A forked child has no reading thread. It delivers the decoded events, then fails with a message.
 */
TEST(a_forked_child_cannot_read_on)
{
	const struct sonde_event *ev;
	struct sonde_session *s;
	struct recording r;
	int status, n = 1, all = 0;
	pid_t child;

	s = open_session(recording_of(&r, true, 1000), "threads=1\n");
	while (sonde_session_next(s, &ev) > 0)
		all++;
	sonde_session_close(s);
	s = open_session(r.path, "threads=2\nwindow=4096\n");
	assert_int_equal(sonde_session_next(s, &ev), 1);
	fflush(stdout);
	child = fork();
	if (!child) {
		int result;

		while ((result = sonde_session_next(s, &ev)) > 0)
			;
		status = result != -ECHILD || !strstr(sonde_error_text(), "threads=1");
		sonde_session_close(s);
		_exit(status);
	}
	assert_true(child > 0);
	while (sonde_session_next(s, &ev) > 0)
		n++;
	assert_int_equal(n, all);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	sonde_session_close(s);
	recording_done(&r);
}
