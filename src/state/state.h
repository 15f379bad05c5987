/* SPDX-License-Identifier: MIT */
/*
 * The state as of an event: the names of tasks, and the mappings of processes. It takes the changes
 * that events report, in the order of their delivery, and answers for each sample.
 *
 * lineage.h has the rules of fork, exec and exit. Further rules are perf's: a name belongs to a
 * tid; a task that no record names is ":TID"; tid 0 is "swapper"; EXIT forgets nothing, because
 * events of an exiting task follow it. perf 6.12 differs: a record after the EXIT is of a new task.
 *
 * A COMM without a time (change.is_untimed) names a task for the complete recording: a name with a
 * time replaces it from then on, and it never replaces one. The last of several untimed names
 * holds.
 *
 * SWITCH says which task runs on a cpu from then on. An event without a task belongs to the task
 * that runs on its cpu. The event that reports the switch belongs to the task that ran until then.
 *
 * Every FORK creates a new task, even if the tid repeats. Every COMM creates a new name, even if
 * the text repeats. Both have numbers that are unique in a session.
 */
#ifndef SONDE_STATE_STATE_H
#define SONDE_STATE_STATE_H

#include "base/hash.h"
#include "base/strpool.h"
#include "base/vec.h"
#include "model/event.h"
#include "state/address_space.h"
#include "state/lineage.h"

/* A name that a task has or had. */
struct task_name {
	uint64_t id; /* counted from 1; 0 if there is none */
	uint64_t since_ns;
	uint32_t comm; /* id in the string pool */
	bool by_exec;
};

struct task {
	int32_t pid;
	uint32_t comm;   /* id in the string pool */
	bool has_comm;   /* comm comes from a COMM or from the parent; otherwise it is ":TID" */
	bool is_untimed; /* comm comes from a change without a time: struct change */
	bool is_gone; /* exit_forgets_comm: the task has ended, and no record has named it since */
	uint64_t id;  /* counted from 1 */
	/* its namespace of control groups; 0 if no record since the task's start names it */
	uint64_t namespace_device, namespace_inode;
	struct task_name name, exec;    /* the current name; the last name set by exec */
	struct task_name first, second; /* ":TID" is the first until a record names the task */
};

/*
 * The mappings of a process are dropped this many process exits after its own, so that memory does
 * not grow with the number of ended processes (lineage_end()).
 */
enum { STATE_EXITED = 1024 };

/* A task's name, cached in front of the hash; the index is the lowest bits of the tid. */
struct recent_comm {
	int32_t tid;
	uint32_t comm;    /* 0 if none */
	uint32_t task;    /* index in tasks, counted from 1; 0 if a switch may still rename it */
	const char *text; /* of comm */
};
enum { STATE_RECENT_COMMS = 64 };

/*
 * The task that runs on a cpu. pid is -1 if no record named its process; then it is that of the
 * task, if that is known by now.
 */
struct runner {
	int32_t pid, tid; /* tid is -1 if the task is unknown */
	uint32_t task;    /* index in tasks, counted from 1; 0 if it was not there at the switch */
};
/* Runners of cpus below this number are in an array. */
enum { STATE_ARRAY_CPUS = 256 };

/* The last numbers of tasks and names. All states of a session share them. */
struct state_numbers {
	uint64_t tasks, names;
};

struct state {
	struct strpool *strings; /* the session's */
	struct hash64 by_tid;    /* tid -> index in tasks */
	VEC(struct task) tasks;
	struct recent_comm recent[STATE_RECENT_COMMS];
	struct lineage processes; /* by pid: struct address_space, one reference each */
	struct address_space *kernel;
	struct runner running[STATE_ARRAY_CPUS];
	struct hash64 running_far; /* further cpus -> pid, tid */
	struct hash64 cgroups;     /* id -> its path's id in the string pool */
	/* numbers points to the ones in use, which may be another state's */
	struct state_numbers own_numbers, *numbers;
	bool marks_exec; /* the recording marks names that were set by exec */
	/* perf's rule: mappings from before an exec stay until new ones overlap them */
	bool keeps_maps_at_exec;
	/* perf 6.12's rule: events of an exiting task that follow its EXIT have no name */
	bool exit_forgets_comm;
	bool keeps_first_cgroup; /* perf's rule: an id keeps the path of its first record */
	/* perf's rule: a symbol registered at an occupied address has no effect */
	bool keeps_first_ksymbol;
	/* Increases with each change of a mapping. The stamps of spaces are values of it. */
	uint64_t map_epoch;
};

