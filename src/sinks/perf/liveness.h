/* SPDX-License-Identifier: MIT */
/*
 * The records of state that later events may need: which tasks exist and what is mapped, as the
 * bytes that were recorded. They are one list, in the order of their delivery:
 *
 *	MMAP kernel | COMM init | MMAP init | FORK bash | COMM bash | MMAP bash | FORK make ...
 *	                                                  ^ to_write: not yet in this output file
 *
 * A copy of events writes the records from to_write on before each event that it keeps. A new
 * output file sets to_write to the beginning. With one output file (`once`) a record is dropped
 * when it is written.
 *
 * A record is dropped when another one replaces it: a task's next name, a mapping over all of
 * another, a new record of the same kernel symbol. A task's record stays while a task that was
 * forked before the replacement inherits it: a name until the child has its own, mappings until the
 * child calls exec.
 *
 *	seq   10 MMAP x   20 FORK child   30 MMAP x
 *
 *	30 replaces 10. 10 is garbage that stays as long as the child of 20 inherits its mappings.
 *
 * The records of a task are dropped LIVENESS_EXITED exits after its own, or when its tid is used
 * again, but not while another task inherits from it. state/lineage.h says what a record does to
 * tasks.
 *
 * Memory: the record and some 120 bytes for each, 230 for a task, all mappings of all live
 * processes. Garbage that no task inherits is at most an eighth of a task's records, or as much as
 * the garbage that was inherited when liveness_look_through() last ran.
 */
#ifndef SONDE_SINKS_PERF_ALIVE_H
#define SONDE_SINKS_PERF_ALIVE_H

#include "base/hash.h"
#include "base/vec.h"
#include "model/event.h"
#include "state/lineage.h"

/* Events of a task follow its EXIT: it is switched away from, its parent waits for it. */
enum { LIVENESS_EXITED = 4096 };

/* State that a forked task inherits. */
enum liveness_legacy { LIVENESS_NAME, LIVENESS_MAPS, LIVENESS_LEGACIES };

struct liveness_task;
struct liveness_record {
	struct liveness_record *prev, *next; /* neighbors in the list */
	struct liveness_task *task;          /* NULL if it belongs to no task */
	struct liveness_record *prev_of_task, *next_of_task;
	/*
	 * Records at the same place: `over` is later and covers a part of this one; `under` is
	 * earlier and larger.
	 */
	struct liveness_record *over, *under;
	uint64_t seq;
	uint64_t replaced; /* seq of the record that replaced it; 0 if none did */
	uint64_t time_ns;  /* 0 if it acts when it is read */
	/* for a process's mapping, its start; for a record without a task, liveness_subject.id */
	uint64_t id;
	uint64_t map_bytes; /* size of a mapping */
	uint32_t len;
	uint8_t legacy; /* enum liveness_legacy; LIVENESS_LEGACIES if no task inherits it */
	bool ends;      /* liveness_subject.ends */
	uint8_t bytes[];
};

/* The heirs of a task are a list in the order of their FORKs. */
struct liveness_inheritance {
	struct liveness_task *of;           /* a reference; NULL if it inherits nothing now */
	struct liveness_task *prev, *next;  /* other heirs of `of` */
	struct liveness_task *first, *last; /* heirs of this task */
	/* seq of the record that replaced the inherited state; 0 if none did */
	uint64_t own;
	uint32_t garbage;   /* number of replaced records */
	uint32_t looked_at; /* garbage at which liveness_look_through() runs next */
};

struct liveness_task {
	unsigned refs; /* the table, threads, heirs */
	unsigned names;
	struct liveness_task *next_to_go;
	struct liveness_task *leader;         /* a reference; NULL if there is none */
	uint64_t forked;                      /* seq of its FORK */
	struct liveness_record *first, *last; /* by next_of_task, in the order of seq */
	size_t nr_records;
	/* Records that the next one of their kind replaces; may be NULL. */
	struct liveness_record *name, *namespaces;
	/* Start of mappings -> address of the last one's record; 0 if they were dropped. */
	struct hash64 maps;
	struct liveness_inheritance legacy[LIVENESS_LEGACIES];
};

struct liveness {
	bool once; /* there is one output file */
	struct liveness_record *first, *last, *to_write;
	/* liveness_next() returned it and drops it next; may be NULL */
	struct liveness_record *borrowed;
	uint64_t seq;
	struct hash64 by_subject; /* id -> address of the last record; 0 if they were dropped */
	struct lineage tasks;     /* by tid: struct liveness_task; each entry holds a reference */
};

/* The subject of a record that belongs to no task. */
struct liveness_subject {
	uint64_t id;        /* hash of the record type and the kernel's address or id */
	uint64_t map_bytes; /* size of a mapping, which covers no larger mapping */
	bool ends;          /* the subject has ended: later output files need no record of it */
	bool adds;          /* replaces no earlier record; the same bytes again are ignored */
};

void liveness_done(struct liveness *a);
/*
 * Takes a COMM, FORK, EXIT or MMAP of a process. time_ns is 0 if it acts when it is read. This and
 * the next two fail with -ENOMEM only.
 */
int liveness_add(struct liveness *a, const struct change *change, const uint8_t *record,
		 uint32_t len, uint64_t time_ns);
/* Takes a record with the namespaces of a task. */
int liveness_add_namespaces(struct liveness *a, int32_t pid, int32_t tid, const uint8_t *record,
			    uint32_t len, uint64_t time_ns);
/*
 * Takes a record that belongs to no task. It replaces the last one of its subject, unless
 * subject->adds.
 */
int liveness_add_subject(struct liveness *a, const struct liveness_subject *subject,
			 const uint8_t *record, uint32_t len, uint64_t time_ns);
/* The next record to write; NULL if all are written. Borrowed until the next call. */
const struct liveness_record *liveness_next(struct liveness *a);
/* Starts another output file, which has no records yet. */
void liveness_rewind(struct liveness *a);

#endif
