/* SPDX-License-Identifier: MIT */
/*
 * A schema: what one event type looks like. Sources make schemas and hand them to the session's
 * table (schema_table.h), which gives them their dense ids; handlers, counters and columns are
 * arrays indexed by that id.
 */
#ifndef SONDE_MODEL_SCHEMA_H
#define SONDE_MODEL_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "sonde/sonde.h"

struct event;
struct outbuf;
struct printfmt;

/* How the recorded machine lays out numbers: belongs to the recording, never to the build. */
struct abi {
	bool swap; /* other byte order than this host's */
	bool big_endian;
	uint8_t long_bytes; /* of the recorded kernel: 4 or 8 */
};

/* What counts or fires an event: columns of text are chosen by it. */
enum event_class {
	EVENT_HARDWARE,
	EVENT_SOFTWARE,
	EVENT_TRACEPOINT,
	EVENT_HW_CACHE,
	EVENT_RAW,
	EVENT_BREAKPOINT,
	EVENT_OTHER,
	EVENT_SYNTH, /* made by a decoder of hardware traces */
	NR_EVENT_CLASSES
};

/* What else is known of the events of a schema; any of them. */
enum schema_trait {
	SCHEMA_DUMMY = 1 << 0,        /* recorded for the records along with it: has no samples */
	SCHEMA_ADDR_IN_TASK = 1 << 1, /* addr is a place in code or data of the sampled task */
	SCHEMA_BPF_OUTPUT = 1 << 2,   /* the payload is what a BPF program wrote */
	SCHEMA_BRANCH = 1 << 3,       /* each sample is a branch of a hardware trace: ip to addr */
	SCHEMA_LIKE_BRANCH = 1 << 4,  /* what perf takes for such, too */
	SCHEMA_ALL_BRANCHES = 1 << 5, /* branch stacks hold branches of every kind */
	SCHEMA_BRANCH_COUNTERS = 1 << 6, /* ... and counters for each branch */
	SCHEMA_CALL_STACKS = 1 << 7,     /* branch stacks are calls that have not returned */
	SCHEMA_MARKS_EXEC = 1 << 8,      /* its recording says which task names exec gave */
	SCHEMA_LOSS = 1 << 9,            /* a record of lost events */
	SCHEMA_SWITCH = 1 << 10,         /* a record of a context switch */
};

struct sonde_schema {
	uint32_t id, family;
	enum sonde_schema_kind kind;
	struct abi abi;
	uint32_t tracepoint_id; /* ID: of the format file */
	/* of a record: PERF_RECORD_*, from 64 on the recorder's own; else 0 */
	uint32_t record_type;
	const char *system, *event; /* "sched", "sched_switch" */
	const char *name;           /* "sched:sched_switch" */
	struct sonde_field *fields; /* in the order of the format file, common_* first */
	size_t nr_fields, nr_common;
	const char *print_fmt;  /* text behind "print fmt:", NULL none */
	int dialect;            /* enum printfmt_dialect */
	struct printfmt *print; /* compiled when first asked for: schema_printfmt() */
	/*
	 * Writes the text of an event of this schema, for inputs without print formats. NULL: the
	 * text comes from print_fmt, or else is the fields as name=value.
	 */
	void (*put_text)(const struct event *ev, struct outbuf *out);
	struct arena *arena;                /* of the table that holds it */
	const struct sonde_define *defines; /* made when first asked for: sonde_schema_defines() */
	size_t nr_defines;
	bool defines_made;
	struct sonde_schema *newer; /* what its event has got since (pipe mode); NULL nothing */
	bool is_newer;              /* the same, of that one */
	bool unwanted;              /* sonde_session_want(): its samples need not be delivered */
	enum event_class event_class;
	unsigned traits;  /* enum schema_trait */
	uint64_t sampled; /* of kinds up to SONDE_SAMPLE: SAMPLED_* that its samples hold */
	const void *attr; /* perf_event_attr in host order, NULL none */
	size_t attr_len;
	const void *maker; /* the source that uses it, of several the last: schema_table_take() */
};

/* For a thread that decodes ahead, while another one changes it. */
static inline bool schema_is_unwanted(const struct sonde_schema *sc)
{
	return __atomic_load_n(&sc->unwanted, __ATOMIC_RELAXED);
}

/* Records of the recorder that have results, not state: texts show them unasked. */
static inline bool schema_is_shown(const struct sonde_schema *sc)
{
	return sc->record_type >= 64;
}

/* What the event of a schema is called by now. Lists of events have the first of them only. */
static inline const struct sonde_schema *schema_newest(const struct sonde_schema *sc)
{
	while (sc->newer)
		sc = sc->newer;
	return sc;
}

/* By name, or by the path of a member of nested structs: "outer.inner". */
const struct sonde_field *schema_find_field(const struct sonde_schema *sc, const char *name,
					    size_t len);

#endif
