/* SPDX-License-Identifier: MIT */
/*
 * A recording of tracepoints made in memory, in either byte order, for tests of pairs:
 *
 *	made:begin	int key, __data_loc char[] name, u64 ns
 *	made:end	int key, __rel_loc char[] why
 *	made:last	int key, char rest[] up to the end of the payload
 *
 * Samples have IDENTIFIER TID TIME CPU RAW.
 *
 *	struct traced t;
 *
 *	traced_open(&t, big);
 *	traced_begin(&t, 10, 7, 1, "first");	// time, tid, key, name
 *	traced_end(&t, 30, 7, 1, "done");
 *	open(traced_finish(&t));
 *	traced_close(&t);
 */
#ifndef TEST_TRACED_H
#define TEST_TRACED_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	TRACED_BYTES = 16 << 20,
	TRACED_EVENTS = 3,
	TRACED_IDS_AT = 104,
	TRACED_ATTR = 128,
	TRACED_ATTRS_AT = TRACED_IDS_AT + 8 * TRACED_EVENTS,
	TRACED_DATA_AT = TRACED_ATTRS_AT + TRACED_EVENTS * (TRACED_ATTR + 16),
	TRACED_TRACING_DATA = 1, /* feature bits */
	TRACED_EVENT_DESC = 12
};

enum traced_event { TRACED_BEGIN, TRACED_END, TRACED_LAST };

struct traced {
	uint8_t *bytes; /* owned */
	size_t len;
	bool is_big;
	int fd;
	char path[32];
};

#define TRACED_COMMON                                                                  \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                   \
	"\tfield:int key;\toffset:8;\tsize:4;\tsigned:1;\n"

static const char *const traced_formats[TRACED_EVENTS] = {
	"name: begin\nID: 1\nformat:\n" TRACED_COMMON
	"\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:u64 ns;\toffset:16;\tsize:8;\tsigned:0;\n\nprint fmt: \"%d\", REC->key\n",
	"name: end\nID: 2\nformat:\n" TRACED_COMMON
	"\tfield:__rel_loc char[] why;\toffset:12;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"%d\", REC->key\n",
	"name: last\nID: 3\nformat:\n" TRACED_COMMON
	"\tfield:char rest[];\toffset:12;\tsize:0;\tsigned:0;\n\nprint fmt: \"%d\", REC->key\n",
};
static const char *const traced_names[TRACED_EVENTS] = { "made:begin", "made:end", "made:last" };

static inline void traced_put(struct traced *t, const void *p, size_t n)
{
	memcpy(t->bytes + t->len, p, n);
	t->len += n;
}

/* A number of `bytes` bytes, in the order of the recording. */
static inline void traced_number(struct traced *t, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		t->bytes[t->len++] = (uint8_t)(v >> 8 * (t->is_big ? bytes - 1 - i : i));
}

static inline void traced_number_at(struct traced *t, size_t at, uint64_t v, unsigned bytes)
{
	const size_t len = t->len;

	t->len = at;
	traced_number(t, v, bytes);
	t->len = len;
}

static inline void traced_text(struct traced *t, const char *text)
{
	traced_put(t, text, strlen(text) + 1);
}

static inline void traced_pad(struct traced *t, size_t begin, size_t align)
{
	while ((t->len - begin) % align)
		t->bytes[t->len++] = 0;
}

static inline void traced_attr(struct traced *t, unsigned event)
{
	const size_t begin = t->len;

	traced_number(t, PERF_TYPE_TRACEPOINT, 4);
	traced_number(t, TRACED_ATTR, 4);
	traced_number(t, event + 1, 8);
	traced_number(t, 1, 8);
	traced_number(t,
		      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			      PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
		      8);
	traced_number(t, 0, 8);
	/* sample_id_all is bit 18; bit-fields begin at the other end of each byte. */
	traced_put(t, t->is_big ? "\0\0\x20" : "\0\0\x04", 3);
	t->len = begin + TRACED_ATTR; /* mapped memory is 0 */
}

static inline void traced_open(struct traced *t, bool is_big)
{
	*t = (struct traced){ .is_big = is_big,
			      .fd = -1,
			      .bytes = mmap(NULL, TRACED_BYTES, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) };
	t->len = TRACED_IDS_AT;
	for (unsigned i = 0; i < TRACED_EVENTS; i++)
		traced_number(t, i + 1, 8);
	for (unsigned i = 0; i < TRACED_EVENTS; i++) {
		traced_attr(t, i);
		traced_number(t, TRACED_IDS_AT + 8 * i, 8);
		traced_number(t, 8, 8);
	}
}

/* A record's header; traced_end_record() sets its size. */
static inline size_t traced_record(struct traced *t, uint32_t type)
{
	const size_t at = t->len;

	traced_number(t, type, 4);
	traced_number(t, PERF_RECORD_MISC_KERNEL, 2);
	traced_number(t, 0, 2);
	return at;
}

static inline void traced_end_record(struct traced *t, size_t at)
{
	traced_pad(t, at, 8);
	traced_number_at(t, at + 6, t->len - at, 2);
}

/* Begins a sample up to the key; *ret_raw is the place of its payload. */
static inline size_t traced_sample(struct traced *t, enum traced_event event, uint64_t time_ns,
				   int tid, int cpu, int key, size_t *ret_raw)
{
	const size_t at = traced_record(t, PERF_RECORD_SAMPLE);

	traced_number(t, event + 1, 8);
	traced_number(t, 1000, 4);
	traced_number(t, (uint64_t)tid, 4);
	traced_number(t, time_ns, 8);
	traced_number(t, (uint64_t)cpu, 4);
	traced_number(t, 0, 4);
	traced_number(t, 0, 4);
	*ret_raw = t->len;
	traced_number(t, event + 1, 2);
	traced_number(t, 0, 2);
	traced_number(t, (uint64_t)tid, 4);
	traced_number(t, (uint64_t)key, 4);
	return at;
}

