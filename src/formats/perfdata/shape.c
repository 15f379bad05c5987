/* SPDX-License-Identifier: MIT */
#include "formats/perfdata/shape.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/bytes.h"
#include "formats/perfdata/layout.h"

enum {
	HEADER_BYTES = sizeof(struct perfdata_record_header),
	FIRST_TOOL_RECORD = 64,
	PID_MAX = 1 << 22, /* the kernel's limit */
	PAIR_BYTES = 16,   /* two u64 */
	ATTR_SIZE_AT = 4,  /* offset of `size` in a perf_event_attr */
	ATTR_MIN_BYTES = 64,
	NAME_BYTES = 64, /* names are padded to this, or have this much room */
	SCHEDSTAT_VERSION_MIN = 15,
	SCHEDSTAT_VERSION_MAX = 17,
	/* Types of Linux 6.17, for builds with older kernel headers. */
	CALLCHAIN_DEFERRED = 22
};

/* Flags of AUX: truncated, overwrite, partial, collision; bits 8 to 15 are the PMU's format. */
static const uint64_t AUX_FLAGS = 0xff0f;

/* The bytes of a record between header and trailer. */
struct record_body {
	const uint8_t *at;
	uint32_t len;
	bool swap;
};

static uint16_t shape_u16_at(struct record_body b, uint32_t off)
{
	return off + 2 <= b.len ? get_u16(b.at + off, b.swap) : UINT16_MAX;
}

static uint32_t shape_u32_at(struct record_body b, uint32_t off)
{
	return off + 4 <= b.len ? get_u32(b.at + off, b.swap) : UINT32_MAX;
}

static uint64_t shape_u64_at(struct record_body b, uint32_t off)
{
	return off + 8 <= b.len ? get_u64(b.at + off, b.swap) : UINT64_MAX;
}

static uint32_t shape_padded(uint32_t bytes)
{
	return (bytes + 7) & ~UINT32_C(7);
}

/* True if the body has `fixed` bytes, and the number of entries that the u64 at nr_at gives. */
static bool shape_has_entries(struct record_body b, uint32_t nr_at, uint32_t fixed,
			      uint32_t entry_bytes)
{
	const uint64_t nr = shape_u64_at(b, nr_at);

	return nr <= UINT16_MAX && b.len == fixed + nr * entry_bytes;
}

/* A text that ends with the record: NUL and padding are at most 8 bytes. */
static bool shape_ends_with_text(struct record_body b, uint32_t off)
{
	const uint8_t *nul = off < b.len ? memchr(b.at + off, '\0', b.len - off) : NULL;

	return nul && shape_padded((uint32_t)(nul - b.at) + 1 - off) == b.len - off;
}

/* `nr` ids of processes or threads; -1 is the kernel's. */
static bool shape_has_tasks(struct record_body b, unsigned nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		const int32_t id = (int32_t)shape_u32_at(b, i * 4);

		if (i * 4 + 4 > b.len || id < -1 || id > PID_MAX)
			return false;
	}
	return true;
}

/* u64 addr | u16 old bytes, new bytes | both of them, padded */
static bool shape_is_text_poke(struct record_body b)
{
	return b.len == shape_padded(12 + shape_u16_at(b, 8) + shape_u16_at(b, 10));
}

/* u32 pid, tid | one count with times, id and losses; or a group's, which begins with u64 nr */
static bool shape_is_read(struct record_body b)
{
	return shape_has_tasks(b, 2) && b.len >= 16 &&
	       (b.len <= 48 || shape_u64_at(b, 8) < b.len / 8);
}

static bool shape_is_of_kernel(uint32_t type, struct record_body b)
{
	switch (type) {
	case PERF_RECORD_MMAP:
		return shape_has_tasks(b, 2) && shape_ends_with_text(b, 32);
	case PERF_RECORD_MMAP2:
		return shape_has_tasks(b, 2) && shape_ends_with_text(b, 64);
	case PERF_RECORD_COMM:
		return shape_has_tasks(b, 2) && shape_ends_with_text(b, 8);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return b.len == 24 && shape_has_tasks(b, 4);
	case PERF_RECORD_LOST:
	case PERF_RECORD_BPF_EVENT:
		return b.len == 16;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return b.len == 24;
	case PERF_RECORD_AUX:
		return b.len == 24 && !(shape_u64_at(b, 16) & ~AUX_FLAGS);
	case PERF_RECORD_READ:
		return shape_is_read(b);
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return b.len == 8 && shape_has_tasks(b, 2);
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		return b.len == 8;
	case PERF_RECORD_SWITCH:
		return !b.len;
	case PERF_RECORD_NAMESPACES:
		return shape_has_tasks(b, 2) && shape_has_entries(b, 8, 16, PAIR_BYTES);
	case PERF_RECORD_KSYMBOL:
		return shape_ends_with_text(b, 16);
	case PERF_RECORD_CGROUP: /* a path */
		return shape_ends_with_text(b, 8) && b.at[8] == '/';
	case PERF_RECORD_TEXT_POKE:
		return shape_is_text_poke(b);
	case CALLCHAIN_DEFERRED:
		return shape_has_entries(b, 8, 16, 8);
	default:
		return true;
	}
}

