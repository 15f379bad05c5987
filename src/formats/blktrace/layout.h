/* SPDX-License-Identifier: MIT */
/*
 * blktrace's format in numbers: a stream of records, each a header and pdu_len bytes of payload.
 * docs/formats/blktrace.md has the facts and their origin.
 */
#ifndef SONDE_FORMATS_BLKTRACE_LAYOUT_H
#define SONDE_FORMATS_BLKTRACE_LAYOUT_H

#include <stdint.h>

/* The first word of each record. The low byte is the version. */
#define BLKTRACE_MAGIC 0x65617400u

enum {
	BLKTRACE_VERSION_7 = 7, /* struct blktrace_header_7 */
	BLKTRACE_VERSION_8 = 8, /* struct blktrace_header_8 */
	BLKTRACE_LARGEST_RECORD = 64 + UINT16_MAX
};

/* Numbers are in the byte order of the recorded machine. */
struct blktrace_header_7 {
	uint32_t magic;
	uint32_t sequence; /* counts a cpu's records from 1; 0 in notes */
	uint64_t time_ns;
	uint64_t sector; /* number of a sector of 512 bytes */
	uint32_t bytes;
	uint32_t action; /* low half: enum blktrace_act; high half: enum blktrace_category */
	uint32_t pid;    /* the thread's id */
	uint32_t device; /* major << 20 | minor */
	uint32_t cpu;
	uint16_t error; /* the low half of a negative errno */
	uint16_t pdu_len;
};
_Static_assert(sizeof(struct blktrace_header_7) == 48, "as on disk");

struct blktrace_header_8 {
	uint32_t magic;
	uint32_t sequence;
	uint64_t time_ns;
	uint64_t sector;
	uint32_t bytes;
	uint32_t pid;
	uint64_t action; /* low 16 bits: enum blktrace_act; the others: categories */
	uint32_t device;
	uint32_t cpu;
	uint16_t error;
	uint16_t pdu_len;
	uint8_t pad[12];
};
_Static_assert(sizeof(struct blktrace_header_8) == 64, "as on disk");

enum { BLKTRACE_CATEGORY_SHIFT = 16, BLKTRACE_MINOR_BITS = 20, BLKTRACE_SECTOR_SHIFT = 9 };

enum blktrace_act {
	BLKTRACE_QUEUE = 1,
	BLKTRACE_BACKMERGE = 2,
	BLKTRACE_FRONTMERGE = 3,
	BLKTRACE_GETRQ = 4,
	BLKTRACE_SLEEPRQ = 5,
	BLKTRACE_REQUEUE = 6,
	BLKTRACE_ISSUE = 7,
	BLKTRACE_COMPLETE = 8,
	BLKTRACE_PLUG = 9,
	BLKTRACE_UNPLUG = 10,
	BLKTRACE_UNPLUG_TIMER = 11,
	BLKTRACE_INSERT = 12,
	BLKTRACE_SPLIT = 13,
	BLKTRACE_BOUNCE = 14,
	BLKTRACE_REMAP = 15,
	BLKTRACE_ABORT = 16,
	BLKTRACE_DRV_DATA = 17,
	BLKTRACE_ZONE_PLUG = 18,
	BLKTRACE_ZONE_UNPLUG = 19,
	NR_BLKTRACE_ACTS,
	/* a flag: the payload begins with the u64 id of a control group */
	BLKTRACE_ACT_CGROUP = 0x100
};

/* The acts of records in the category NOTIFY. */
enum blktrace_note {
	BLKTRACE_NOTE_PROCESS = 0,   /* pid's name: 16 bytes, padded with NULs */
	BLKTRACE_NOTE_TIMESTAMP = 1, /* u32 seconds, u32 nanoseconds: the time of day */
	BLKTRACE_NOTE_MESSAGE = 2    /* text without NUL */
};

/* Bits of an action above BLKTRACE_CATEGORY_SHIFT. */
enum blktrace_category {
	BLKTRACE_READ = 1u << 0,
	BLKTRACE_WRITE = 1u << 1,
	BLKTRACE_FLUSH = 1u << 2,
	BLKTRACE_SYNC = 1u << 3,
	BLKTRACE_FS = 1u << 8,
	/* a packet command: a request from the driver, not from a file system */
	BLKTRACE_PC = 1u << 9,
	BLKTRACE_NOTIFY = 1u << 10,
	BLKTRACE_AHEAD = 1u << 11,
	BLKTRACE_META = 1u << 12,
	BLKTRACE_DISCARD = 1u << 13,
	BLKTRACE_FUA = 1u << 15
};

#endif
