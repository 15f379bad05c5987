/* SPDX-License-Identifier: MIT */
/*
 * Each allocation in turn fails. Opening and reading must then return -ENOMEM or the same result as
 * with enough memory, without crashes, leaks and wrong answers.
 *
 * The linker wraps the allocators that the library calls (--wrap), not those inside libc.
 */
#include "unittest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "open.h"
#include "recording.h"
#include "sonde/sonde.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
void __wrap_free(void *p);

static long allocations, fail_at, living;

/*
 * The allocation with the number fail_at fails (0: none), and no later one. So a caller that
 * continues must have handled the failure.
 */
static bool fails(void)
{
	return ++allocations == fail_at;
}

static void *born(void *p)
{
	living += p != NULL;
	return p;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : born(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : born(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	void *q = fails() ? NULL : __real_realloc(p, size);

	living += q && !p;
	return q;
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	void *q = fails() ? NULL : __real_reallocarray(p, n, size);

	living += q && !p;
	return q;
}

char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : born(__real_strdup(s));
}

char *__wrap_strndup(const char *s, size_t n)
{
	return fails() ? NULL : born(__real_strndup(s, n));
}

void __wrap_free(void *p)
{
	living -= p != NULL;
	__real_free(p);
}

/* The output of a run, and its result. */
struct answers {
	char *text;
	size_t len;
	int result;
};

enum { TEXT_BYTES = 4 << 20 };

static void note_answer(struct answers *t, const char *text, size_t n)
{
	assert_true(t->len + n < TEXT_BYTES);
	memcpy(t->text + t->len, text, n);
	t->len += n;
}

/* ask: also calls every function about each event. */
static void read_all(const char *session, bool ask, struct answers *ret)
{
	struct sonde_event *dup = NULL;
	const struct sonde_event *ev;
	struct sonde_session *s;
	const struct sonde_defect *d;

	ret->len = 0;
	ret->result = sonde_session_open(&s, session, NULL);
	if (ret->result < 0)
		return;
	while ((ret->result = sonde_session_next(s, &ev)) > 0) {
		if (sonde_schema_kind(sonde_event_schema(s, ev)) == SONDE_DEFECT &&
		    !strcmp((const char *)ev->bytes, "no-memory"))
			continue;
		if (ask) {
			struct outbuf o = { 0 };

			sonde_event_free(dup);
			dup = sonde_event_dup(ev);
			dump_event(&o, ev);
			if (!o.failed)
				note_answer(ret, o.data, o.len);
			outbuf_done(&o);
		} else {
			char line[256];
			int n = snprintf(line, sizeof(line), "%s %llu %d/%d %s\n",
					 sonde_schema_name(sonde_event_schema(s, ev)),
					 (unsigned long long)ev->time_ns, ev->pid, ev->tid,
					 sonde_session_string(s, ev->comm));

			note_answer(ret, line, (size_t)n);
		}
	}
	sonde_event_free(dup);
	for (size_t i = 0; (d = sonde_session_defect(s, i)); i++) {
		if (strcmp(d->name, "no-memory") != 0) /* the only allowed difference */
			note_answer(ret, d->name, strlen(d->name) + 1);
	}
	sonde_session_close(s);
}

/* All values of the first batches of all tables. Returns <0 on failure. */
static int read_tables(struct sonde_session *s, struct sonde_columns *c, struct answers *ret)
{
	const struct sonde_columns_options o = { .size = sizeof(o), .rows = 50 };
	struct ArrowSchema schema;
	struct ArrowArray a;
	uint32_t table;
	int r;

	for (uint32_t i = 0; i < sonde_session_schemas(s); i++) {
		const struct sonde_schema *sc = sonde_session_schema(s, i);

		if (sonde_schema_kind(sc) > SONDE_SAMPLE || sonde_schema_family(sc) != i)
			continue;
		r = sonde_columns_add(c, sonde_schema_name(sc), NULL, &o);
		if (r < 0)
			return r;
		r = sonde_columns_schema(c, (uint32_t)r, &schema);
		if (r < 0)
			return r;
		schema.release(&schema);
	}
	while ((r = sonde_columns_next(c, &table, &a)) > 0) {
		for (int64_t i = 0; i < a.n_children; i++) {
			const struct ArrowArray *column = a.children[i];
			const struct ArrowArray *d = column->dictionary;

			note_answer(ret, column->buffers[1], (size_t)(4 * column->length));
			if (d)
				note_answer(ret, d->buffers[2],
					    (size_t)((const int32_t *)d->buffers[1])[d->length]);
		}
		a.release(&a);
	}
	return r;
}

static int read_all_frames(struct sonde_columns *c)
{
	const struct sonde_columns_options o = { .size = sizeof(o), .flags = SONDE_COLUMNS_FRAMES };
	struct ArrowSchema schema;
	struct ArrowArray a;
	uint32_t table;
	int r = sonde_columns_add(c, "cpu-clock", "ip", &o);

	if (r < 0)
		return r;
	while ((r = sonde_columns_next(c, &table, &a)) > 0)
		a.release(&a);
	for (int i = 0; !r && i < 2; i++) { /* the second one follows a copy of the bitmaps */
		r = sonde_columns_frames(c, 0, &schema, &a);
		if (r)
			break;
		schema.release(&schema);
		a.release(&a);
	}
	return r;
}

/* Only the result: a place without a name may be one whose name found no memory. */
static void read_frames(const char *session, bool ask, struct answers *ret)
{
	struct sonde_session *s;
	struct sonde_columns *c;

	(void)ask;
	ret->len = 0;
	ret->result = sonde_session_open(&s, session, NULL);
	if (ret->result < 0)
		return;
	ret->result = sonde_columns_new(&c, s);
	if (!ret->result) {
		ret->result = read_all_frames(c);
		sonde_columns_free(c);
	}
	sonde_session_close(s);
}

static void read_columns(const char *session, bool ask, struct answers *ret)
{
	struct sonde_session *s;
	struct sonde_columns *c;

	ret->len = 0;
	ret->result = sonde_session_open(&s, session, NULL);
	if (ret->result < 0)
		return;
	ret->result = sonde_columns_new(&c, s);
	if (!ret->result) {
		ret->result = read_tables(s, c, ret);
		sonde_columns_free(c);
	}
	sonde_session_close(s);
}

/* Aggregations of all events, as text and JSON. Returns <0 on failure. */
static int read_aggregate(struct sonde_session *s, struct sonde_aggregate *a, struct answers *ret)
{
	const struct sonde_aggregate_print_options o = { .size = sizeof(o), .format = "json" };
	const struct sonde_event *ev;
	const int fd = memfd_create("aggregate", MFD_CLOEXEC);
	ssize_t n;
	int r;

	while ((r = sonde_session_next(s, &ev)) > 0) {
		r = sonde_aggregate_add(a, &ev, 1);
		if (r < 0)
			break;
	}
	if (r >= 0)
		r = sonde_aggregate_print(a, fd, &o);
	if (r >= 0)
		r = sonde_aggregate_print(a, fd, NULL);
	n = pread(fd, ret->text + ret->len, TEXT_BYTES - ret->len, 0);
	assert_in_range(n, 0, TEXT_BYTES - ret->len - 1);
	ret->len += (size_t)n;
	close(fd);
	return r;
}

static void read_aggregates(const char *session, bool ask, struct answers *ret)
{
	const bool has_chains = !strstr(session, demo());
	const struct sonde_aggregate_options o = {
		.size = sizeof(o),
		.kind = has_chains ? "stats" : "hist",
		.events = has_chains ? "*" : "syscalls:*",
		.field = has_chains ? "ip" : "count",
		.by = has_chains ? "stack,comm,pid" : "name,comm,fd",
		.where = "cpu >= 0",
		.limit = 7,
	};
	struct sonde_aggregate *a;
	struct sonde_session *s;

	ret->len = 0;
	ret->result = sonde_session_open(&s, session, NULL);
	if (ret->result < 0)
		return;
	ret->result = sonde_aggregate_new(&a, s, &o);
	if (!ret->result) {
		ret->result = read_aggregate(s, a, ret);
		sonde_aggregate_free(a);
	}
	sonde_session_close(s);
}

static void sweep_reader(void (*read)(const char *, bool, struct answers *), const char *session,
			 bool ask)
{
	struct answers all = { .text = __real_malloc(TEXT_BYTES) },
		       less = { .text = __real_malloc(TEXT_BYTES) };
	long needed, silent = 0, step = ask ? 7 : 1;

	allocations = fail_at = 0;
	read(session, ask, &all);
	assert_int_equal(all.result, 0);
	needed = allocations;
	for (long n = 1; n <= needed; n += step) {
		long before = living;

		allocations = 0;
		fail_at = n;
		read(session, ask, &less);
		fail_at = 0;
		if (living != before)
			fail_msg("allocation %ld of %ld: %ld are never freed", n, needed,
				 living - before);
		if (less.result == -ENOMEM) {
			assert_non_null(strstr(sonde_error_text(), "memory"));
			continue;
		}
		if (less.result)
			fail_msg("allocation %ld of %ld: %d: %s", n, needed, less.result,
				 sonde_error_text());
		if (!ask && (less.len != all.len || memcmp(less.text, all.text, all.len)))
			fail_msg("allocation %ld of %ld: nothing failed, but the output was "
				 "another one",
				 n, needed);
		silent++;
	}
	print_message("# %ld allocations; %ld runs did without\n", needed, silent);
	__real_free(all.text);
	__real_free(less.text);
}

static void sweep(const char *session, bool ask)
{
	sweep_reader(read_all, session, ask);
}

static void sweep_file(const char *path, const char *more, bool ask)
{
	char session[512];

	snprintf(session, sizeof(session), "input=%s\nkallsyms=/dev/null\nwindow=65536\n%s", path,
		 more);
	sweep(session, ask);
}

static const char *small_recording(struct recording *r)
{
	const uint64_t chain[] = { 0x401000, 0x501000 };

	recording_begin(r);
	for (uint32_t i = 0; i < 60; i++) {
		char name[32];

		snprintf(name, sizeof(name), "task-%u", i);
		recording_comm(r, 100 - i % 50, 10 + i, 10 + i, name, i % 2);
		recording_mmap(r, 100 + i, 10 + i, 0x400000, 0x200000, "/bin/x");
		recording_fork(r, 100 + i, 100 + i, 100 + i, 10 + i, 10 + i);
		recording_sample(r, 100 + i, 10 + i, 10 + i, chain, 2);
	}
	return recording_finish(r);
}

TEST(reading_a_recording_of_tracepoints)
{
	sweep_file(demo(), "", false);
	sweep_file(demo(), "events=all\n", false);
}

TEST(reading_a_recording_of_tasks)
{
	struct recording r;

	small_recording(&r);
	sweep_file(r.path, "events=all\ntime=0,1\ncpu=1\npid=10,11,12,40\ncomm=task-1,task-2\n",
		   false);
	sweep_file(r.path, "events=all\n", false);
	recording_done(&r);
}

TEST(reading_several_recordings)
{
	struct recording r;
	char session[1024];

	small_recording(&r);
	snprintf(session, sizeof(session),
		 "input=%s\ninput=%s\noffset=0.5\nwindow=65536\nevents=all\ntime=0,1 2,3\n"
		 "clock=relative\n",
		 r.path, r.path);
	sweep(session, false);
	recording_done(&r);
	snprintf(session, sizeof(session), "input=%s\ninput=%s\nwindow=65536\n", demo(), demo());
	sweep(session, false);
}

/* Without memory, answers about an event are empty or an error. Later calls give them. */
TEST(asking_everything)
{
	struct recording r;

	small_recording(&r);
	sweep_file(r.path, "events=all\n", true);
	recording_done(&r);
	sweep_file(demo(), "", true);
}

TEST(filling_columns)
{
	struct recording r;
	char session[512];

	small_recording(&r);
	snprintf(session, sizeof(session), "input=%s\nkallsyms=/dev/null\nwindow=65536\n", r.path);
	sweep_reader(read_columns, session, false);
	recording_done(&r);
	snprintf(session, sizeof(session), "input=%s\nkallsyms=/dev/null\nwindow=65536\n", demo());
	sweep_reader(read_columns, session, false);
}

TEST(filling_frames)
{
	struct recording r;
	char session[512];

	small_recording(&r);
	snprintf(session, sizeof(session), "input=%s\nkallsyms=/dev/null\nwindow=65536\n", r.path);
	sweep_reader(read_frames, session, true);
	recording_done(&r);
}

TEST(adding_up_aggregates)
{
	struct recording r;
	char session[512];

	small_recording(&r);
	snprintf(session, sizeof(session), "input=%s\nkallsyms=/dev/null\nwindow=65536\n", r.path);
	sweep_reader(read_aggregates, session, false);
	recording_done(&r);
	snprintf(session, sizeof(session), "input=%s\nkallsyms=/dev/null\nwindow=65536\n", demo());
	sweep_reader(read_aggregates, session, false);
}
