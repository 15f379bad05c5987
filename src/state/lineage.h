/* SPDX-License-Identifier: MIT */
/*
 * The rules for the lifetime, the name and the mappings of tasks. They are written once, for users
 * that keep different data: state.c keeps names and mappings, sinks/perf/liveness.c keeps records,
 * record/describe/dsos.c keeps the files that samples may hit.
 *
 *	change         what it does                                                hook
 *	FORK           tid is a new task, with the name that ptid has now          fork
 *	  pid == ppid  a thread: it sees the mappings of its process               LINEAGE_SHARES
 *	  else         a process: it has what is mapped in ppid now                LINEAGE_INHERITS
 *	  exec         it already ran: MMAPs of its own describe it                LINEAGE_DESCRIBED
 *	COMM           the task tid has this name                                  name
 *	  exec         and in its process pid nothing is mapped                    exec
 *	  untimed      and had it before the first event; no exec
 *	MMAP           the process pid has this mapped in place of what was there  map
 *	EXIT           the task tid has ended; pid == tid: so has its process      exit
 *
 * No record reports an munmap.
 *
 *	static const struct lineage_ops ops = { .fork = fork_task, .exec = exec_process };
 *	TRY(lineage_apply(&ops, user, &change));
 *
 * struct lineage is a table by pid or by tid. It has the current holder of each number, and the
 * user's data for it, the payload.
 */
#ifndef SONDE_STATE_LINEAGE_H
#define SONDE_STATE_LINEAGE_H

#include "base/hash.h"
#include "base/vec.h"
#include "model/event.h"

/* Where the mappings that a forked task sees come from. */
enum lineage_maps { LINEAGE_SHARES, LINEAGE_INHERITS, LINEAGE_DESCRIBED };

/* A hook that is NULL is not called. A negative result is passed on. */
struct lineage_ops {
	int (*fork)(void *user, const struct change *c, enum lineage_maps maps);
	int (*name)(void *user, const struct change *c);
	int (*exec)(void *user, const struct change *c); /* after name */
	int (*map)(void *user, const struct change *c);  /* not called for the kernel's mappings */
	int (*exit)(void *user, const struct change *c, bool is_process);
};

int lineage_apply(const struct lineage_ops *ops, void *user, const struct change *c);

/* ---- the table ---- */

/* The task or process that has a number now. */
struct lineage_life {
	void *payload; /* owned by the user; NULL if there is none */
	int32_t number;
	uint32_t holder : 31; /* identifies the holder; no other number has a holder with this id */
	uint32_t has_ended : 1;
};

/* An EXIT: the number, and its holder. */
struct lineage_exit {
	int32_t number;
	uint32_t holder;
};

/*
 * A number without a payload has no life. Instead it may have one of these: its last holder has
 * ended, or another holder has the number now.
 */
#define LINEAGE_ENDED (HASH64_EMPTY - 1)
#define LINEAGE_BEGUN (HASH64_EMPTY - 2)

struct lineage {
	struct hash64 by_number; /* pid or tid -> index in lives, or one of the above */
	VEC(struct lineage_life) lives;
	VEC(uint32_t) unused; /* indexes in lives */
	uint32_t nr_holders;
	VEC(struct lineage_exit) exits; /* a ring once it is full */
	size_t next_exit;
};

/* NULL if there is no payload for the number. Valid until the next lineage_put(). */
static inline struct lineage_life *lineage_find(const struct lineage *l, int32_t number)
{
	uint64_t i = hash64_find(&l->by_number, (uint32_t)number);

	return i >= LINEAGE_BEGUN ? NULL : &l->lives.v[i];
}

/* True if the last holder of the number has ended. */
static inline bool lineage_has_ended(const struct lineage *l, int32_t number)
{
	uint64_t i = hash64_find(&l->by_number, (uint32_t)number);

	return i < LINEAGE_BEGUN ? l->lives.v[i].has_ended : i == LINEAGE_ENDED;
}

static inline void *lineage_payload(const struct lineage *l, int32_t number)
{
	const struct lineage_life *life = lineage_find(l, number);

	return life ? life->payload : NULL;
}

/*
 * Sets the payload of a number, which need not be in the table. The caller frees the old one.
 * -ENOMEM
 */
int lineage_put(struct lineage *l, int32_t number, void *payload);
/*
 * Another task or process has the number from now on. The payload stays until the user replaces it.
 */
void lineage_begin(struct lineage *l, int32_t number);
/*
 * The holder of the number has ended. Later records may still be its events, and threads may
 * outlive the first thread of their process. So the payload stays for `kept` further exits, or
 * until lineage_begin(). *ret_gone receives the payload that was dropped, which the caller now
 * owns; NULL if there is none. -ENOMEM
 */
int lineage_end(struct lineage *l, int32_t number, size_t kept, void **ret_gone);
/*
 * Removes numbers without a payload from the table. Not for users of lineage_end(). After -ENOMEM
 * some of the others cannot be found.
 */
int lineage_compact(struct lineage *l);
/* The user frees the payloads. */
void lineage_done(struct lineage *l);

#endif
