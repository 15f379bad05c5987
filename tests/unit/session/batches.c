/* SPDX-License-Identifier: MIT */
/* Events in batches: sonde_session_next_batch(), also mixed with sonde_session_next(). */
#include "unittest.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/outbuf.h"
#include "base/vec.h"
#include "dump.h"
#include "open.h"
#include "recording.h"
#include "sonde/sonde.h"

typedef VEC(char *) texts;

/* Runs of samples between forks, execs, mappings and exits. */
static const char *busy_recording(struct recording *r, bool is_plain)
{
	uint64_t t = 100;

	recording_begin_as(r, is_plain);
	for (uint32_t i = 0; i < 120; i++) {
		const uint32_t pid = 10 + i % 7;
		const uint64_t chain[] = { 0x401000 + i, 0xfffffffffffffe00, 0x501000 };
		char name[16];

		snprintf(name, sizeof(name), "task-%u", i);
		if (i % 5 == 0)
			recording_fork(r, t++, pid + 1, pid + 1, pid, pid);
		if (i % 3 == 0)
			recording_comm(r, t++, pid, pid, name, i % 2);
		snprintf(name, sizeof(name), "/bin/%u", i);
		if (i % 2)
			recording_mmap(r, t++, pid, 0x400000 + 0x1000 * (i % 9), 0x3000, name);
		if (i % 11 == 0)
			recording_exit(r, t++, pid, pid);
		for (uint32_t k = 0; k < i % 10; k++)
			recording_sample(r, t++, 10 + k % 7, 10 + k % 7, chain, 3);
	}
	return recording_finish(r);
}

static void keep(texts *all, const struct sonde_event *ev)
{
	assert_int_equal(vec_push(all, said_of(ev)), 0);
}

static void read_singly(const char *path, const char *more, texts *ret)
{
	struct sonde_session *s = open_session(path, more);
	const struct sonde_event *ev;

	while (sonde_session_next(s, &ev) > 0)
		keep(ret, ev);
	sonde_session_close(s);
}

static void free_texts(texts *all)
{
	vec_foreach(t, all)
		free(*t);
	vec_done(all);
}

static void expect(const texts *all, size_t at, const struct sonde_event *ev)
{
	char *says = said_of(ev);

	assert_true(at < all->n);
	assert_string_equal(says, all->v[at]);
	free(says);
}

/*
 * Calls functions about the events of batches, the last event first. Returns the number of events.
 */
static size_t expect_batch(const texts *all, size_t at, const struct sonde_event *const *events,
			   size_t nr)
{
	assert_true(nr > 0);
	for (size_t i = nr; i > 0; i--)
		expect(all, at + i - 1, events[i - 1]);
	return nr;
}

/* Batches of all sizes, single events between them, and both ways to wait for more events. */
static void read_mixed(const char *path, const char *more, const texts *all)
{
	static const size_t sizes[] = { 256, 1, 3, 1000, 7 };
	struct sonde_session *s = open_session(path, more);
	const struct sonde_event *const *events;
	const struct sonde_event *ev;
	size_t at = 0, nr;
	int r = 1;

	for (unsigned i = 0; r > 0; i++) {
		nr = sizes[i % 5];
		switch (i % 4) {
		case 0:
			r = sonde_session_next(s, &ev);
			if (r > 0)
				expect(all, at++, ev);
			break;
		case 1:
			r = sonde_session_next_batch_pending(s, &events, &nr);
			if (!r && (r = sonde_session_fill(s)) > 0)
				continue;
			if (r > 0)
				at += expect_batch(all, at, events, nr);
			break;
		default:
			r = sonde_session_next_batch(s, &events, &nr);
			if (r > 0)
				at += expect_batch(all, at, events, nr);
			assert_true(r <= 0 || nr <= sizes[i % 5]);
		}
	}
	assert_int_equal(r, 0);
	/* With events=all, an event about a defect that is found at the end is the last one. */
	while (sonde_session_next(s, &ev) > 0)
		expect(all, at++, ev);
	assert_int_equal(at, all->n);
	nr = 1;
	assert_int_equal(sonde_session_next_batch(s, &events, &nr), 0);
	sonde_session_close(s);
}

