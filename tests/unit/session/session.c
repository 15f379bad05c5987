/* SPDX-License-Identifier: MIT */
/*
 * The contract of events and sessions (sonde.h, docs/model.md): lifetimes of pointers, and the
 * answers of kept events.
 */
#include "unittest.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "dump.h"
#include "session/itrace.h"
#include "open.h"
#include "recording.h"
#include "sonde/sonde.h"

struct kept {
	struct sonde_event *ev;
	char *said; /* when it was current */
};

static VEC(struct kept) kept;

/* Every step-th event of a session is kept. */
static void keep_events(struct sonde_session *s, int step)
{
	const struct sonde_event *ev;
	int r, i = 0;

	while ((r = sonde_session_next(s, &ev)) > 0) {
		struct kept k = { 0 };

		if (i++ % step)
			continue;
		k.ev = sonde_event_dup(ev);
		assert_non_null(k.ev);
		k.said = said_of(ev);
		assert_int_equal(vec_push(&kept, k), 0);
	}
	assert_int_equal(r, 0);
}

static void compare_and_free(void)
{
	srand(1);
	for (size_t i = kept.n; i > 1; i--) {
		size_t j = (size_t)rand() % i;
		struct kept k = kept.v[i - 1];

		kept.v[i - 1] = kept.v[j];
		kept.v[j] = k;
	}
	vec_foreach(k, &kept) {
		struct sonde_event *again = sonde_event_dup(k->ev);
		char *says = said_of(k->ev);

		assert_string_equal(says, k->said);
		free(says);
		sonde_event_free(k->ev);
		says = said_of(again);
		assert_string_equal(says, k->said);
		free(says);
		sonde_event_free(again);
		free(k->said);
	}
	vec_done(&kept);
}

/* Tasks that fork, exec, rename themselves and map files, with samples of them in between. */
static const char *busy_recording(struct recording *r)
{
	uint64_t t = 100;

	recording_begin(r);
	for (uint32_t i = 0; i < 300; i++) {
		uint32_t pid = 10 + i % 7;
		uint64_t chain[40] = { 0x401000 + i, 0xfffffffffffffe00, 0x501000 };
		char name[16];

		snprintf(name, sizeof(name), "task-%u", i);
		if (i % 5 == 0)
			recording_fork(r, t++, pid + 1, pid + 1, pid, pid);
		if (i % 3 == 0)
			recording_comm(r, t++, pid, pid, name, i % 2);
		snprintf(name, sizeof(name), "/bin/%u", i);
		if (i % 2)
			recording_mmap(r, t++, pid, 0x400000 + 0x1000 * (i % 9), 0x3000, name);
		recording_sample(r, t++, pid, pid, chain, 3 + i % 30);
	}
	return recording_finish(r);
}

TEST(kept_events_say_what_they_said)
{
	struct sonde_session *s = open_session(demo(), "window=4096\n");

	keep_events(s, 1);
	assert_true(kept.n > 100);
	compare_and_free();
	sonde_session_close(s);
}

TEST(kept_events_outlive_their_session)
{
	struct sonde_session *s = open_session(demo(), "window=4096\nevents=all\n");

	keep_events(s, 3);
	sonde_session_close(s);
	compare_and_free();
}

TEST(kept_events_pin_names_mappings_and_counts)
{
	static const char *const ways[] = { "window=4096\n", "window=4096\nevents=all\n",
					    "compat=perf-6.1\n", "events=all\ncallchain=0\n" };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct recording r;
		struct sonde_session *s = open_session(busy_recording(&r), ways[i]);

		keep_events(s, 1);
		assert_true(kept.n >= 600); /* two of each sample */
		if (i % 2)
			sonde_session_close(s);
		compare_and_free();
		if (!(i % 2))
			sonde_session_close(s);
		recording_done(&r);
	}
}

