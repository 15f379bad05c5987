/* SPDX-License-Identifier: MIT */
/*
 * A recording made in memory, for tests of sessions: two events, cpu-clock (id 1) and page-faults
 * (id 2), whose samples have IDENTIFIER IP TID TIME CPU READ (group, ids) CALLCHAIN; all records
 * have trailers.
 *
 *	struct recording r;
 *
 *	recording_begin(&r);
 *	recording_comm(&r, 10, 12, 12, "sh", false);
 *	recording_sample(&r, 20, 12, 12, (uint64_t[]){ 0x401000 }, 1);
 *	open(recording_finish(&r));
 *	recording_done(&r);
 */
#ifndef TEST_RECORDING_H
#define TEST_RECORDING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/perfdata/layout.h"

enum {
	RECORDING_BYTES = 4 << 20,
	RECORDING_ATTR_BYTES = 128,
	RECORDING_IDS_AT = 104,
	RECORDING_ATTRS_AT = RECORDING_IDS_AT + 16,
	RECORDING_DATA_AT = RECORDING_ATTRS_AT + 2 * (RECORDING_ATTR_BYTES + 16)
};

struct recording {
	uint8_t *bytes; /* owned */
	size_t len;
	int fd;
	char path[32];
	uint64_t counts[2]; /* of the two events, as in READ */
	bool is_plain;      /* samples have no READ, so each record gives one event */
};

static inline void recording_put(struct recording *r, const void *p, size_t n)
{
	memcpy(r->bytes + r->len, p, n);
	r->len += n;
}

static inline void recording_u64(struct recording *r, uint64_t v)
{
	recording_put(r, &v, sizeof(v));
}

static inline void recording_u32s(struct recording *r, uint32_t a, uint32_t b)
{
	recording_put(r, &a, sizeof(a));
	recording_put(r, &b, sizeof(b));
}

static inline void recording_begin_as(struct recording *r, bool is_plain)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = RECORDING_ATTR_BYTES,
		.sample_period = 1,
		.exclude_guest = 1,
		.sample_id_all = 1,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_READ |
			       PERF_SAMPLE_CALLCHAIN,
	};
	struct perfdata_header h = {
		.magic = PERFDATA_MAGIC,
		.size = sizeof(h),
		.attr_size = RECORDING_ATTR_BYTES + 16,
		.attrs = { RECORDING_ATTRS_AT, 2 * (RECORDING_ATTR_BYTES + 16) },
		.data = { RECORDING_DATA_AT, 0 },
	};

	if (is_plain)
		attr.sample_type &= ~(uint64_t)PERF_SAMPLE_READ;
	*r = (struct recording){
		.is_plain = is_plain,
		.bytes = mmap(NULL, RECORDING_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
	};
	recording_put(r, &h, sizeof(h));
	recording_u64(r, 1);
	recording_u64(r, 2);
	for (uint64_t i = 0; i < 2; i++) {
		attr.config = i ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_CPU_CLOCK;
		recording_put(r, &attr, RECORDING_ATTR_BYTES);
		recording_u64(r, RECORDING_IDS_AT + 8 * i);
		recording_u64(r, 8);
	}
}

static inline void recording_begin(struct recording *r)
{
	recording_begin_as(r, false);
}

/* Changes what the samples of both event types have: bits of PERF_SAMPLE_*. */
static inline void recording_sample_types(struct recording *r, uint64_t without, uint64_t with)
{
	for (int i = 0; i < 2; i++) {
		const size_t at = RECORDING_ATTRS_AT + (size_t)i * (RECORDING_ATTR_BYTES + 16) +
				  offsetof(struct perf_event_attr, sample_type);
		uint64_t type;

		memcpy(&type, r->bytes + at, sizeof(type));
		type = (type & ~without) | with;
		memcpy(r->bytes + at, &type, sizeof(type));
	}
}