TEST(batches_say_what_single_events_say)
{
	static const char *const ways[] = { "",
					    "window=4096\n",
					    "events=all\n",
					    "compat=perf-6.1\n",
					    "clock=relative\n",
					    "cpu=1\npid=11,12\n",
					    "event=*\n" };
	const char *demo_path = demo();

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		for (int k = 0; k < 3; k++) {
			struct recording r;
			const char *path = k == 2 ? demo_path : busy_recording(&r, k);
			texts all = { 0 };

			read_singly(path, ways[i], &all);
			assert_true(all.n > 20 || (k == 2 && i == 5)); /* not of the demo */
			read_mixed(path, ways[i], &all);
			free_texts(&all);
			if (k < 2)
				recording_done(&r);
		}
	}
}

/* A batch ends before a change of state, so that one state is valid for all its events. */
TEST(exec_mapping_and_exit_among_the_samples_of_a_batch)
{
	const uint64_t chain[] = { 0x401000, 0x402000 };
	const struct sonde_event *const *events;
	struct sonde_session *s;
	struct recording r;
	static const struct {
		const char *comm, *dso;
		size_t nr;
	} expected[] = { { "sh", "/bin/sh", 3 },
			 { "ls", NULL, 2 },
			 { "ls", "/bin/ls", 4 },
			 { "ls", "/bin/ls", 2 } };
	uint64_t t = 10;

	recording_begin_as(&r, true);
	recording_comm(&r, t++, 12, 12, "sh", false);
	recording_mmap(&r, t++, 12, 0x400000, 0x10000, "/bin/sh");
	for (int i = 0; i < 3; i++)
		recording_sample(&r, t++, 12, 12, chain, 2);
	recording_comm(&r, t++, 12, 12, "ls", true);
	for (int i = 0; i < 2; i++)
		recording_sample(&r, t++, 12, 12, chain, 2);
	recording_mmap(&r, t++, 12, 0x400000, 0x10000, "/bin/ls");
	for (int i = 0; i < 4; i++)
		recording_sample(&r, t++, 12, 12, chain, 2);
	recording_exit(&r, t++, 12, 12);
	for (int i = 0; i < 2; i++)
		recording_sample(&r, t++, 12, 12, chain, 2);
	s = open_session(recording_finish(&r), "");
	for (size_t k = 0; k < 4; k++) {
		size_t nr = 256;

		assert_int_equal(sonde_session_next_batch(s, &events, &nr), 1);
		assert_int_equal(nr, expected[k].nr);
		for (size_t i = nr; i-- > 0;) {
			const struct sonde_location *loc =
				sonde_event_located(events[i], 0x401000, 2);
			struct sonde_task task = { .size = sizeof(task) };

			assert_string_equal(sonde_session_string(s, events[i]->comm),
					    expected[k].comm);
			assert_int_equal(sonde_event_task(events[i], 12, 12, &task), 0);
			assert_string_equal(sonde_session_string(s, task.name.comm),
					    expected[k].comm);
			if (!expected[k].dso)
				assert_null(loc->dso);
			else
				assert_string_equal(loc->dso, expected[k].dso);
		}
	}
	sonde_session_close(s);
	recording_done(&r);
}

/* Scripts of sonde run choose the events that they name. */
TEST(a_choice_by_name_leaves_batches_as_they_are)
{
	static const char *const ways[] = { "", "event=*\n" };
	size_t batches[2] = { 0 };
	struct recording r;
	const char *path = busy_recording(&r, true);

	for (size_t i = 0; i < 2; i++) {
		struct sonde_session *s = open_session(path, ways[i]);
		const struct sonde_event *const *events;
		size_t nr = 256;

		for (; sonde_session_next_batch(s, &events, &nr) > 0; nr = 256)
			batches[i]++;
		sonde_session_close(s);
	}
	assert_int_equal(batches[0], batches[1]);
	recording_done(&r);
}

TEST(events_are_given_back)
{
	struct recording r;
	const struct sonde_event *const *events;
	struct sonde_session *s;
	size_t at = 0, nr = 256;
	texts all = { 0 };

	read_singly(busy_recording(&r, true), "clock=relative\n", &all);
	s = open_session(r.path, "clock=relative\n");
	assert_int_equal(sonde_session_unread(s, 1), -EINVAL);
	while (nr = 256, sonde_session_next_batch(s, &events, &nr) > 0) {
		expect_batch(&all, at, events, nr);
		assert_int_equal(sonde_session_unread(s, nr), -EINVAL);
		assert_int_equal(sonde_session_unread(s, nr / 2), 0);
		at += expect_batch(&all, at, events, nr - nr / 2);
	}
	assert_int_equal(at, all.n);
	assert_int_equal(sonde_session_unread(s, 1), -EINVAL);
	sonde_session_close(s);
	free_texts(&all);
	recording_done(&r);
}