TEST(a_session_left_in_the_middle)
{
	struct recording r;
	struct sonde_session *s = open_session(busy_recording(&r), "window=4096\n");
	const struct sonde_event *ev;
	struct sonde_event *one;

	for (int i = 0; i < 101; i++)
		assert_int_equal(sonde_session_next(s, &ev), 1);
	one = sonde_event_dup(ev);
	sonde_session_close(s);
	assert_ptr_equal(sonde_event_session(one), s);
	assert_true(strlen(sonde_session_string(s, one->comm)) > 0);
	sonde_event_free(one);
	recording_done(&r);
}

static const struct sonde_event *next(struct sonde_session *s)
{
	const struct sonde_event *ev;

	assert_int_equal(sonde_session_next(s, &ev), 1);
	return ev;
}

TEST(a_name_read_after_exec_is_the_one_before)
{
	const uint64_t chain[] = { 0x401000 };
	struct sonde_event *before, *after;
	struct sonde_location loc;
	struct sonde_session *s;
	struct recording r;

	recording_begin(&r);
	recording_comm(&r, 10, 12, 12, "sh", false);
	recording_mmap(&r, 11, 12, 0x400000, 0x10000, "/bin/sh");
	recording_sample(&r, 20, 12, 12, chain, 1);
	recording_comm(&r, 30, 12, 12, "ls", true);
	recording_mmap(&r, 31, 12, 0x400000, 0x2000, "/bin/ls");
	recording_sample(&r, 40, 12, 12, chain, 1);
	s = open_session(recording_finish(&r), "");
	before = sonde_event_dup(next(s));
	next(s); /* the group's second */
	after = sonde_event_dup(next(s));

	assert_string_equal(sonde_session_string(s, before->comm), "sh");
	assert_string_equal(sonde_session_string(s, after->comm), "ls");
	assert_int_equal(sonde_event_locate(before, 0x401000, 2, &loc), 0);
	assert_string_equal(loc.dso, "/bin/sh");
	assert_int_equal(sonde_event_locate(before, 0x405000, 2, &loc), 0);
	assert_string_equal(loc.dso, "/bin/sh");
	assert_int_equal(sonde_event_locate(after, 0x401000, 2, &loc), 0);
	assert_string_equal(loc.dso, "/bin/ls");
	assert_int_equal(sonde_event_locate(after, 0x405000, 2, &loc), 0);
	assert_null(loc.dso); /* exec has removed all mappings */
	assert_true(before->map_epoch < after->map_epoch);

	/* Answers are numbered: equal answers have the same number, others another one. */
	loc = *sonde_event_located(before, 0x401000, 2);
	assert_true(loc.answer != 0);
	assert_int_equal(sonde_event_located(after, 0x401000, 2)->answer != loc.answer, 1);
	assert_int_equal(sonde_event_located(before, 0x401000, 2)->answer, loc.answer);
	assert_string_equal(sonde_event_located(before, 0x401000, 2)->dso, "/bin/sh");
	assert_int_equal(sonde_event_located(before, 0x401000, 4)->answer, 0); /* of a guest */
	sonde_event_free(before);
	sonde_event_free(after);
	sonde_session_close(s);
	recording_done(&r);
}

/*
 * The events of a group are made one by one. Calls about other events between them may not change
 * them.
 */
TEST(group_reads_between_questions)
{
	struct sonde_event *old[8] = { NULL };
	const struct sonde_event *ev;
	struct sonde_sample sample;
	struct sonde_session *s;
	struct recording r;
	uint64_t sums[3] = { 0 };
	int i = 0;

	s = open_session(busy_recording(&r), "");
	while (sonde_session_next(s, &ev) > 0) {
		for (int k = 0; k < 8; k++)
			if (old[k])
				assert_int_equal(sonde_event_sample(old[k], &sample), 0);
		assert_int_equal(sonde_event_sample(ev, &sample), 0);
		assert_int_equal(sample.nr_reads, 2);
		sums[!strcmp(sonde_schema_name(sonde_event_schema(s, ev)), "page-faults")] +=
			sample.period;
		sonde_event_free(old[i % 8]);
		old[i++ % 8] = sonde_event_dup(ev);
	}
	assert_int_equal(i, 600);
	assert_int_equal(sums[0], r.counts[0]);
	assert_int_equal(sums[1], r.counts[1]);
	for (int k = 0; k < 8; k++)
		sonde_event_free(old[k]);
	sonde_session_close(s);
	recording_done(&r);
}

