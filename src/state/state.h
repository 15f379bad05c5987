/* SPDX-License-Identifier: MIT */
/*
 * What is true at a time: which task has which name, what is mapped where. Fed with the changes that events tell, in the
 * order of their delivery; asked for each sample.
 *
 * Rules of tasks are perf's: a name belongs to a tid; FORK hands the parent's name on; a task of which nothing was told
 * is ":TID"; tid 0 is "swapper"; EXIT forgets nothing (events of an exiting task still come), but in perf 6.12, where what is
 * told of a task behind its EXIT is of a new one.
 *
 * A FORK makes a task of its tid that has nothing in common with one that had the tid before; each COMM gives a name that is
 * a thing of its own, whatever its text. Both are counted, so that the counts tell them apart as long as the session.
 */
#ifndef SONDE_STATE_STATE_H
#define SONDE_STATE_STATE_H

#include "base/hash.h"
#include "base/strpool.h"
#include "base/vec.h"
#include "model/event.h"
#include "state/address_space.h"

/* A name that a task has or had. */
struct task_name {
	uint64_t id; /* counted from 1; 0: there is none */
	uint64_t since_ns;
	uint32_t comm; /* id in the string pool */
	bool by_exec;
};

struct task {
	int32_t pid;
	uint32_t comm;  /* id in the string pool */
	bool comm_told; /* by COMM or from the parent; else ":TID" */
	bool is_gone;   /* exit_forgets_comm: ended, and nothing was told of it since */
	uint64_t id;    /* counted from 1 */
	struct task_name name, exec; /* as of now; given by exec, the last one */
	struct task_name first,
		second; /* the first two; one that is not told yet is the first, until it is */
};

/*
 * Processes that ended keep their mappings for this many further exits: their last events may still come, and threads may
 * outlive the first one. Then they go, so that a long recording of short-lived processes needs no more memory than a short.
 */
enum { STATE_EXITED = 1024 };

/* What tasks and names are counted with; states of one session may share it. */
struct state_numbers {
	uint64_t tasks, names;
};

struct state {
	struct strpool *strings; /* the session's */
	struct hash64 by_tid;    /* tid -> index in tasks */
	VEC(struct task) tasks;
	struct hash64 by_pid;               /* pid -> index in spaces */
	VEC(struct address_space *) spaces; /* one reference each */
	struct hash64
		left; /* exit_forgets_comm: pids whose first thread has ended -> 1; 0: the pid is used again */
	struct address_space *kernel;
	struct hash64 cgroups;                      /* id -> its path's id in the string pool */
	struct state_numbers own_numbers, *numbers; /* counted so far; the second is what counts */
	bool tells_exec;                            /* names that exec gave are told to be such */
	bool keeps_maps_at_exec; /* perf's way: what was mapped before exec stays until it is mapped over */
	bool exit_forgets_comm; /* perf 6.12's way: events of an exiting task that come after EXIT have no name */
	bool keeps_first_cgroup; /* perf's way: an id stands for the path that it was first told with */
	/* perf's way: a symbol registered where something is already has no effect */
	bool keeps_first_ksymbol;
	int32_t exited[STATE_EXITED]; /* pids whose mappings go when the ring comes round */
	unsigned next_exited;
	uint64_t
		map_epoch; /* grows with every change of any mapping; the stamps of spaces are out of it */
};

int state_init(struct state *s, struct strpool *strings);
/* A state beside others of a session: what it counts goes on from there, so that no number is given out twice. Lent. */
int state_init_beside(struct state *s, struct strpool *strings, uint64_t map_epoch,
		      struct state_numbers *numbers);
void state_done(struct state *s);
/* -ENOMEM only. Returns 1 if code was left out (MAX_CODE_PIECES). */
int state_apply(struct state *s, const struct change *change);
/* The id of a task's name; a task that nothing was told of becomes known by this. */
int state_comm(struct state *s, int32_t pid, int32_t tid, uint32_t *ret_id);
/* The task as of now; one that nothing was told of becomes known by this. Lent until the next call. */
int state_task(struct state *s, int32_t pid, int32_t tid, const struct task **ret);
/* The name under which a task's program was started, as far as it is told: perf groups threads by it. */
const struct task_name *state_program(const struct state *s, const struct task *t, int32_t tid);
/* The mappings of a process as of now, NULL when none were told. Lent. */
struct address_space *state_space(struct state *s, int32_t pid);
/* The same as a thread sees them: perf 6.12 knows nothing of one that has ended. */
struct address_space *state_space_of(struct state *s, int32_t pid, int32_t tid);

/* The path of a control group as of now, NULL when it was not told. Lent as long as the string pool. */
const char *state_cgroup(const struct state *s, uint64_t id);

#endif