TEST(batches_obey_pending_fill_and_stop)
{
	struct recording r;
	struct sonde_session *s = open_session(busy_recording(&r, true), "");
	const struct sonde_event *const *events;
	size_t nr = 0;

	assert_int_equal(sonde_session_next_batch(s, &events, &nr), -EINVAL);
	assert_int_equal(sonde_session_next_batch_pending(s, &events, &nr), -EINVAL);
	nr = 8;
	assert_int_equal(sonde_session_next_batch_pending(s, &events, &nr), 0);
	assert_int_equal(sonde_session_pending(s), 0);
	assert_int_equal(sonde_session_fill(s), 1);
	assert_true(sonde_session_pending(s) != 0);
	assert_int_equal(sonde_session_next_batch_pending(s, &events, &nr), 1);
	sonde_session_stop(s);
	nr = 8;
	assert_int_equal(sonde_session_next_batch_pending(s, &events, &nr), 0);
	assert_int_equal(sonde_session_next_batch(s, &events, &nr), 0);
	assert_int_equal(sonde_session_fill(s), 0);
	sonde_session_close(s);
	recording_done(&r);
}

/* Whether the events from this batch on have the same text. */
static bool reads_the_rest(struct sonde_session *s, const texts *all, size_t at)
{
	const struct sonde_event *const *events;
	size_t nr;

	for (; nr = 5, sonde_session_next_batch(s, &events, &nr) > 0; at += nr) {
		for (size_t i = 0; i < nr; i++) {
			char *says = said_of(events[i]);
			bool same = at + i < all->n && !strcmp(says, all->v[at + i]);

			free(says);
			if (!same)
				return false;
		}
	}
	return at == all->n;
}

TEST(a_child_of_a_fork_reads_on)
{
	struct recording r;
	const struct sonde_event *const *events;
	struct sonde_session *s;
	size_t nr = 3;
	texts all = { 0 };
	int status;
	pid_t child;

	read_singly(busy_recording(&r, true), "window=4096\n", &all);
	s = open_session(r.path, "window=4096\n");
	assert_int_equal(sonde_session_next_batch(s, &events, &nr), 1);
	fflush(stdout);
	child = fork();
	if (!child)
		_exit(reads_the_rest(s, &all, nr) ? 0 : 1);
	assert_true(child > 0);
	assert_true(reads_the_rest(s, &all, nr));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	sonde_session_close(s);
	free_texts(&all);
	recording_done(&r);
}

/* ---- a pipe ---------------------------------------------------------------------------------- */

enum { NR_SENT = 300 };

struct writer {
	int fd;
	sem_t taken; /* posted when the reader has the event that was written */
};

static void write_all(int fd, const void *p, size_t n)
{
	if (write(fd, p, n) != (ssize_t)n)
		abort();
}

/* A sample of software event 7, and the ends of two rounds, after which it is delivered. */
static void write_sample(int fd, uint64_t time_ns)
{
	const uint64_t round = (uint64_t)8 << 48 | RECORD_FINISHED_ROUND;
	const uint64_t words[] = { (uint64_t)32 << 48 | (uint64_t)2 << 32 | PERF_RECORD_SAMPLE,
				   7,
				   (uint64_t)13 << 32 | 12,
				   time_ns,
				   round,
				   round };

	write_all(fd, words, sizeof(words));
}

static void *write_one_by_one(void *p)
{
	/* The pipe's header; then the attr: TID TIME IDENTIFIER, sample_id_all; its id. */
	static const uint64_t head[] = { PERFDATA_MAGIC,
					 16,
					 (uint64_t)80 << 48 | RECORD_HEADER_ATTR,
					 (uint64_t)64 << 32 | 1,
					 0,
					 1,
					 0x10006,
					 0,
					 0x40000,
					 0,
					 0,
					 7 };
	struct writer *w = p;

	write_all(w->fd, head, sizeof(head));
	for (int i = 0; i < NR_SENT; i++) {
		write_sample(w->fd, 1000 + (uint64_t)i);
		while (sem_wait(&w->taken) < 0 && errno == EINTR)
			;
	}
	close(w->fd);
	return NULL;
}

/*
 * Each event is written after the one before was delivered. A reader that waits until a batch is
 * full would wait forever.
 */
