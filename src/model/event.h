/* SPDX-License-Identifier: MIT */
/*
 * The library's own view of an event: the public struct first, then what only the library knows.
 *
 * An event is a flyweight over bytes in a read window. Sources fill it in their decode step, state
 * completes it (comm, address space), sinks and bindings read it. Nothing here is valid after the
 * session advanced, except in a dup.
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
 * What an event changes in the state of the machine; made by the source in its decode step, applied
 * by state/.
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
	CHANGE_SWITCH
};

struct change {
	enum change_kind kind;
	/* SWITCH: the task that runs on cpu from now on; tid -1: nobody knows (events were lost) */
	int32_t pid, tid;
	int32_t cpu;        /* SWITCH */
	uint64_t time_ns;   /* COMM, FORK: SONDE_NO_TIME when not recorded */
	int32_t ppid, ptid; /* FORK: the parent */
	/* COMM: caused by exec; FORK: made by the recorder for a task that already ran */
	bool exec;
	/*
	 * COMM: the task's name since before the first event, as far as the recording knows (saved
	 * command lines, a dump of the tasks). It never replaces a name that has a time: one from
	 * another COMM, or the parent's at a FORK. It is no exec. pid may be -1, time_ns is not
	 * used.
	 */
	bool is_untimed;
	bool kernel;     /* MMAP: of the kernel's address space */
	bool executable; /* MMAP */
	/*
	 * COMM: comm; MMAP: file name; CGROUP: path; KSYMBOL: name; SWITCH: comm of the task, NULL
	 * if the record does not have it. Borrowed, ends in the record
	 */
	const char *text;
	uint64_t start, len, pgoff; /* MMAP, KSYMBOL, TEXT_POKE: avma, bytes; MMAP: bytes */
	bool unregister;            /* KSYMBOL */
	bool out_of_line;           /* KSYMBOL: code out of line, of no file */
	const uint8_t *code;        /* TEXT_POKE: borrowed; NULL if the new code is not known */
	uint64_t id;                /* CGROUP */
	struct build_id build_id;   /* MMAP */
	uint64_t inode;             /* MMAP: of the file; 0 unknown */
};

/*
 * The members that most samples have are first: an event that another thread decoded costs two
 * cache lines (recording/reader.h) if it has no member behind them.
 */
struct event {
	struct sonde_event pub; /* first: a sonde_event handed out is a struct event */
	const struct sonde_schema *schema;
	/*
	 * Its record, with its file and its order (sources/source.h); valid as long as pub.record.
	 * NULL for a defect and in a dup.
	 */
	const struct cut *cut;
	/* The source's own: which perf event attribute, stream ... laid the record out, ... */
	uint32_t attr;
	uint32_t member; /* ... and whose event it is (differs from attr in group reads) */
	struct recording *recording;
	const struct change *change; /* NULL: none, and in a dup; valid as long as pub.record */
	uint32_t derived;            /* index of this event among those of its record */
	bool owned;                  /* made by sonde_event_dup */
	bool is_left_out; /* the rules leave such samples out: only raw records have it */
	/* A count that a later event of its record sums up: only a text wants it. */
	bool is_summed_up;

	struct source *source; /* who decodes the rest of it */
	/* of a derived event (SONDE_EVENT_DERIVED or the first of several); else 0 */
	uint64_t period;
	/* of its process as of now, NULL unknown; a dup holds a reference */
	struct address_space *space;
	/* the kernel's; set in a dup only, which holds a reference */
	struct address_space *kernel_space;
	/* The source's own: offset of a record that holds user frames of the chain; 0 none. */
	uint64_t chain_off;
	uint64_t unused[3]; /* up to three cache lines, where pointers have 8 bytes */
};

static inline const struct event *event_of(const struct sonde_event *pub)
{
	return (const struct event *)pub;
}

#endif