int state_init(struct state *s, struct strpool *strings);
/*
 * Initialises a further state of a session. It continues from map_epoch and *numbers, which it
 * borrows, so that the numbers of its tasks, names and spaces are unique in the session.
 */
int state_init_beside(struct state *s, struct strpool *strings, uint64_t map_epoch,
		      struct state_numbers *numbers);
void state_done(struct state *s);
/* Fails with -ENOMEM only. Returns 1 if code was left out (MAX_CODE_PIECES). */
int state_apply(struct state *s, const struct change *change);
static inline struct recent_comm *state_recent(struct state *s, int32_t tid)
{
	return &s->recent[(uint32_t)tid % STATE_RECENT_COMMS];
}

int state_comm_find(struct state *s, int32_t pid, int32_t tid, uint32_t *ret_id);
/* The id of a task's name. Adds a task that no record has named. */
static inline int state_comm(struct state *s, int32_t pid, int32_t tid, uint32_t *ret_id)
{
	const struct recent_comm *recent = state_recent(s, tid);

	if (__builtin_expect(recent->tid == tid && recent->comm, 1)) {
		*ret_id = recent->comm;
		return 0;
	}
	return state_comm_find(s, pid, tid, ret_id);
}

/* The current task. Adds one that no record has named. Borrowed until the next call. */
int state_task(struct state *s, int32_t pid, int32_t tid, const struct task **ret);
/* The name under which a task's program was started, if known: perf groups threads by it. */
const struct task_name *state_program(const struct state *s, const struct task *t, int32_t tid);
/* state_running() for cpus that are not in the array. */
bool state_running_far(const struct state *s, int32_t cpu, int32_t *ret_pid, int32_t *ret_tid);
/* The process of a task; -1 if it is unknown. */
int32_t state_pid_of(const struct state *s, int32_t tid);
/*
 * The task that runs on a cpu. False, with nothing set, if no SWITCH named one. *ret_pid is -1 if
 * no record named its process.
 */
static inline bool state_running(const struct state *s, int32_t cpu, int32_t *ret_pid,
				 int32_t *ret_tid)
{
	const struct runner *r;

	if (__builtin_expect((uint32_t)cpu >= STATE_ARRAY_CPUS, 0))
		return state_running_far(s, cpu, ret_pid, ret_tid);
	r = &s->running[cpu];
	if (r->tid == -1)
		return false;
	*ret_tid = r->tid;
	*ret_pid = r->pid != -1 ? r->pid
		   : r->task    ? s->tasks.v[r->task - 1].pid
				: state_pid_of(s, r->tid);
	return true;
}

/*
 * Applies a SWITCH that changes nothing but the task that runs on its cpu: both tasks are known,
 * and have their names already. *ret_before is who ran, for state_switch_back(). False, with
 * nothing done, if state_apply() is needed.
 */
bool state_switch_only(struct state *s, const struct change *change, struct runner *ret_before);
/* Undoes the last state_switch_only() of a cpu. */
static inline void state_switch_back(struct state *s, int32_t cpu, const struct runner *before)
{
	s->running[cpu] = *before;
}

/* The current mappings of a process; NULL if none are known. Borrowed. */
struct address_space *state_space(struct state *s, int32_t pid);
/*
 * The mappings as a thread sees them. Under perf 6.12's rules nothing is mapped after the first
 * thread's exit.
 */
struct address_space *state_space_of(struct state *s, int32_t pid, int32_t tid);

/* The mapping that an MMAP reports. Fails with -ENOMEM only. */
int state_mapping(struct strpool *strings, const struct change *c, struct mapping *ret);

/* The current path of a control group; NULL if unknown. Valid as long as the string pool. */
const char *state_cgroup(const struct state *s, uint64_t id);

#endif