TEST(each_kind_of_defect_is_reported_once)
{
	struct recording r;
	struct sonde_session *s;
	const struct sonde_event *ev;
	const struct sonde_defect *d;
	char reported[256] = "";
	size_t at, n = 0;

	recording_begin(&r);
	recording_close(&r, recording_open(&r, 99, 0)); /* unknown record */
	/* bad record: an earlier kind */
	recording_close(&r, recording_open(&r, PERF_RECORD_COMM, 0));
	recording_close(&r, recording_open(&r, RECORD_COMPRESSED, 0)); /* a later one */
	at = recording_open(&r, PERF_RECORD_LOST, 0);                  /* the first of all */
	recording_u64(&r, 1);
	recording_u64(&r, 5);
	recording_trailer(&r, at, 50, 0, 0);
	s = open_session(recording_finish(&r), "events=all\n");
	while (sonde_session_next(s, &ev) > 0) {
		const struct sonde_schema *sc = sonde_event_schema(s, ev);

		if (sonde_schema_kind(sc) != SONDE_DEFECT)
			continue;
		assert_null(strstr(reported, (const char *)ev->bytes));
		strcat(strcat(reported, (const char *)ev->bytes), " ");
	}
	for (; (d = sonde_session_defect(s, n)); n++)
		assert_non_null(strstr(reported, d->name));
	assert_int_equal(n, 4);
	assert_null(strchr(sonde_session_defects_line(s), '\n'));
	sonde_session_close(s);
	recording_done(&r);
}

static uint64_t count_of(struct sonde_session *s, const char *name)
{
	const struct sonde_defect *d;

	for (size_t n = 0; (d = sonde_session_defect(s, n)); n++)
		if (!strcmp(d->name, name))
			return d->count;
	return 0;
}

static void lost_record(struct recording *r, uint64_t time_ns, uint64_t lost)
{
	size_t at = recording_open(r, PERF_RECORD_LOST, 0);

	recording_u64(r, 1);
	recording_u64(r, lost);
	recording_trailer(r, at, time_ns, 0, 0);
}

static void lost_samples_record(struct recording *r, uint64_t time_ns, uint64_t lost, uint64_t id)
{
	size_t at = recording_open(r, PERF_RECORD_LOST_SAMPLES, 0);

	recording_u64(r, lost);
	recording_trailer(r, at, time_ns, 0, 0);
	memcpy(r->bytes + r->len - 8, &id, sizeof(id)); /* the trailer's IDENTIFIER */
}

/*
 * Losses are counted when they are read. A reader never sees losses of a dummy event as lost
 * events.
 */
TEST(losses_in_mid_run)
{
	const uint64_t chain[] = { 0x401000 }, dummy = PERF_COUNT_SW_DUMMY;
	struct recording r;
	struct sonde_session *s;
	const struct sonde_event *ev;

	recording_begin(&r);
	memcpy(r.bytes + RECORDING_ATTRS_AT + RECORDING_ATTR_BYTES + 16 +
		       offsetof(struct perf_event_attr, config),
	       &dummy, sizeof(dummy));
	lost_record(&r, 10, 10);
	recording_sample(&r, 20, 12, 12, chain, 1);
	lost_samples_record(&r, 30, 4, 2);
	recording_sample(&r, 40, 12, 12, chain, 1);
	lost_samples_record(&r, 50, 7, 1);
	recording_sample(&r, 60, 12, 12, chain, 1);
	s = open_session(recording_finish(&r), "");
	assert_int_equal(sonde_session_next(s, &ev), 1);
	assert_int_equal(ev->time_ns, 20);
	assert_int_equal(count_of(s, "lost-events"), 10);
	assert_int_equal(count_of(s, "lost-state"), 0);
	while (ev->time_ns < 40)
		assert_int_equal(sonde_session_next(s, &ev), 1);
	assert_int_equal(count_of(s, "lost-events"), 6);
	assert_int_equal(count_of(s, "lost-state"), 4);
	while (ev->time_ns < 60)
		assert_int_equal(sonde_session_next(s, &ev), 1);
	assert_int_equal(count_of(s, "lost-events"), 7);
	assert_int_equal(count_of(s, "lost-state"), 4);
	while (sonde_session_next(s, &ev) > 0)
		;
	assert_int_equal(count_of(s, "lost-events"), 7);
	assert_int_equal(count_of(s, "lost-state"), 4);
	sonde_session_close(s);
	recording_done(&r);
}

