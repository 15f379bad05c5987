/* SPDX-License-Identifier: MIT */
/*
 * The state of a recording of trace-cmd. The pages of each cpu of each buffer are a range of the
 * file, and a monotonic run of records. The saved command lines are a range of lines in front of
 * them (docs/formats/tracedat.md).
 */
#ifndef SONDE_SOURCES_TRACEDAT_TRACEDAT_H
#define SONDE_SOURCES_TRACEDAT_TRACEDAT_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "formats/tracedat/buffers.h"
#include "formats/tracedat/head.h"
#include "formats/tracedat/page.h"
#include "formats/tracedat/shift.h"
#include "sources/source.h"

enum {
	TRACEDAT_COMM_BYTES = 64, /* of a saved command line; the kernel's have 16 */
	TRACEDAT_LARGEST_PART = 256 << 20,
	TRACEDAT_NR_IDS = 1 << 16 /* events have ids of 16 bits */
};

/* A clock of the kernel, by its name in tracefs. */
struct tracedat_clock_kind {
	const char *name;
	int32_t id;      /* CLOCK_*; -1 for the kernel's own */
	bool is_counter; /* not nanoseconds */
	bool is_plain;   /* trace-cmd prints its times without a point */
};

/* What turns the recorded times of a buffer into times of events. */
struct tracedat_times {
	struct tracedat_tsc tsc; /* mult is 0 if times are not the counter of a processor */
	uint64_t add_ns;
};

/* A buffer, as it is shown and read. */
struct tracedat_instance {
	const char *name;                        /* "" for the top buffer; in the arena */
	const struct tracedat_clock_kind *clock; /* NULL if unknown */
	struct ring_layout layout;
	struct tracedat_times times;
};

/* A range of a file that order/ reads. */
struct tracedat_range {
	int fd; /* borrowed: the file, or the unpacked sections */
	uint64_t begin, end;
	int32_t cpu;
	const struct tracedat_instance *instance; /* NULL: saved command lines */
	const struct tracedat_shift *shift;       /* of a guest's cpu; NULL for a host */
	/* Lost events that no page counts, and the pages in front of which they were lost. */
	bool knows_uncounted;
	uint64_t uncounted, uncounted_pages;
};

/* What the statistics of a cpu count. */
struct tracedat_losses {
	int32_t cpu;
	uint64_t overwritten; /* events */
};

/* An event type that names a task: the fields with its pid and its name. */
struct tracedat_naming {
	const struct sonde_field *pid, *comm;
};

/* An event type by its id. */
struct tracedat_type {
	struct sonde_schema *schema;          /* NULL if there is none yet */
	const struct tracedat_naming *naming; /* NULL if it names no task */
};

/* A task's name, by its pid. */
struct tracedat_comm {
	char text[TRACEDAT_COMM_BYTES];
};

/* Payloads of records that sonde makes, in this host's byte order. */
struct tracedat_comm_payload {
	uint32_t pid;
	char comm[TRACEDAT_COMM_BYTES];
};
struct tracedat_lost_payload {
	int32_t cpu;
	uint32_t is_counted; /* the kernel counted the lost events */
	uint64_t lost;
};

/* Texts of options. Empty if the file has none. */
struct tracedat_texts {
	struct bytes clock, uname, recorder;
};

struct tracedat_source {
	struct source source;
	struct source_options opts;
	struct arena arena;
	int fd;       /* owned */
	int unpacked; /* owned: a file with what was compressed; -1 if there is none */
	uint64_t file_bytes, unpacked_bytes;
	VEC(uint8_t *) blocks; /* owned: bytes of the file in memory */
	struct tracedat_start start;
	struct tracedat_sections sections;
	struct tracedat_texts texts;
	bool has_cmdlines_section; /* its place in the file is known: see cmdlines_off */
	uint64_t cmdlines_off;
	bool is_swapped;
	bool has_text;     /* the text of a latency tracer */
	uint64_t text_off; /* of it: of its section, or of the text itself in version 6 */
	struct abi abi;    /* of the recorded kernel */
	uint32_t nr_cpus;
	uint64_t trace_id, date_us, offset_ns, dropped;
	struct tracedat_tsc tsc;
	struct tracedat_shifts shifts;
	VEC(struct tracedat_buffer) buffers;
	VEC(struct tracedat_instance) instances; /* in the order of buffers */
	VEC(struct tracedat_range) ranges;
	VEC(struct tracedat_losses) losses;
	struct tracedat_type *types; /* owned: TRACEDAT_NR_IDS */
	uint32_t type_off, pid_off;  /* of common_type and common_pid */
	struct sonde_schema *comm_schema, *lost_schema;
	struct hash64 comm_of_pid; /* the names known at this place: index in comms */
	VEC(struct tracedat_comm) comms;
	struct hash64 saved_of_pid; /* the saved command lines: index in saved */
	VEC(const char *) saved;    /* in the arena */
	char fact[64];              /* the value of the fact asked for last */
	char hostname[64], release[64], machine[32], recorder[64], cpus[16]; /* of texts; maybe
										empty */
	/* For the event of the last decode() that was decoded alone. */
	struct change change;
	union {
		struct tracedat_comm_payload comm;
		struct tracedat_lost_payload lost;
	} made;
};