static inline void traced_end_sample(struct traced *t, size_t at, size_t raw)
{
	/* The size of the payload and the payload together are a multiple of 8. */
	while ((t->len - raw + 4) % 8)
		t->bytes[t->len++] = 0;
	traced_number_at(t, raw - 4, t->len - raw, 4);
	traced_end_record(t, at);
}

static inline void traced_begin_on(struct traced *t, uint64_t time_ns, int tid, int cpu, int key,
				   const char *name)
{
	size_t raw, at = traced_sample(t, TRACED_BEGIN, time_ns, tid, cpu, key, &raw);

	traced_number(t, 24 | (strlen(name) + 1) << 16, 4);
	traced_number(t, 77, 8);
	traced_text(t, name);
	traced_end_sample(t, at, raw);
}

static inline void traced_begin(struct traced *t, uint64_t time_ns, int tid, int key,
				const char *name)
{
	traced_begin_on(t, time_ns, tid, 0, key, name);
}

static inline void traced_end(struct traced *t, uint64_t time_ns, int tid, int key, const char *why)
{
	size_t raw, at = traced_sample(t, TRACED_END, time_ns, tid, 0, key, &raw);

	traced_number(t, (strlen(why) + 1) << 16, 4);
	traced_text(t, why);
	traced_end_sample(t, at, raw);
}

static inline void traced_last(struct traced *t, uint64_t time_ns, int tid, int key,
			       const char *rest)
{
	size_t raw, at = traced_sample(t, TRACED_LAST, time_ns, tid, 0, key, &raw);

	traced_text(t, rest);
	traced_end_sample(t, at, raw);
}

static inline void traced_lost(struct traced *t, uint64_t time_ns, int cpu)
{
	const size_t at = traced_record(t, PERF_RECORD_LOST);

	traced_number(t, 1, 8);
	traced_number(t, 3, 8);
	traced_number(t, 1000, 4);
	traced_number(t, 1000, 4);
	traced_number(t, time_ns, 8);
	traced_number(t, (uint64_t)cpu, 4);
	traced_number(t, 0, 4);
	traced_number(t, 1, 8);
	traced_end_record(t, at);
}

static inline void traced_counted_text(struct traced *t, const char *text, unsigned bytes)
{
	traced_number(t, strlen(text), bytes);
	traced_put(t, text, strlen(text));
}

static inline void traced_tracing_data(struct traced *t)
{
	static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				   "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

	traced_put(t, "\x17\x08\x44tracing0.6", 14);
	traced_number(t, t->is_big, 1);
	traced_number(t, 8, 1);
	traced_number(t, 4096, 4);
	traced_text(t, "header_page");
	traced_counted_text(t, page, 8);
	traced_text(t, "header_event");
	traced_counted_text(t, "# no entries\n", 8);
	traced_number(t, 0, 4);
	traced_number(t, 1, 4);
	traced_text(t, "made");
	traced_number(t, TRACED_EVENTS, 4);
	for (unsigned i = 0; i < TRACED_EVENTS; i++)
		traced_counted_text(t, traced_formats[i], 8);
	traced_number(t, 0, 4);
	traced_number(t, 0, 4);
	traced_number(t, 0, 8);
}

static inline void traced_event_desc(struct traced *t)
{
	traced_number(t, TRACED_EVENTS, 4);
	traced_number(t, TRACED_ATTR, 4);
	for (unsigned i = 0; i < TRACED_EVENTS; i++) {
		traced_attr(t, i);
		traced_number(t, 1, 4);
		traced_number(t, 64, 4);
		traced_put(t, traced_names[i], strlen(traced_names[i]));
		t->len += 64 - strlen(traced_names[i]);
		traced_number(t, i + 1, 8);
	}
}

/* The path to open. */
static inline const char *traced_finish(struct traced *t)
{
	const size_t data_end = t->len, table = t->len;
	size_t begin;

	t->len += 2 * 16;
	for (unsigned i = 0; i < 2; i++) {
		begin = t->len;
		if (i)
			traced_event_desc(t);
		else
			traced_tracing_data(t);
		traced_number_at(t, table + 16 * i, begin, 8);
		traced_number_at(t, table + 16 * i + 8, t->len - begin, 8);
		traced_pad(t, 0, 8);
	}
	begin = t->len;
	t->len = 0;
	traced_number(t, 0x32454c4946524550, 8);
	traced_number(t, 104, 8);
	traced_number(t, TRACED_ATTR + 16, 8);
	traced_number(t, TRACED_ATTRS_AT, 8);
	traced_number(t, TRACED_EVENTS * (TRACED_ATTR + 16), 8);
	traced_number(t, TRACED_DATA_AT, 8);
	traced_number(t, data_end - TRACED_DATA_AT, 8);
	t->len += 16;
	traced_number(t, 1u << TRACED_TRACING_DATA | 1u << TRACED_EVENT_DESC, 8);
	t->len = begin;
	t->fd = memfd_create("traced", MFD_CLOEXEC);
	if (write(t->fd, t->bytes, t->len) != (ssize_t)t->len)
		return NULL;
	snprintf(t->path, sizeof(t->path), "/proc/self/fd/%d", t->fd);
	return t->path;
}

static inline void traced_close(struct traced *t)
{
	munmap(t->bytes, TRACED_BYTES);
	close(t->fd);
}

#endif