TEST(pending_alone_never_reads)
{
	struct recording r;
	struct sonde_session *s = open_session(busy_recording(&r), "events=all\nwindow=4096\n");
	const struct sonde_event *ev;
	int n = 0;

	assert_int_equal(sonde_session_next_pending(s, &ev), 0);
	while (sonde_session_fill(s) > 0) {
		while (sonde_session_next_pending(s, &ev) > 0)
			n++;
		assert_int_equal(sonde_session_pending(s), 0);
	}
	assert_true(n > 800);
	assert_int_equal(sonde_session_next(s, &ev), 0);
	sonde_session_close(s);
	recording_done(&r);
}

/* Samples are decoded ahead, but a change of the wanted schemas applies from the next event on. */
TEST(want_holds_from_the_next_event_on)
{
	VEC(struct sonde_event) all = { 0 };
	struct sonde_session *s = open_session(demo(), "");
	const struct sonde_event *ev;
	bool wanted = true;
	size_t at = 0;

	while (sonde_session_next(s, &ev) > 0)
		assert_int_equal(vec_push(&all, *ev), 0);
	sonde_session_close(s);
	s = open_session(demo(), "");
	for (int i = 0; sonde_session_next(s, &ev) > 0; i++) {
		while (at < all.n && !wanted && all.v[at].schema == 0)
			at++;
		assert_true(at < all.n);
		assert_int_equal(ev->file_off, all.v[at].file_off);
		assert_int_equal(ev->schema, all.v[at++].schema);
		if (i % 7 == 6) {
			wanted = !wanted;
			sonde_session_want(s, 0, wanted);
		}
	}
	while (at < all.n && !wanted && all.v[at].schema == 0)
		at++;
	assert_int_equal(at, all.n);
	sonde_session_close(s);
	vec_done(&all);
}

TEST(samples_that_nobody_wants)
{
	struct sonde_session *s = open_session(demo(), "");
	const struct sonde_event *ev;
	int all[64] = { 0 }, some[64] = { 0 };

	while (sonde_session_next(s, &ev) > 0)
		all[ev->schema % 64]++;
	sonde_session_close(s);
	s = open_session(demo(), "");
	sonde_session_want(s, 0, 0);
	sonde_session_want(s, 12345, 0);
	for (int i = 0; sonde_session_next(s, &ev) > 0; i++) {
		some[ev->schema % 64]++;
		if (i == 100) {
			sonde_session_want(s, 0, 1);
			sonde_session_want(s, 1, 0);
		}
	}
	sonde_session_close(s);
	assert_true(some[0] < all[0]);
	assert_true(some[1] < all[1]);
	assert_int_equal(some[2], all[2]);
	assert_int_equal(some[3], all[3]);
}

