/* SPDX-License-Identifier: MIT */
/*
 * A schema describes one event type. Sources create schemas and add them to the session's table
 * (schema_table.h), which assigns dense ids. Handlers, counters and columns are arrays indexed by
 * that id.
 */
#ifndef SONDE_MODEL_SCHEMA_H
#define SONDE_MODEL_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "sonde/sonde.h"

struct event;
struct field_program;
struct outbuf;
struct printfmt;

/* The layout of numbers on the recorded machine, which may differ from this one. */
struct abi {
	bool swap; /* not this host's byte order */
	bool big_endian;
	uint8_t long_bytes; /* size of the recorded kernel's long: 4 or 8 */
};

/* The origin of an event. It selects the columns of text. */
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

/* Further facts about the events of a schema, or-ed. */
enum schema_trait {
	SCHEMA_DUMMY = 1 << 0,        /* recorded only for state records: has no samples */
	SCHEMA_ADDR_IN_TASK = 1 << 1, /* addr is an address in code or data of the task */
	SCHEMA_BPF_OUTPUT = 1 << 2,   /* a BPF program wrote the payload */
	SCHEMA_BRANCH = 1 << 3,       /* each sample is a branch of a hardware trace: ip to addr */
	SCHEMA_LIKE_BRANCH = 1 << 4,  /* perf treats its samples as such branches, too */
	SCHEMA_ALL_BRANCHES = 1 << 5, /* branch stacks contain branches of every kind */
	SCHEMA_BRANCH_COUNTERS = 1 << 6, /* branch stacks contain counters for each branch */
	SCHEMA_CALL_STACKS = 1 << 7,     /* branch stacks contain calls that have not returned */
	SCHEMA_MARKS_EXEC = 1 << 8,      /* the recording marks task names that exec set */
	SCHEMA_LOSS = 1 << 9,            /* a record of lost events */
	SCHEMA_SWITCH = 1 << 10,         /* a record of a context switch */
	/* Derived from two events (pair=): the payload is not part of the record. */
	SCHEMA_PAIR = 1 << 11,
};

struct sonde_schema {
	uint32_t id, family;
	enum sonde_schema_kind kind;
	struct abi abi;
	uint32_t tracepoint_id; /* the format file's "ID:" */
	/* For a record PERF_RECORD_*, or from 64 on a type of the recorder; else 0. */
	uint32_t record_type;
	const char *system, *event; /* "sched", "sched_switch" */
	const char *name;           /* "sched:sched_switch" */
	struct sonde_field *fields; /* in the order of the format file, common_* first */
	size_t nr_fields, nr_common;
	const char *print_fmt;  /* text after "print fmt:"; NULL if none */
	int dialect;            /* enum printfmt_dialect */
	struct printfmt *print; /* compiled by the first schema_printfmt() */
	/*
	 * Writes the text of an event of this schema, for inputs without print formats. If it is
	 * NULL, print_fmt makes the text; without print_fmt the text is the fields as name=value.
	 */
	void (*put_text)(const struct event *ev, struct outbuf *out);
	/* The fields as text, if print_fmt and put_text are NULL; made by the first such text. */
	const struct field_program *field_program;
	struct arena *arena;                /* the arena of the schema's table */
	const struct sonde_define *defines; /* made by the first sonde_schema_defines() */
	size_t nr_defines;
	bool defines_made;
	/* Replaced this schema when the event was described later (pipe mode); NULL if none did. */
	struct sonde_schema *newer;
	bool is_newer; /* this schema is the `newer` of another one */
	/* Described, but no event of it is at the beginning of the recording. */
	bool is_unseen;
	bool unwanted; /* samples need not be delivered: sonde_session_want() */
	enum event_class event_class;
	unsigned traits;  /* enum schema_trait */
	uint64_t sampled; /* for kinds up to SONDE_SAMPLE: SAMPLED_* values of its samples */
	const void *attr; /* perf_event_attr in host order; NULL if none */
	size_t attr_len;
	const void *maker; /* the last source that used the schema: schema_table_take() */
};

/* Atomic, because another thread may change it while this thread decodes ahead. */
static inline bool schema_is_unwanted(const struct sonde_schema *sc)
{
	return __atomic_load_n(&sc->unwanted, __ATOMIC_RELAXED);
}

/* True for the recorder's records. They contain results, so text shows them by default. */
static inline bool schema_is_shown(const struct sonde_schema *sc)
{
	return sc->record_type >= 64;
}

/* True if samples of this very schema may appear: not of one that was described anew later. */
static inline bool schema_has_samples(const struct sonde_schema *sc)
{
	return sc->kind <= SONDE_SAMPLE && !(sc->traits & SCHEMA_DUMMY) && !sc->newer;
}

/* The current schema of an event. Lists of events contain only the event's first schema. */
static inline const struct sonde_schema *schema_newest(const struct sonde_schema *sc)
{
	while (sc->newer)
		sc = sc->newer;
	return sc;
}

/* Finds a field by name, or a member of nested structs by its path: "outer.inner". */
const struct sonde_field *schema_find_field(const struct sonde_schema *sc, const char *name,
					    size_t len);

#endif
