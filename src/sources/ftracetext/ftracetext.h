/* SPDX-License-Identifier: MIT */
/*
 * The state of ftrace's text. A record is the line of an event, with the lines in front of it that
 * report losses, and those after it that belong to it (a stack). Events get the layout of the
 * kernel's binary ones, as far as the text has their fields (docs/formats/ftracetext.md).
 */
#ifndef SONDE_SOURCES_FTRACETEXT_FTRACETEXT_H
#define SONDE_SOURCES_FTRACETEXT_FTRACETEXT_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/outbuf.h"
#include "base/vec.h"
#include "formats/ftracetext/line.h"
#include "sources/source.h"

enum {
	FTRACETEXT_COMM_BYTES = 64,
	FTRACETEXT_LONGEST_LINE = 32 * 1024, /* the kernel's are shorter than a page */
	FTRACETEXT_LONGEST_RECORD = 128 * 1024,
	/* The fixed part of an event has less than 64 KiB, and its text may be stored twice. */
	FTRACETEXT_PAYLOAD_BYTES = 64 * 1024 + 2 * FTRACETEXT_LONGEST_RECORD,
	FTRACETEXT_MOST_TYPES = 16384 /* of names of events: damaged text may have any */
};

/* An event type by the name in the text. */
struct ftracetext_type {
	const char *name; /* as the text has it; in the arena */
	size_t name_len;
	struct sonde_schema *schema; /* NULL: no event of this name is known */
	struct sonde_schema *plain;  /* has only the text; made when it is needed */
	const char *why;             /* no description was found; in the arena; NULL for markers */
	struct printfmt *print;      /* owned: the kernel's print format; NULL for system calls */
	bool has_whole_text;         /* the fields found make the text again */
	bool is_enter, is_exit;      /* of a system call */
	uint32_t fixed;              /* bytes of the fixed part */
	int32_t type_off, flags_off, preempt_off, pid_off, text_off; /* of fields; -1: none */
};

struct ftracetext_comm {
	char text[FTRACETEXT_COMM_BYTES];
};

struct ftracetext_comm_payload {
	uint32_t pid;
	char comm[FTRACETEXT_COMM_BYTES];
};
struct ftracetext_lost_payload {
	int32_t cpu;
	uint32_t pad;
	uint64_t lost;
};

struct ftracetext_source {
	struct source source;
	struct source_options opts;
	struct arena arena;
	int fd; /* owned */
	uint64_t file_bytes;
	char tracer[32];  /* in the head; maybe empty */
	bool has_flags;   /* the columns of the moment */
	bool is_latency;  /* of a latency tracer: in its format, or stored in a trace.dat */
	const char *head; /* the comments in front of the first event; in the arena */
	size_t head_len;
	bool has_formats;                    /* descriptions of events were found */
	struct hash64 type_of_name;          /* hash of the name -> index in types */
	VEC(struct ftracetext_type *) types; /* in the arena */
	struct sonde_schema *text_schema, *comm_schema, *lost_schema;
	struct hash64 comm_of_pid;
	VEC(struct ftracetext_comm) comms;
	/* The next event of the record: the losses in front of it, its task's name, itself. */
	uint32_t part;
	uint64_t part_of; /* the record's place in the file, plus 1 */
	struct change change;
	union {
		struct ftracetext_comm_payload comm;
		struct ftracetext_lost_payload lost;
	} made;
	_Alignas(8) uint8_t payload[FTRACETEXT_PAYLOAD_BYTES];
};

static inline struct ftracetext_source *ftracetext_of(struct source *s)
{
	return (struct ftracetext_source *)s;
}

static inline const struct ftracetext_source *ftracetext_const_of(const struct source *s)
{
	return (const struct ftracetext_source *)s;
}

/* The line that begins at p; *ret_bytes with its end. False if its end is not in [p, p+len). */
static inline bool ftracetext_next_line(const uint8_t *p, size_t len, struct ftracetext_line *ret,
					size_t *ret_bytes)
{
	const uint8_t *nl = memchr(p, '\n', len);
	size_t n = nl ? (size_t)(nl - p) : len;

	*ret_bytes = nl ? n + 1 : n;
	if (n && p[n - 1] == '\r')
		n--;
	ftracetext_line_read((const char *)p, n, ret);
	return nl != NULL;
}

/* cut.c */
int ftracetext_cut(const struct source *s, unsigned file, struct unit *unit, const uint8_t *p,
		   size_t len, uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used,
		   size_t *ret_need);
/* schemas.c */
int ftracetext_schemas_make(struct ftracetext_source *s);
/* The type of the event whose text this is. *ret_skip: the bytes of the name in front of it. */
int ftracetext_type_find(struct ftracetext_source *s, const char *text, size_t len,
			 struct ftracetext_type **ret, size_t *ret_skip);
/* The schema of events that have only their text. */
int ftracetext_type_plain(struct ftracetext_source *s, struct ftracetext_type *type,
			  struct sonde_schema **ret);
/* decode.c */
int ftracetext_decode(struct source *s, const struct cut *cuts, int nr, int *at, struct event *ret,
		      int max);

#endif