static inline struct tracedat_source *tracedat_of(struct source *s)
{
	return (struct tracedat_source *)s;
}

static inline const struct tracedat_source *tracedat_const_of(const struct source *s)
{
	return (const struct tracedat_source *)s;
}

/* The time of an event. */
static inline uint64_t tracedat_time(const struct tracedat_range *range, uint64_t raw)
{
	const struct tracedat_times *t = &range->instance->times;

	if (__builtin_expect(range->shift != NULL, 0))
		raw = tracedat_shift_time(range->shift, raw);
	if (t->tsc.mult)
		raw = (uint64_t)((unsigned __int128)raw * t->tsc.mult >> t->tsc.shift);
	return raw + t->add_ns;
}

/* sections.c: reads n bytes of the file. */
int tracedat_read(const struct tracedat_source *s, uint64_t off, uint64_t n, const char *what,
		  uint8_t *to);
/* Reads n bytes of the file to memory that the source owns. */
int tracedat_block_read(struct tracedat_source *s, uint64_t off, uint64_t n, const char *what,
			struct bytes *ret);
/* The content of a section of version 7, unpacked. *ret_off: its place, 0 if it was packed. */
int tracedat_section_load(struct tracedat_source *s, uint64_t off, unsigned id, const char *what,
			  struct bytes *ret, uint64_t *ret_off);
/* Unpacks the pages of a cpu to s->unpacked, and makes cpu->off and size those there. */
int tracedat_pages_unpack(struct tracedat_source *s, struct tracedat_cpu *cpu, uint32_t page_bytes);
/* Appends bytes to s->unpacked. */
int tracedat_unpacked_append(struct tracedat_source *s, const void *p, size_t n);
/* buffers.c: reads the head of the file, and finds all ranges. */
/* Returns 0; SOURCE_HOLDS_OTHER if there is text in place of events, which is in `unpacked` then.
 */
int tracedat_buffers_open(struct tracedat_source *s);
/* schemas.c */
int tracedat_schemas_make(struct tracedat_source *s);
/* Makes the schema of an id that the file does not describe. */
int tracedat_schema_unknown(struct tracedat_source *s, uint32_t id, struct sonde_schema **ret);
/* scan.c: clears is_unseen of the schemas of the first events. */
int tracedat_scan(struct tracedat_source *s);
/* names.c: saved command lines. */
int tracedat_names_open(struct tracedat_source *s);
/* Reads a line "PID COMM". False if it is none. */
bool tracedat_name_parse(const uint8_t *line, size_t len, int32_t *ret_pid,
			 char ret[TRACEDAT_COMM_BYTES]);
/* True if the name of the task is another one than was known; then it is known from now on. */
int tracedat_name_learn(struct tracedat_source *s, int32_t pid, const char *comm);
bool tracedat_name_is_known(const struct tracedat_source *s, int32_t pid, const uint8_t *comm,
			    size_t len);
/* cut.c */
int tracedat_cut(const struct source *s, unsigned file, struct unit *unit, const uint8_t *p,
		 size_t len, uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used,
		 size_t *ret_need);
/* decode.c */
int tracedat_decode(struct source *s, const struct cut *cuts, int nr, int *at, struct event *ret,
		    int max);
/* facts.c */
void tracedat_facts_read(struct tracedat_source *s);
const char *tracedat_info(struct source *s, const char *key);
bool tracedat_fact_at(struct source *s, size_t i, struct source_fact *ret);
/* The clock of a buffer; NULL if it is unknown. */
const struct tracedat_clock_kind *tracedat_clock_of(const struct tracedat_source *s,
						    const struct tracedat_buffer *buffer);

/* losses.c */
int tracedat_losses_read(struct tracedat_source *s, const struct bytes *text);
/*
 * The events that were lost in front of a page that does not count them; 0 if that is unknown. The
 * number is that of all such pages of the cpu, shared by them.
 */
uint64_t tracedat_losses_of_page(struct tracedat_source *s, struct tracedat_range *range);

#endif
