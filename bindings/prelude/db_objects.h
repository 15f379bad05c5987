/* SPDX-License-Identifier: MIT */
/* The objects that events refer to: tasks, files, symbols. */
#ifndef SONDE_PRELUDE_DB_OBJECTS_H
#define SONDE_PRELUDE_DB_OBJECTS_H

#include "db.h"

/* A task and facts about the first thread of its process. */
struct db_task {
	struct sonde_task task, leader;
	bool has_leader;
	uint64_t thread;  /* row id */
	uint64_t program; /* row id of the comm that perf groups threads by; 0 if none */
};

/* Write the rows of these objects that are still missing. */
int db_put_machine(struct prelude_db *db);
int db_put_task(struct prelude_db *db, const struct sonde_event *ev, int32_t pid, int32_t tid,
		struct db_task *ret);
/*
 * inlined is the name of the function inlined at addr, NULL if the symbol table decides; depth is
 * its nesting depth there. in_chain is true if addr is the address of a frame.
 */
struct db_address {
	uint64_t addr;
	uint32_t cpumode;
	const char *inlined;
	uint32_t depth;
	bool in_chain;
	/* Id of a symbol that was made after perf looked up the address; 0 if none. */
	uint64_t unseen;
};
int db_put_place(struct prelude_db *db, const struct sonde_event *ev, const struct db_address *a,
		 struct db_place *ret);

#endif