TEST(a_recording_of_which_nothing_can_be_read_is_a_failure)
{
	const uint64_t chain[] = { 0x401000 };
	static const char *const ways[] = { "", "events=all\n", "time=1,2\n" };
	const struct sonde_event *ev;
	struct sonde_session *s;
	struct recording r;
	int end;

	for (int i = 0; i < 3; i++) {
		recording_begin(&r);
		recording_comm(&r, 10, 12, 12, "sh", false);
		recording_close(&r, recording_open(&r, RECORD_COMPRESSED, 0));
		s = open_session(recording_finish(&r), ways[i]);
		while ((end = sonde_session_next(s, &ev)) > 0)
			;
		assert_int_equal(end, -ENODATA);
		assert_int_equal(sonde_session_defect(s, 0)->severity, SONDE_DATA_LOSS);
		assert_null(strstr(sonde_session_defects_line(s), "; compressed: "));
		sonde_session_close(s);
		recording_done(&r);
	}
	recording_begin(&r);
	recording_close(&r, recording_open(&r, RECORD_COMPRESSED, 0));
	recording_sample(&r, 20, 12, 12, chain, 1);
	s = open_session(recording_finish(&r), "pid=1\n");
	assert_int_equal(sonde_session_next(s, &ev), 0);
	sonde_session_close(s);
	recording_done(&r);
}

TEST(two_sessions_at_once)
{
	struct recording r;
	struct sonde_session *a = open_session(busy_recording(&r), "window=4096\n"),
			     *b = open_session(demo(), "");
	struct sonde_session *c = open_session(r.path, "");
	const struct sonde_event *ea, *eb, *ec;
	int n = 0;

	while (sonde_session_next(a, &ea) > 0) {
		char *says, *same;

		sonde_session_next(b, &eb);
		assert_int_equal(sonde_session_next(c, &ec), 1);
		says = said_of(ea);
		same = said_of(ec);
		assert_string_equal(says, same);
		assert_ptr_equal(sonde_event_session(eb), b);
		free(says);
		free(same);
		n++;
	}
	assert_int_equal(n, 600);
	sonde_session_close(a);
	sonde_session_close(c);
	sonde_session_close(b);
	recording_done(&r);
}

TEST(pending_and_fill)
{
	struct recording r;
	struct sonde_session *s = open_session(busy_recording(&r), "");
	const struct sonde_event *ev;
	int n = 0, fills = 0, f;

	assert_int_equal(sonde_session_pending(s), 0);
	for (;;) {
		if (!sonde_session_pending(s)) {
			f = sonde_session_fill(s);
			if (!f)
				break;
			assert_int_equal(f, 1);
			assert_int_equal(sonde_session_fill(s), 1); /* nothing to do */
			fills++;
			assert_true(sonde_session_pending(s) != 0);
		}
		if (sonde_session_next(s, &ev) <= 0)
			break;
		n++;
	}
	assert_int_equal(n, 600);
	assert_true(fills > 0);
	assert_int_equal(sonde_session_next(s, &ev), 0);
	assert_int_equal(sonde_session_fill(s), 0);
	assert_int_equal(sonde_session_pending(s), 0);
	sonde_session_close(s);
	recording_done(&r);
}

static void *stop(void *s)
{
	sonde_session_stop(s);
	return NULL;
}

