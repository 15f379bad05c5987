/* SPDX-License-Identifier: MIT */
/*
 * The records of state that events to come may need: who is alive and what is mapped, as the bytes they were recorded with.
 * They stand in one list, in the order of their delivery:
 *
 *	MMAP kernel | COMM init | MMAP init | FORK bash | COMM bash | MMAP bash | FORK make ...
 *	                                                  ^ to_write: these are not in the part being written
 *
 * A copy of events writes what is behind to_write before each event that it keeps. A new part sets to_write to the
 * beginning. The records of a task go some exits after its own (ALIVE_EXITED), unless a task that it made still lives by
 * them: by the name, until it has one of its own; by what was mapped, until it calls exec.
 *
 * Cost: the record and some 100 bytes for each, all mappings of all live processes; one that lies over the whole of another takes
 * its place, and so does a task's next name. What is of no process (kernel symbols, changed code, control groups) stays.
 */
#ifndef SONDE_SINKS_PERFDATA_ALIVE_H
#define SONDE_SINKS_PERFDATA_ALIVE_H

#include "base/hash.h"
#include "base/vec.h"
#include "model/event.h"

/* Events of a task that has ended still come: it is switched away from, it is waited for. */
enum { ALIVE_EXITED = 4096 };

struct alive_record {
	struct alive_record *prev, *next; /* in the list */
	struct alive_record *prev_of_task, *next_of_task;
	uint64_t seq;
	uint64_t time_ns;   /* 0: acts when it is read */
	uint64_t map_bytes; /* of a mapping */
	uint32_t len;
	uint8_t bytes[];
};

struct alive_task {
	int32_t tid;
	unsigned
		refs; /* by_tid, the ring of those that ended, and tasks that live by its records */
	struct alive_task *next_to_go;
	struct alive_task *name_of, *maps_of, *leader; /* one reference each; NULL: none */
	struct alive_record *first, *last;             /* by next_of_task */
	struct alive_record *comm; /* the last COMM if another one may replace it; NULL: none */
	unsigned comms;
	uint64_t forked;      /* seq of its last FORK of another */
	uint64_t forked_maps; /* of a process's, of another process */
	struct hash64 maps;   /* start of a mapping -> address of its record; 0: it went */
};

struct alive {
	struct alive_record *first, *last, *to_write;
	uint64_t seq;
	struct hash64 by_tid; /* -> index in tasks */
	VEC(struct alive_task *) tasks;
	struct alive_task *ended[ALIVE_EXITED];
	unsigned next_ended;
};

void alive_done(struct alive *a);
/* Takes a record of state: change says of whom; CHANGE_NONE: of all. time_ns 0: it acts when it is read. -ENOMEM only. */
int alive_add(struct alive *a, const struct change *change, const uint8_t *record, uint32_t len,
	      uint64_t time_ns);
/* A record of state about one task that changes nothing that others inherit. */
int alive_add_of(struct alive *a, int32_t pid, int32_t tid, const uint8_t *record, uint32_t len,
		 uint64_t time_ns);
/* The next record that is not written yet; NULL: all are. Lent until the next call. */
const struct alive_record *alive_next(struct alive *a);
/* Nothing is written yet: another part begins. */
void alive_rewind(struct alive *a);

#endif