/* u16 kind: 0 cpus (u16 number, u16 each), 1 a mask, 2 a range */
static bool shape_is_cpu_map(struct record_body b)
{
	switch (shape_u16_at(b, 0)) {
	case 0:
		return shape_padded(HEADER_BYTES + 4 + 2 * shape_u16_at(b, 2)) ==
		       HEADER_BYTES + b.len;
	case 1:
		return b.len > 8 && (shape_u16_at(b, 4) == 4 || shape_u16_at(b, 4) == 8);
	case 2:
		return b.len == 8;
	default:
		return false;
	}
}

static bool shape_is_of_tool(uint32_t type, struct record_body b)
{
	const uint32_t attr_bytes = shape_u32_at(b, ATTR_SIZE_AT);

	switch (type) {
	case RECORD_HEADER_ATTR:
		return b.len % 8 == 0 && attr_bytes >= ATTR_MIN_BYTES && attr_bytes <= b.len;
	case RECORD_HEADER_EVENT_TYPE:
		return b.len == 8 + NAME_BYTES;
	case RECORD_HEADER_TRACING_DATA:
		return b.len >= 4 && (b.len <= 8 || shape_u32_at(b, 0) <= b.len);
	case RECORD_HEADER_BUILD_ID: /* u32 pid | u8 id[24] | name */
		return b.len > 28 && (b.len - 28) % NAME_BYTES == 0 && shape_has_tasks(b, 1);
	case RECORD_FINISHED_ROUND:
	case RECORD_FINISHED_INIT:
		return !b.len;
	case RECORD_ID_INDEX:
		return shape_has_entries(b, 0, 8, 2 * PAIR_BYTES) ||
		       shape_has_entries(b, 0, 8, 3 * PAIR_BYTES);
	case RECORD_AUXTRACE_INFO:
		return b.len >= 8 && b.len % 8 == 0;
	case RECORD_AUXTRACE:
		return b.len == 40;
	case RECORD_AUXTRACE_ERROR:
		return b.len >= 40 && b.len % 8 == 0;
	case RECORD_THREAD_MAP:
		return shape_has_entries(b, 0, 8, 24);
	case RECORD_CPU_MAP:
		return shape_is_cpu_map(b);
	case RECORD_STAT_CONFIG:
		return shape_has_entries(b, 0, 8, PAIR_BYTES);
	case RECORD_STAT:
		return b.len == 40;
	case RECORD_STAT_ROUND:
		return b.len == 16;
	case RECORD_EVENT_UPDATE: /* unit, scale, name, cpus */
		return b.len > 16 && shape_u64_at(b, 0) <= 3;
	case RECORD_TIME_CONV:
		return b.len == 24 || b.len == 48;
	case RECORD_HEADER_FEATURE:
		return b.len >= 8 && shape_u64_at(b, 0) < NR_FEATURES;
	case RECORD_BPF_METADATA: /* name of the program, and pairs of texts */
		return shape_has_entries(b, 16, 24, 2 * NAME_BYTES);
	case RECORD_SCHEDSTAT_CPU: /* u64 time | u32 cpu | u16 version */
		return shape_u16_at(b, 12) >= SCHEDSTAT_VERSION_MIN &&
		       shape_u16_at(b, 12) <= SCHEDSTAT_VERSION_MAX;
	default:
		return true;
	}
}

bool perfdata_has_shape(const uint8_t *rec, uint32_t len, uint32_t trailer_bytes, bool swap)
{
	const uint32_t type = get_u32(rec, swap);
	struct record_body b = { rec + HEADER_BYTES, len - HEADER_BYTES, swap };

	if (type >= FIRST_TOOL_RECORD)
		return shape_is_of_tool(type, b);
	if (len % 8 || b.len < trailer_bytes)
		return false;
	b.len -= trailer_bytes;
	return shape_is_of_kernel(type, b);
}
