/* SPDX-License-Identifier: MIT */
/*
 * The state of a recording of blktrace: a file for each cpu, or one stream. Each record is decoded
 * into a payload of one layout for all versions and byte orders (docs/formats/blktrace.md).
 */
#ifndef SONDE_SOURCES_BLKTRACE_BLKTRACE_H
#define SONDE_SOURCES_BLKTRACE_BLKTRACE_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "formats/blktrace/record.h"
#include "sources/source.h"

enum { BLKTRACE_COMM_BYTES = 16 };

/* The payload of all events, in this host's byte order; its end differs by enum blktrace_shape. */
struct blktrace_payload {
	uint64_t sector, action, cgroup;
	uint32_t dev, major, minor;
	uint32_t bytes, nr_sector;
	uint32_t pid, sequence;
	uint32_t error;
	char rwbs[BLKTRACE_RWBS_BYTES];
	char comm[BLKTRACE_COMM_BYTES];
	union {
		uint64_t count;
		struct {
			uint64_t old_sector;
			uint32_t old_dev, old_major, old_minor, pad;
		};
		uint32_t pdu; /* its place: length << 16 | offset */
	};
};

/*
 * A payload has its fixed part and the record's own payload with a NUL after it, and is aligned. A
 * decoded batch ends where the next payload would not fit.
 */
enum {
	BLKTRACE_LARGEST_PAYLOAD = sizeof(struct blktrace_payload) + UINT16_MAX + 8,
	BLKTRACE_PAYLOADS_BYTES = 2 * BLKTRACE_LARGEST_PAYLOAD
};

/* The end of a payload. */
enum blktrace_shape {
	SHAPE_PLAIN,
	SHAPE_PDU,      /* bytes after the payload's fixed part */
	SHAPE_REQUESTS, /* count: nr_rq */
	SHAPE_SPLIT,    /* count: new_sector */
	SHAPE_REMAP,
	SHAPE_MESSAGE, /* text in place of the fixed part's end */
	NR_SHAPES
};

/* Schemas that do not belong to an act. */
enum {
	SCHEMA_UNKNOWN_ACT = NR_BLKTRACE_ACTS,
	SCHEMA_MESSAGE,
	SCHEMA_COMM, /* records of state */
	SCHEMA_LOST,
	NR_BLKTRACE_SCHEMAS
};

/* Payloads of SCHEMA_COMM and SCHEMA_LOST. */
struct blktrace_comm {
	uint32_t pid;
	char comm[BLKTRACE_COMM_BYTES];
};
struct blktrace_lost {
	uint64_t dev, lost;
};

/* For a device on a cpu: the sequence of the next record if none is lost. */
struct blktrace_sequence {
	uint64_t key;
	uint32_t next;
};

struct blktrace_file {
	const char *path; /* in the arena */
	int fd;           /* owned; -1: the stream */
	uint64_t bytes;
	uint32_t cpu; /* from its name */
};

struct blktrace_process {
	char comm[BLKTRACE_COMM_BYTES];
};

struct blktrace_source {
	struct source source;
	struct source_options opts;
	struct arena arena;
	VEC(struct blktrace_file) files;
	struct sonde_schema *schemas[NR_BLKTRACE_SCHEMAS];
	struct hash64 process_of_pid; /* pid -> index in processes */
	VEC(struct blktrace_process) processes;
	struct hash64 sequence_of; /* device and cpu -> index in sequences */
	VEC(struct blktrace_sequence) sequences;
	size_t last_sequence; /* the index looked up last */
	/*
	 * If a note has the time of day: that time, and the recording's clock at the same moment.
	 */
	bool has_wall;
	uint64_t wall_ns, wall_clock_ns;
	bool swap;       /* of the first record */
	uint8_t version; /* of the first record; 0 if there is none */
	bool is_folder;  /* the path that was opened */
	char fact[32];   /* the value of the fact asked for last */
	/* The event about records lost in front of the next one has been delivered. */
	bool has_reported_loss;
	/* For the events of the last decode(). */
	_Alignas(8) uint8_t payloads[BLKTRACE_PAYLOADS_BYTES];
	size_t payloads_used;
	struct change change; /* for the note decoded last */
};

static inline struct blktrace_source *blktrace_of(struct source *s)
{
	return (struct blktrace_source *)s;
}

static inline const struct blktrace_source *blktrace_const_of(const struct source *s)
{
	return (const struct blktrace_source *)s;
}

/* open.c */
int blktrace_probe(const uint8_t *head, size_t len);
/* files.c: the files of a recording, in the order of their cpus. */
int blktrace_files_open(struct blktrace_source *s);
/* Finds the file that identifies the recording in the directory. Returns 1, or 0 if there is none.
 */
int blktrace_head_file(int dir, char ret[NAME_MAX + 1]);
/* cut.c */
int blktrace_cut(const struct source *s, unsigned file, struct unit *unit, const uint8_t *p,
		 size_t len, uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used,
		 size_t *ret_need);
/* schemas.c */
int blktrace_schemas_make(struct blktrace_source *s);
enum blktrace_shape blktrace_shape_of(unsigned schema);
/* decode.c */
int blktrace_decode(struct source *s, const struct cut *cuts, int nr, int *at, struct event *ret,
		    int max);

#endif
