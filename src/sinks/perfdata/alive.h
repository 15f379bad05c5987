/* SPDX-License-Identifier: MIT */
/*
 * The records of state that events to come may need: who is alive and what is mapped, as the bytes they were recorded with.
 * They stand in one list, in the order of their delivery:
 *
 *	MMAP kernel | COMM init | MMAP init | FORK bash | COMM bash | MMAP bash | FORK make ...
 *	                                                  ^ to_write: these are not in the part being written
 *
 * A copy of events writes what is behind to_write before each event that it keeps. A new part sets to_write to the
 * beginning; where none will come (`once`), what is written is forgotten.
 *
 * A record goes when another one takes its place: a task's next name, a mapping over the whole of another, whatever is told anew
 * of a kernel symbol. Of tasks it stays while one that was forked meanwhile lives by it: by the name, until that has one of its
 * own; by what was mapped, until that calls exec.
 *
 *	seq   10 MMAP x   20 FORK child   30 MMAP x        10 is replaced at 30, and needed while the child of 20 lives by
 *	                                                   its parent's mappings: garbage until then
 *
 * The records of a task go some exits after its own (ALIVE_EXITED), unless a task that it made still lives by them.
 *
 * Cost: the record and some 120 bytes for each, 230 for a task, all mappings of all live processes. Garbage that nobody needs
 * any more is at most an eighth of a task's records, or as much as what was needed when it was last looked through.
 */
#ifndef SONDE_SINKS_PERFDATA_ALIVE_H
#define SONDE_SINKS_PERFDATA_ALIVE_H

#include "base/hash.h"
#include "base/vec.h"
#include "model/event.h"

/* Events of a task that has ended still come: it is switched away from, it is waited for. */
enum { ALIVE_EXITED = 4096 };

/* What a task has of the one that made it. */
enum alive_legacy { ALIVE_NAME, ALIVE_MAPS, ALIVE_LEGACIES };

struct alive_task;
struct alive_record {
	struct alive_record *prev, *next; /* in the list */
	struct alive_task *task;          /* NULL: of none */
	struct alive_record *prev_of_task, *next_of_task;
	/* Of the same place or subject: what covers it, and what it does not cover. */
	struct alive_record *over, *under;
	uint64_t seq;
	uint64_t replaced;  /* seq of the record that took its place; 0: none did */
	uint64_t time_ns;   /* 0: acts when it is read */
	uint64_t id;        /* a process's mapping: its begin; of no task: alive_subject.id */
	uint64_t map_bytes; /* of a mapping */
	uint32_t len;
	uint8_t legacy; /* enum alive_legacy; ALIVE_LEGACIES: nothing that is handed on */
	bool ends;      /* alive_subject.ends */
	uint8_t bytes[];
};

/* What tasks have of each other: those that live by one are a list in the order in which they were forked. */
struct alive_inheritance {
	struct alive_task *of; /* a reference; NULL: of nobody, or nobody needs it any more */
	struct alive_task *prev, *next;  /* others that live by `of` */
	struct alive_task *first, *last; /* who lives by this one */
	uint64_t own;                    /* seq of the record since which it has its own; 0: none */
	size_t garbage;                  /* replaced records */
	size_t looked_at;                /* so many there are before they are looked through */
};

struct alive_task {
	int32_t tid;
	unsigned refs; /* by_tid, the ring of those that ended, tasks that live by its records */
	struct alive_task *next_to_go;
	struct alive_task *leader;         /* a reference; NULL: none */
	uint64_t forked;                   /* seq of its FORK */
	struct alive_record *first, *last; /* by next_of_task, in the order of seq */
	size_t nr_records;
	/* Records that another one may replace; NULL: none. */
	struct alive_record *name, *namespaces;
	unsigned names;
	/* Start of mappings -> address of the record of the last one; 0: they went. */
	struct hash64 maps;
	struct alive_inheritance legacy[ALIVE_LEGACIES];
};

struct alive {
	bool once; /* there is one part */
	struct alive_record *first, *last, *to_write;
	struct alive_record *lent; /* by alive_next(), to be forgotten; NULL: none */
	uint64_t seq;
	struct hash64 by_subject; /* id -> address of the last record; 0: they went */
	struct hash64 by_tid;     /* -> index in tasks */
	VEC(struct alive_task *) tasks;
	struct alive_task *ended[ALIVE_EXITED];
	unsigned next_ended;
};

/* What a record of no task is about. */
struct alive_subject {
	uint64_t id;        /* type of record, address or number of the kernel's, mixed */
	uint64_t map_bytes; /* of a mapping: it covers none that is larger */
	bool ends;          /* it is no more: later parts need not be told */
	bool adds;          /* to what was said before, unless it says the same again */
};

void alive_done(struct alive *a);
/* Takes a COMM, FORK, EXIT or MMAP of a process. time_ns 0: it acts when it is read. -ENOMEM only, as the next two. */
int alive_add(struct alive *a, const struct change *change, const uint8_t *record, uint32_t len,
	      uint64_t time_ns);
/* The namespaces of a task. */
int alive_add_namespaces(struct alive *a, int32_t pid, int32_t tid, const uint8_t *record,
			 uint32_t len, uint64_t time_ns);
/* A record of no task: takes the place of the last one about its subject, unless it adds to it. */
int alive_add_subject(struct alive *a, const struct alive_subject *subject, const uint8_t *record,
		      uint32_t len, uint64_t time_ns);
/* The next record that is not written yet; NULL: all are. Lent until the next call of any of these. */
const struct alive_record *alive_next(struct alive *a);
/* Nothing is written yet: another part begins. */
void alive_rewind(struct alive *a);

#endif