TEST(a_batch_of_a_pipe_waits_for_nothing)
{
	const struct sonde_event *const *events;
	struct sonde_session *s;
	struct writer w;
	pthread_t thread;
	char path[64];
	int fds[2], n = 0;
	size_t nr;

	assert_int_equal(pipe(fds), 0);
	w.fd = fds[1];
	assert_int_equal(sem_init(&w.taken, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, write_one_by_one, &w), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	s = open_session(path, "");
	while (nr = 256, sonde_session_next_batch(s, &events, &nr) > 0) {
		assert_int_equal(nr, 1);
		assert_int_equal(events[0]->time_ns, 1000 + n++);
		sem_post(&w.taken);
	}
	assert_int_equal(n, NR_SENT);
	assert_int_equal(pthread_join(thread, NULL), 0);
	sonde_session_close(s);
	close(fds[0]);
	sem_destroy(&w.taken);
}

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The waiting for a pipe ends at a time, again and again; with and without a thread that reads. */
TEST(a_wait_ends_at_its_time)
{
	static const char *const threads[] = { "threads=1\n", "threads=2\n" };

	for (int i = 0; i < 2; i++) {
		const struct sonde_event *const *events;
		struct sonde_session *s;
		struct writer w;
		pthread_t thread;
		char path[64];
		int fds[2], n = 0, waits = 0, r;
		size_t nr = 256;

		assert_int_equal(pipe(fds), 0);
		w.fd = fds[1];
		assert_int_equal(sem_init(&w.taken, 0, 0), 0);
		assert_int_equal(pthread_create(&thread, NULL, write_one_by_one, &w), 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
		s = open_session(path, threads[i]);
		/* The writer waits before the last two events. */
		while (n < NR_SENT) {
			if (sonde_session_next_batch_pending(s, &events, &nr) > 0) {
				assert_int_equal(nr, 1);
				n++;
				waits = 0;
				if (n < NR_SENT - 2)
					sem_post(&w.taken);
			} else {
				const uint64_t until_ns = clock_ns() + 5000000;

				assert_int_equal(sonde_session_fill_until(s, until_ns), 1);
				if (!sonde_session_pending(s)) {
					/* well below the 100 ms of other waits */
					assert_true(clock_ns() < until_ns + 60000000);
					if (++waits == 5 && n >= NR_SENT - 2)
						sem_post(&w.taken);
				}
			}
			nr = 256;
		}
		sem_post(&w.taken);
		while (nr = 256, (r = sonde_session_next_batch(s, &events, &nr)) > 0)
			;
		assert_int_equal(r, 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		sonde_session_close(s);
		close(fds[0]);
		sem_destroy(&w.taken);
	}
}

static char *text_of(struct sonde_session *s)
{
	char path[] = "/tmp/sonde-records-XXXXXX";
	int fd = mkstemp(path);
	off_t len;
	char *text;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(sonde_session_write_text(s, fd), 0);
	len = lseek(fd, 0, SEEK_END);
	text = calloc((size_t)len + 1, 1);
	assert_non_null(text);
	assert_int_equal(pread(fd, text, (size_t)len, 0), len);
	close(fd);
	return text;
}

/*
 * Events that were decoded ahead do not count as delivered records: none is missing, none is
 * delivered twice.
 */
TEST(a_dump_begins_behind_the_last_event_of_a_batch)
{
	const struct sonde_event *const *events;
	struct recording r = { 0 };
	const char *path = busy_recording(&r, true);
	struct sonde_session *s = open_session(path, "dump=1\n");
	static const char head[] = "]: event: ";
	char *all = text_of(s), *rest, place[64], *behind, *last;
	size_t nr;

	sonde_session_close(s);
	for (size_t taken = 1; taken < 30; taken += 7) {
		s = open_session(path, "dump=1\n");
		for (size_t left = taken; left; left -= nr) {
			nr = left;
			assert_int_equal(sonde_session_next_batch(s, &events, &nr), 1);
			snprintf(place, sizeof(place), "\n0x%llx@",
				 (unsigned long long)events[nr - 1]->file_off);
		}
		rest = text_of(s);
		sonde_session_close(s);
		assert_true(strlen(rest) > 0 && strlen(rest) < strlen(all));
		behind = all + strlen(all) - strlen(rest);
		assert_string_equal(rest, behind);
		/* The last record delivered is that of the last event taken. */
		behind[0] = '\0';
		last = strstr(all, place);
		assert_non_null(last);
		last = strstr(last, head);
		assert_non_null(last);
		assert_null(strstr(last + 1, head));
		behind[0] = '\n';
		free(rest);
	}
	free(all);
	recording_done(&r);
}