TEST(stop_ends_the_run)
{
	struct recording r;
	struct sonde_session *s = open_session(busy_recording(&r), "events=all\n");
	const struct sonde_event *ev;
	struct sonde_event *one;
	pthread_t thread;

	for (int i = 0; i < 10; i++)
		assert_int_equal(sonde_session_next(s, &ev), 1);
	one = sonde_event_dup(ev);
	assert_int_equal(pthread_create(&thread, NULL, stop, s), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(sonde_session_next(s, &ev), 0);
	assert_int_equal(sonde_session_fill(s), 0);
	assert_int_equal(sonde_session_next(s, &ev), 0);
	free(said_of(one));
	sonde_event_free(one);
	sonde_session_close(s);
	recording_done(&r);
}

/* ---- the text form --------------------------------------------------------------------------- */

TEST(text_form_reads_back)
{
	static const char *const texts[] = {
		"",
		"input=x\n",
		"# comment\n\ninput=a b=c\n",
		"compat=perf-6.1\nevents=all\ncallchain=0\nwindow=4096\n",
		"time=1.5,2\ncpu=0,2-3\npid=1,2\ntid=3\ncomm=a,b\n",
		"symfs=/x\nkallsyms=/y\nbuildid-dir=/z\nforce=1\n",
		"fields=comm,tid\nns=1\n",
		"input=no newline at the end",
		"input=a\ninput=b\n",
		"window=1073741824\n",
		"time=,5\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *once, *twice;

		if (sonde_session_parse(texts[i], &once) < 0)
			fail_msg("%s: %s", texts[i], sonde_error_text());
		assert_int_equal(sonde_session_parse(once, &twice), 0);
		assert_string_equal(once, twice);
		free(once);
		free(twice);
	}
}

TEST(text_form_of_an_open_session_is_complete)
{
	struct recording r;
	struct sonde_session *s = open_session(busy_recording(&r), "cpu=1\nevents=all\n"), *again;
	char *parsed;

	assert_int_equal(sonde_session_parse(sonde_session_print(s), &parsed), 0);
	assert_string_equal(sonde_session_print(s), parsed);
	assert_non_null(strstr(parsed, "window=1048576\n"));
	assert_non_null(strstr(parsed, "compat=none\n"));
	assert_int_equal(sonde_session_open(&again, parsed, NULL), 0);
	assert_string_equal(sonde_session_print(again), parsed);
	free(parsed);
	sonde_session_close(s);
	sonde_session_close(again);
	recording_done(&r);
}

/* Keys of a sink are accepted before and after `format`, also if another sink is chosen. */
TEST(text_form_has_keys_of_all_sinks)
{
	static const char *const lines[] = {
		"\nfields=comm\n",
		"\nheader=only\n",
		"\nmax-blocks=7\n",
		"\nshow-mmap-events=1\n",
		"\nevlist=attr\n",
		"\noutput=x\n",
		"\nhits=1\n",
		"\nno-events=1\n",
		"\nformat=evlist\n",
		"\ncolor=never\n",
		"\nshow-task-events=0\n",
	};
	char *text;

	assert_int_equal(
		sonde_session_parse(
			"fields=tid\nfields=comm\nheader=only\nmax-blocks=7\nevlist=attr\n"
			"format=evlist\nshow-mmap-events=1\noutput=x\nhits=1\nno-events=1\n",
			&text),
		0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const char *at = strstr(text, lines[i]);

		if (!at || strstr(at + 1, lines[i]))
			fail_msg("%s in %s", lines[i], text);
	}
	assert_null(strstr(text, "every="));
	free(text);
	assert_int_equal(sonde_session_parse("format=jsonl\nevlist=colour\n", &text), -EINVAL);
	assert_int_equal(sonde_session_parse("format=info\nheader=maybe\n", &text), -EINVAL);
}

TEST(text_form_with_mistakes)
{
	static const char *const texts[] = {
		"colour=red\n",
		"input\n",
		"=x\n",
		"window=4095\n",
		"window=1073741825\n",
		"window=\n",
		"window=-1\n",
		"window=4096k\n",
		"window=99999999999999999999\n",
		"compat=perf\n",
		"events=none\n",
		"callchain=2\n",
		"force=yes\n",
		"ns=\n",
		"input=x\nwindow=1\n",
		"time=5,x\n",
		"cpu=a\n",
		"pid=a\n",
		"tid=1,,2x\n",
		" input=x\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct sonde_session *s;
		char *parsed = NULL;

		if (sonde_session_parse(texts[i], &parsed) != -EINVAL)
			fail_msg("%s is taken: %s", texts[i], parsed);
		assert_true(strlen(sonde_error_text()) > 0);
		assert_int_equal(sonde_session_open(&s, texts[i], "here"), -EINVAL);
		/* A wrong value is refused with the message of the parser of its grammar. */
		if (!strstr(sonde_error_text(), "here:") &&
		    !strstr("time cpu pid tid", strtok(strdupa(texts[i]), "=")))
			fail_msg("%s: %s", texts[i], sonde_error_text());
	}
}

TEST(inputs_that_are_none)
{
	static const char *const paths[] = { "/nonexistent",      "/", "/dev/null", "/dev/zero",
					     "/proc/self/status", "" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct sonde_session *s;
		char text[64];

		snprintf(text, sizeof(text), "input=%s\n", paths[i]);
		assert_true(sonde_session_open(&s, text, NULL) < 0);
		assert_true(strlen(sonde_error_text()) > 0);
	}
}

TEST(one_name_is_one_family)
{
	struct recording r;
	struct sonde_session *s;
	const struct sonde_event *ev;
	const uint64_t clock = PERF_COUNT_SW_CPU_CLOCK;
	const size_t config_of_second = RECORDING_ATTRS_AT + RECORDING_ATTR_BYTES + 16 + 8;

	for (int same = 0; same < 2; same++) {
		size_t families[2] = { 0 };

		recording_begin(&r);
		if (same)
			memcpy(r.bytes + config_of_second, &clock, sizeof(clock));
		recording_sample(&r, 20, 12, 12, (uint64_t[]){ 0x401000 }, 1);
		s = open_session(recording_finish(&r), "");
		while (sonde_session_next(s, &ev) > 0)
			;
		for (uint32_t id = 0; id < sonde_session_schemas(s); id++) {
			const struct sonde_schema *sc = sonde_session_schema(s, id);

			assert_int_equal(sonde_schema_id(sc), id);
			if (!strncmp(sonde_schema_name(sc), "cpu-clock", 9) ||
			    !strncmp(sonde_schema_name(sc), "page-faults", 11))
				families[sonde_schema_family(sc) == id]++;
		}
		/* [0]: not the first of its name */
		assert_int_equal(families[0], same);
		assert_int_equal(families[1], 2 - same);
		sonde_session_close(s);
		recording_done(&r);
	}
}

/* The same address of two kernels is in two files, and the answers have two numbers. */
TEST(several_recordings_have_kernels_of_their_own)
{
	const char *demo = getenv("SONDE_DEMO_DATA");
	char text[512];
	struct sonde_session *s;
	const struct sonde_event *ev;
	struct sonde_location seen[2] = { 0 }, loc;
	bool met[2] = { false };

	if (!demo)
		demo = "tests/data/demo.data";
	snprintf(text, sizeof(text), "input=%s\ninput=%s\nkallsyms=/dev/null\n", demo, demo);
	assert_int_equal(sonde_session_open(&s, text, NULL), 0);
	while (sonde_session_next(s, &ev) > 0) {
		uint32_t at = sonde_event_input(ev);

		assert_int_equal(sonde_event_locate(ev, 0xffffffff81001234, 1, &loc), 0);
		assert_string_equal(loc.dso, "[kernel.kallsyms]");
		if (!met[at])
			seen[at] = loc;
		met[at] = true;
		assert_true(loc.dso_id == seen[at].dso_id);
	}
	assert_true(met[1]);
	assert_true(seen[0].dso_id && seen[1].dso_id && seen[0].dso_id != seen[1].dso_id);
	assert_true(seen[0].answer != seen[1].answer);
	sonde_session_close(s);
}

/*
 * Root makes a file of another user, which every other user, also root, may read only with force=1.
 * Runs in another process.
 */
static int open_as_another(const char *path, uid_t uid)
{
	char text[128];
	struct sonde_session *s;

	if (seteuid(uid) < 0)
		return 1;
	snprintf(text, sizeof(text), "input=%s\n", path);
	if (sonde_session_open(&s, text, NULL) != (uid == 65534 ? 0 : -EACCES))
		return 2;
	if (uid != 65534 && !strstr(sonde_error_text(), "belongs to another user"))
		return 3;
	snprintf(text, sizeof(text), "input=%s\nforce=1\n", path);
	return sonde_session_open(&s, text, NULL) < 0 ? 4 : 0;
}

TEST(files_of_other_users)
{
	char path[] = "/tmp/sonde-owner-XXXXXX";
	const uid_t users[] = { 65534, 65533, 0 };
	struct recording r;
	int fd;

	if (geteuid())
		skip();
	fd = mkstemp(path);
	assert_true(fd >= 0);
	recording_begin(&r);
	recording_finish(&r);
	assert_int_equal(write(fd, r.bytes, r.len), r.len);
	assert_int_equal(fchmod(fd, 0644), 0);
	assert_int_equal(fchown(fd, 65534, 65534), 0);
	for (size_t i = 0; i < 3; i++) {
		int status;
		pid_t child = fork();

		if (!child)
			_exit(open_as_another(path, users[i]));
		assert_int_equal(waitpid(child, &status, 0), child);
		if (status)
			fail_msg("user %u: status %#x", users[i], status);
	}
	unlink(path);
	close(fd);
	recording_done(&r);
}

/* Measured with perf 6.1. */
TEST(itrace_takes_what_perf_takes)
{
	static const char *const good[] = { "",       "ibxwpe", "i0ns", "i10msb",  "i10",
					    "i,10ns", "i 10i",  "g16b", "g,b",     "G64L64",
					    "s100",   "e+o-l",  "e+x",  "d+a-o+e", "qqAZMatmfoIp",
					    "g1024",  "i,b" };
	static const char *const bad[] = { "bogus", "i10b", "i10,b", "i10m",  "100ns", "e+",
					   "e+1",   "g0",   "g1025", "l2000", "s",     "sx",
					   "s0x10", "T",    "i+3",   "g=16",  "-" };
	size_t at;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(itrace_valid(good[i], rules_of(SONDE_COMPAT_PERF_6_1), &at));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(itrace_valid(bad[i], rules_of(SONDE_COMPAT_PERF_6_1), &at));
	assert_false(itrace_valid("ie+", &default_rules, &at));
	assert_int_equal(at, 1);
	assert_true(itrace_valid("Ty", rules_of(SONDE_COMPAT_PERF_6_12), &at));
}

TEST(nearest)
{
	struct sonde_nearest n = { .size = sizeof(n), .wanted = "sched_swich" };

	assert_int_equal(sonde_nearest_offer(&n, "irq:softirq_entry"), 1);
	assert_string_equal(n.closest, "irq:softirq_entry");
	assert_null(n.meant);
	assert_int_equal(sonde_nearest_offer(&n, "sched:sched_switch"), 1);
	assert_int_equal(sonde_nearest_offer(&n, "sched:sched_switch"), 0);
	assert_int_equal(sonde_nearest_offer(&n, "sched:sched_stick"), 0);
	assert_string_equal(n.closest, "sched:sched_switch");
	assert_string_equal(n.meant, "sched:sched_switch");
	assert_int_equal(n.distance, 2);
	n.size = 4;
	assert_int_equal(sonde_nearest_offer(&n, "sched_swich"), -EINVAL);
	n = (struct sonde_nearest){ .size = sizeof(n) };
	assert_int_equal(sonde_nearest_offer(&n, "sched_swich"), -EINVAL);
	assert_non_null(strstr(sonde_error_text(), "n->wanted is NULL"));
}

TEST(the_rules_of_a_session_are_its_versions)
{
	static const char *const versions[] = { "none", "perf-6.1", "perf-6.12" };

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct sonde_session *s;
		char text[4200];

		snprintf(text, sizeof(text), "input=%s\ncompat=%s\n", getenv("SONDE_DEMO_DATA"),
			 versions[i]);
		assert_int_equal(sonde_session_open(&s, text, NULL), 0);
		assert_ptr_equal(sonde_session_rules(s), sonde_rules_find(versions[i]));
		assert_string_equal(sonde_session_rules(s)->version, versions[i]);
		sonde_session_close(s);
	}
}