/* A record's header; its size is set by the end. */
static inline size_t recording_open(struct recording *r, uint32_t type, uint16_t misc)
{
	size_t at = r->len;

	recording_put(r, &(struct perf_event_header){ .type = type, .misc = misc }, 8);
	return at;
}

static inline void recording_close(struct recording *r, size_t at)
{
	uint16_t size;

	r->len = (r->len + 7) & ~(size_t)7;
	size = (uint16_t)(r->len - at);
	memcpy(r->bytes + at + 6, &size, sizeof(size));
}

/* TID TIME CPU IDENTIFIER */
static inline void recording_trailer(struct recording *r, size_t at, uint64_t time_ns, uint32_t pid,
				     uint32_t tid)
{
	r->len = (r->len + 7) & ~(size_t)7;
	recording_u32s(r, pid, tid);
	recording_u64(r, time_ns);
	recording_u32s(r, 1, 0);
	recording_u64(r, 1);
	recording_close(r, at);
}

static inline void recording_comm(struct recording *r, uint64_t time_ns, uint32_t pid, uint32_t tid,
				  const char *comm, bool exec)
{
	size_t at = recording_open(r, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);

	recording_u32s(r, pid, tid);
	recording_put(r, comm, strlen(comm) + 1);
	recording_trailer(r, at, time_ns, pid, tid);
}

static inline void recording_fork(struct recording *r, uint64_t time_ns, uint32_t pid, uint32_t tid,
				  uint32_t ppid, uint32_t ptid)
{
	size_t at = recording_open(r, PERF_RECORD_FORK, 0);

	recording_u32s(r, pid, ppid);
	recording_u32s(r, tid, ptid);
	recording_u64(r, time_ns);
	recording_trailer(r, at, time_ns, ppid, ptid);
}

static inline void recording_exit(struct recording *r, uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	size_t at = recording_open(r, PERF_RECORD_EXIT, 0);

	recording_u32s(r, pid, 1);
	recording_u32s(r, tid, 1);
	recording_u64(r, time_ns);
	recording_trailer(r, at, time_ns, pid, tid);
}

static inline void recording_mmap(struct recording *r, uint64_t time_ns, uint32_t pid,
				  uint64_t start, uint64_t len, const char *name)
{
	size_t at = recording_open(r, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);

	recording_u32s(r, pid, pid);
	recording_u64(r, start);
	recording_u64(r, len);
	recording_u64(r, 0);
	recording_put(r, name, strlen(name) + 1);
	recording_trailer(r, at, time_ns, pid, pid);
}

/* The counts of both events have grown: the record gives two events. */
static inline void recording_sample(struct recording *r, uint64_t time_ns, uint32_t pid,
				    uint32_t tid, const uint64_t *chain, uint64_t nr_chain)
{
	size_t at = recording_open(r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	recording_u64(r, 1);
	recording_u64(r, nr_chain ? chain[0] : 0);
	recording_u32s(r, pid, tid);
	recording_u64(r, time_ns);
	recording_u32s(r, 1, 0);
	if (!r->is_plain)
		recording_u64(r, 2);
	for (uint64_t i = 0; i < 2 && !r->is_plain; i++) {
		recording_u64(r, r->counts[i] += 10 * i + 1 + time_ns % 7);
		recording_u64(r, i + 1);
	}
	recording_u64(r, nr_chain);
	recording_put(r, chain, nr_chain * 8);
	recording_close(r, at);
}

/* The path to open. */
static inline const char *recording_finish(struct recording *r)
{
	uint64_t size = r->len - RECORDING_DATA_AT;

	memcpy(r->bytes + 48, &size, sizeof(size));
	r->fd = memfd_create("recording", MFD_CLOEXEC);
	if (write(r->fd, r->bytes, r->len) != (ssize_t)r->len)
		return NULL;
	snprintf(r->path, sizeof(r->path), "/proc/self/fd/%d", r->fd);
	return r->path;
}

static inline void recording_done(struct recording *r)
{
	munmap(r->bytes, RECORDING_BYTES);
	close(r->fd);
}

#endif
