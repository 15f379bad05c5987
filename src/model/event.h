/* SPDX-License-Identifier: MIT */
/*
 * The library's own view of an event: the public struct, then the members that only the library
 * knows.
 *
 * An event refers to bytes in a read window. Sources fill it in their decode step, state completes
 * it (comm, address space), sinks and bindings read it. Nothing in it is valid after the session
 * advanced, except in a dup.
 */
#ifndef SONDE_MODEL_EVENT_H
#define SONDE_MODEL_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/build_id.h"
#include "model/schema.h"
#include "sonde/sonde.h"

enum { CACHE_LINE = 64 };

struct source;
struct cut;
struct recording;
struct address_space;

/*
 * The change that an event makes to the state of the machine. The source creates it in its decode
 * step; state/ applies it.
 */
enum change_kind {
	CHANGE_NONE = 0,
	CHANGE_COMM,
	CHANGE_FORK,
	CHANGE_EXIT,
	CHANGE_MMAP,
	CHANGE_CGROUP,
	CHANGE_KSYMBOL,
	CHANGE_TEXT_POKE,
	CHANGE_SWITCH,
	CHANGE_NAMESPACES
};

struct change {
	enum change_kind kind;
	/* SWITCH: the task that runs on cpu from now on; tid is -1 if events were lost */
	int32_t pid, tid;
	int32_t cpu;        /* SWITCH */
	uint64_t time_ns;   /* COMM, FORK: SONDE_NO_TIME if not recorded */
	int32_t ppid, ptid; /* FORK: the parent */
	/* COMM: exec set the name; FORK: the recorder wrote it for a task that already ran */
	bool exec;
	/*
	 * COMM: the name is from saved command lines or a dump of the tasks. The task had it before
	 * the first event, as far as the recording knows. It never replaces a name that has a time:
	 * a name from another COMM, or the parent's name at a FORK. exec is false, pid may be -1,
	 * and time_ns is not used.
	 */
	bool is_untimed;
	bool kernel;     /* MMAP: in the kernel's address space */
	bool executable; /* MMAP */
	/*
	 * COMM: comm; MMAP: file name; CGROUP: path; KSYMBOL: name; SWITCH: comm of the task, NULL
	 * if the record does not have it. Borrowed; its NUL is inside the record.
	 */
	const char *text;
	uint64_t start, len, pgoff; /* MMAP, KSYMBOL, TEXT_POKE: avma, bytes; MMAP: bytes */
	bool unregister;            /* KSYMBOL */
	bool out_of_line;           /* KSYMBOL: out-of-line code, which is in no file */
	const uint8_t *code;        /* TEXT_POKE: borrowed; NULL if the new code is not known */
	uint64_t id;                /* CGROUP */
	struct build_id build_id;   /* MMAP */
	uint64_t inode;             /* MMAP: the file's inode; 0 if unknown */
	/* NAMESPACES: of the namespace of control groups; 0 if the record does not have it */
	uint64_t namespace_device, namespace_inode;
	uint32_t major, minor; /* MMAP: the file's device; 0 if unknown */
	bool shared;           /* MMAP: its memory is shared (MAP_SHARED) */
	/*
	 * SWITCH: the switch to the task that ran before, as this one names it. Applied first if
	 * nobody is known to run on the cpu. Borrowed; NULL if it is not recorded.
	 */
	const struct change *before;
};

/*
 * The members that most samples use are first. An event that another thread decoded takes two cache
 * lines (recording/reader.h) if it uses only these.
 */
struct event {
	struct sonde_event pub; /* first, so that each sonde_event in use is a struct event */
	const struct sonde_schema *schema;
	/*
	 * The event's record, with its file and its order (sources/source.h); valid as long as
	 * pub.record. NULL for a defect and in a dup.
	 */
	const struct cut *cut;
	/* For the source only: number of the attr, stream ... that gives the record's layout. */
	uint32_t attr;
	uint32_t member; /* the attr of the event itself; may differ in group reads */
	struct recording *recording;
	const struct change *change; /* NULL if none, and in a dup; valid as long as pub.record */
	uint32_t derived;            /* index of this event among those of its record */
	bool owned;                  /* made by sonde_event_dup */
	bool is_left_out; /* delivered only with raw records, because the rules omit the sample */
	/* A count that a later event of the same record sums up. Only text output uses it. */
	bool is_summed_up;

	struct source *source; /* decodes the rest of the record */
	/* The period of an event that shares its record with others; else 0. */
	uint64_t period;
	/* The process's mappings at this time; NULL if unknown. A dup holds a reference. */
	struct address_space *space;
	/* The kernel's mappings; set only in a dup, which holds a reference. */
	struct address_space *kernel_space;
	/* For the source only: offset of a record with the chain's user frames; 0 if none. */
	uint64_t chain_off;
	uint64_t unused[3]; /* fills three cache lines, if pointers have 8 bytes */
};

static inline const struct event *event_of(const struct sonde_event *pub)
{
	return (const struct event *)pub;
}

#endif
