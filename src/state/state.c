/* SPDX-License-Identifier: MIT */
#include "state/state.h"

#include <stdio.h>
#include <string.h>

static uint64_t state_key_of(int32_t id)
{
	return (uint32_t)id;
}

/* The first name from a record replaces ":TID". */
static void state_name_task(struct state *s, struct task *t, uint32_t comm, uint64_t since_ns,
			    bool by_exec)
{
	bool is_first = t->name.id == t->first.id;
	uint64_t id = t->has_comm ? ++s->numbers->names : t->name.id;

	t->comm = comm;
	t->name = (struct task_name){
		.id = id,
		.since_ns = since_ns,
		.comm = comm,
		.by_exec = by_exec,
	};
	if (!t->has_comm)
		t->first = t->name;
	else if (is_first)
		t->second = t->name;
	if (by_exec)
		t->exec = t->name;
	t->has_comm = true;
	t->is_untimed = false;
	t->is_gone = false;
}

/* Makes t another task with the same tid, which no record has named yet. */
static int state_renew_task(struct state *s, int32_t tid, struct task *t)
{
	char name[16];
	int n = snprintf(name, sizeof(name), ":%d", tid);
	int32_t pid = t->pid;

	*t = (struct task){ .pid = pid, .id = ++s->numbers->tasks };
	TRY(strpool_intern(s->strings, name, (size_t)n, &t->comm));
	t->name = t->first = (struct task_name){ .id = ++s->numbers->names, .comm = t->comm };
	return 0;
}

int state_init(struct state *s, struct strpool *strings)
{
	return state_init_beside(s, strings, 0, NULL);
}

int state_init_beside(struct state *s, struct strpool *strings, uint64_t map_epoch,
		      struct state_numbers *numbers)
{
	struct task idle = { 0 };
	uint32_t swapper;

	*s = (struct state){ .strings = strings, .map_epoch = map_epoch };
	for (size_t i = 0; i < STATE_ARRAY_CPUS; i++)
		s->running[i].tid = -1;
	s->numbers = numbers ? numbers : &s->own_numbers;
	TRY(address_space_new(&s->kernel, ++s->map_epoch));
	TRY(strpool_intern(strings, "swapper", 7, &swapper));
	TRY(state_renew_task(s, 0, &idle));
	state_name_task(s, &idle, swapper, 0, false);
	TRY(vec_push(&s->tasks, idle));
	return hash64_put(&s->by_tid, 0, 0);
}

void state_done(struct state *s)
{
	vec_foreach(process, &s->processes.lives)
		address_space_unref(process->payload);
	address_space_unref(s->kernel);
	lineage_done(&s->processes);
	vec_done(&s->tasks);
	hash64_done(&s->by_tid);
	hash64_done(&s->cgroups);
	hash64_done(&s->running_far);
	*s = (struct state){ 0 };
}

/* Adds a task that no record has named. */
static int state_add_task(struct state *s, int32_t pid, int32_t tid, struct task **ret)
{
	struct task t = { .pid = pid };

	TRY(state_renew_task(s, tid, &t));
	TRY(vec_push(&s->tasks, t));
	TRY(hash64_put(&s->by_tid, state_key_of(tid), s->tasks.n - 1));
	*ret = &s->tasks.v[s->tasks.n - 1];
	return 0;
}

static int state_find_or_add_task(struct state *s, int32_t pid, int32_t tid, struct task **ret)
{
	uint64_t i = hash64_find(&s->by_tid, state_key_of(tid));

	if (i == HASH64_EMPTY)
		return state_add_task(s, pid, tid, ret);
	*ret = &s->tasks.v[i];
	return 0;
}

int state_comm_find(struct state *s, int32_t pid, int32_t tid, uint32_t *ret_id)
{
	struct task *t;

	TRY(state_find_or_add_task(s, pid, tid, &t));
	*ret_id = t->comm;
	*state_recent(s, tid) = (struct recent_comm){
		.tid = tid,
		.comm = t->comm,
		.task = t->has_comm && !t->is_untimed ? (uint32_t)(t - s->tasks.v) + 1 : 0,
		.text = strpool_text(s->strings, t->comm),
	};
	return 0;
}

int state_task(struct state *s, int32_t pid, int32_t tid, const struct task **ret)
{
	struct task *t;

	TRY(state_find_or_add_task(s, pid, tid, &t));
	if (t->pid == -1)
		t->pid = pid; /* a record without a pid added the task */
	*ret = t;
	return 0;
}

/*
 * Kernels before 3.16 do not mark names that were set by exec; then the current name is used. For a
 * process that ran before the recording, the first name is its parent's, from the FORK that
 * describes it; the second is its own.
 */
const struct task_name *state_program(const struct state *s, const struct task *t, int32_t tid)
{
	if (!s->marks_exec)
		return &t->name;
	if (t->exec.id)
		return &t->exec;
	if (t->second.id && !t->first.since_ns && t->pid == tid)
		return &t->second;
	return &t->first;
}

struct address_space *state_space(struct state *s, int32_t pid)
{
	return lineage_payload(&s->processes, pid);
}

/*
 * Takes over the reference to the space, which replaces the process's space; NULL if nothing is
 * mapped.
 */
static int state_set_space(struct state *s, int32_t pid, struct address_space *take_space)
{
	struct address_space *before = state_space(s, pid);
	int r = lineage_put(&s->processes, pid, take_space);

	s->map_epoch++;
	address_space_unref(r < 0 ? take_space : before);
	return r;
}

static bool state_has_left(const struct state *s, int32_t pid)
{
	return s->exit_forgets_comm && lineage_has_ended(&s->processes, pid);
}

struct address_space *state_space_of(struct state *s, int32_t pid, int32_t tid)
{
	return pid == tid && state_has_left(s, pid) ? NULL : state_space(s, pid);
}

/*
 * perf 6.12 creates a new thread if a record after the EXIT names the same one (records out of
 * order, a pid that is reused without a FORK). Nothing is mapped in it.
 */
static int state_come_back(struct state *s, int32_t pid)
{
	struct address_space *empty;

	if (!state_has_left(s, pid))
		return 0;
	lineage_begin(&s->processes, pid);
	TRY(address_space_new(&empty, ++s->map_epoch));
	return state_set_space(s, pid, empty);
}

/*
 * The change does not say when the task runs, so a name that exit_forgets_comm removed stays
 * removed.
 */
static int state_apply_untimed_name(struct state *s, const struct change *c)
{
	struct task *t;
	uint32_t comm;

	TRY(state_find_or_add_task(s, c->pid, c->tid, &t));
	if (t->pid == -1)
		t->pid = c->pid;
	if (t->is_gone || (t->has_comm && !t->is_untimed))
		return 0;
	TRY(strpool_intern(s->strings, c->text, strlen(c->text), &comm));
	state_name_task(s, t, comm, SONDE_NO_TIME, false);
	t->is_untimed = true;
	return 0;
}

static int state_apply_name(void *user, const struct change *c)
{
	struct state *s = user;
	struct task *t;
	uint32_t comm;

	if (c->is_untimed)
		return state_apply_untimed_name(s, c);
	TRY(state_come_back(s, c->pid));
	TRY(state_find_or_add_task(s, c->pid, c->tid, &t));
	TRY(strpool_intern(s->strings, c->text, strlen(c->text), &comm));
	state_name_task(s, t, comm, c->time_ns, c->exec);
	return 0;
}

static int state_apply_exec(void *user, const struct change *c)
{
	struct state *s = user;
	struct address_space *empty, *before = state_space(s, c->pid);

	if (s->keeps_maps_at_exec || !before)
		return 0;
	TRY(address_space_new(&empty, ++s->map_epoch));
	address_space_settle(before); /* it ran to call exec */
	empty->before = address_space_ref(before);
	return state_set_space(s, c->pid, empty);
}

static int state_apply_fork(void *user, const struct change *c, enum lineage_maps maps)
{
	struct state *s = user;
	struct address_space *space = state_space(s, c->ppid);
	struct task *parent, *child;
	struct task copy;

	if (maps != LINEAGE_SHARES)
		lineage_begin(&s->processes, c->pid);
	TRY(state_find_or_add_task(s, c->ppid, c->ptid, &parent));
	copy = *parent;
	TRY(state_find_or_add_task(s, c->pid, c->tid, &child));
	child->pid = c->pid;
	/* The tid may have belonged to another task; state_renew_task() drops that task's names. */
	TRY(state_renew_task(s, c->tid, child));
	if (copy.has_comm)
		state_name_task(s, child, copy.comm, c->time_ns, false);
	if (space)
		address_space_settle(space); /* it ran to call fork */
	if (maps == LINEAGE_SHARES)
		return 0;
	if (maps == LINEAGE_INHERITS && space)
		return state_set_space(s, c->pid, address_space_ref(space));
	/* Another process had the pid before. */
	return state_space(s, c->pid) ? state_set_space(s, c->pid, NULL) : 0;
}

int state_mapping(struct strpool *strings, const struct change *c, struct mapping *ret)
{
	*ret = (struct mapping){
		.start = c->start,
		.end = c->start + c->len,
		.pgoff = c->pgoff,
		.inode = c->inode,
		.pid = c->pid,
		.major = c->major,
		.minor = c->minor,
		.executable = c->executable,
		.shared = c->shared,
		.build_id = c->build_id,
	};
	/* Kernels before 4.3 gave the address of the vdso as its page offset. */
	if (!c->kernel && !strcmp(c->text, "[vdso]"))
		ret->pgoff = 0;
	return strpool_intern(strings, c->text, strlen(c->text), &ret->name);
}

static int state_apply_map(void *user, const struct change *c)
{
	struct state *s = user;
	struct lineage_life *process;
	struct address_space *space;
	struct mapping m;
	int r;

	TRY(state_mapping(s->strings, c, &m));
	if (m.end <= m.start)
		return 0;
	TRY(state_come_back(s, c->pid));
	process = lineage_find(&s->processes, c->pid);
	if (!process || !process->payload) {
		TRY(address_space_new(&space, ++s->map_epoch));
		TRY(state_set_space(s, c->pid, space));
		process = lineage_find(&s->processes, c->pid);
	}
	space = process->payload;
	r = address_space_add(&space, &m, ++s->map_epoch);
	process->payload = space;
	return r;
}

static int state_apply_kernel_map(struct state *s, const struct change *c)
{
	struct mapping m;

	TRY(state_mapping(s->strings, c, &m));
	return m.end > m.start ? address_space_add(&s->kernel, &m, ++s->map_epoch) : 0;
}

static int state_apply_ksymbol(struct state *s, const struct change *c)
{
	struct mapping m = {
		.start = c->start,
		.end = c->start + c->len,
		.out_of_line = c->out_of_line,
	};

	if (c->unregister) {
		/* The recording may lack the record that registered it. */
		TRY(address_space_write_code(&s->kernel, c->start, NULL, c->len));
		return address_space_remove_symbol(&s->kernel, c->start, ++s->map_epoch);
	}
	if (m.end <= m.start)
		return 0;
	if (s->keeps_first_ksymbol &&
	    (address_space_symbol(s->kernel, c->start) || address_space_find(s->kernel, c->start)))
		return 0;
	TRY(strpool_intern(s->strings, c->text, strlen(c->text), &m.name));
	return address_space_add_symbol(&s->kernel, &m, ++s->map_epoch);
}

static int state_apply_exit(void *user, const struct change *c, bool is_process)
{
	struct state *s = user;
	uint64_t i = hash64_find(&s->by_tid, state_key_of(c->tid));
	void *gone;

	if (s->exit_forgets_comm && i != HASH64_EMPTY && c->tid) {
		TRY(state_renew_task(s, c->tid, &s->tasks.v[i]));
		s->tasks.v[i].is_gone = true;
	}
	if (!is_process)
		return 0;
	TRY(lineage_end(&s->processes, c->pid, STATE_EXITED, &gone));
	if (gone || s->exit_forgets_comm) /* state_space_of() finds nothing mapped from now on */
		s->map_epoch++;
	address_space_unref(gone);
	return 0;
}

/* Marks a cpu whose task is unknown. pid and tid of a task are never both -1. */
#define NOBODY (HASH64_EMPTY - 1)

static int state_set_running(struct state *s, const struct change *c)
{
	const uint64_t who = (uint64_t)(uint32_t)c->pid << 32 | (uint32_t)c->tid;
	uint64_t task;

	if ((uint32_t)c->cpu >= STATE_ARRAY_CPUS)
		return hash64_put(&s->running_far, state_key_of(c->cpu),
				  c->tid == -1 ? NOBODY : who);
	task = hash64_find(&s->by_tid, state_key_of(c->tid));
	s->running[c->cpu] = (struct runner){
		.pid = c->pid,
		.tid = c->tid,
		.task = task == HASH64_EMPTY ? 0 : (uint32_t)task + 1,
	};
	return 0;
}

/* Each switch repeats the name, so only a different name counts. */
static bool state_has_name(const struct state *s, const struct task *t, const char *name)
{
	return t->has_comm && !t->is_untimed && !strcmp(strpool_text(s->strings, t->comm), name);
}

static int state_apply_switch(struct state *s, const struct change *c)
{
	struct task *t;
	uint32_t comm;

	TRY(state_set_running(s, c));
	if (!c->text || c->tid == -1)
		return 0;
	TRY(state_find_or_add_task(s, c->pid, c->tid, &t));
	/* Idle tasks are "swapper/1", ... */
	if (!c->tid || state_has_name(s, t, c->text))
		return 0;
	TRY(strpool_intern(s->strings, c->text, strlen(c->text), &comm));
	state_name_task(s, t, comm, c->time_ns, false);
	return 0;
}

/* The index, counted from 1, of a task with this name (NULL: any); 0 if there is none. */
static uint32_t state_find_named(const struct state *s, int32_t tid, const char *name)
{
	const uint64_t i = hash64_find(&s->by_tid, state_key_of(tid));

	return i == HASH64_EMPTY || (name && !state_has_name(s, &s->tasks.v[i], name))
		       ? 0
		       : (uint32_t)i + 1;
}

bool state_switch_only(struct state *s, const struct change *c, struct runner *ret_before)
{
	struct runner *r = &s->running[(uint32_t)c->cpu % STATE_ARRAY_CPUS];
	const struct recent_comm *recent = state_recent(s, c->tid);
	uint32_t task;

	if (c->kind != CHANGE_SWITCH || (uint32_t)c->cpu >= STATE_ARRAY_CPUS || r->tid == -1 ||
	    c->tid == -1)
		return false;
	if (recent->tid == c->tid && recent->comm && recent->task)
		task = !c->tid || !c->text || !strcmp(recent->text, c->text) ? recent->task : 0;
	else
		task = state_find_named(s, c->tid, c->tid ? c->text : NULL);
	if (!task)
		return false;
	*ret_before = *r;
	*r = (struct runner){ .pid = c->pid, .tid = c->tid, .task = task };
	return true;
}

int32_t state_pid_of(const struct state *s, int32_t tid)
{
	const uint64_t i = hash64_find(&s->by_tid, state_key_of(tid));

	return i == HASH64_EMPTY ? -1 : s->tasks.v[i].pid;
}

bool state_running_far(const struct state *s, int32_t cpu, int32_t *ret_pid, int32_t *ret_tid)
{
	const uint64_t who = hash64_find(&s->running_far, state_key_of(cpu));

	if (who >= NOBODY)
		return false;
	*ret_tid = (int32_t)(uint32_t)who;
	*ret_pid = (int32_t)(who >> 32);
	if (*ret_pid == -1)
		*ret_pid = state_pid_of(s, *ret_tid);
	return true;
}

static int state_apply_cgroup(struct state *s, const struct change *c)
{
	uint32_t path;

	if (s->keeps_first_cgroup && hash64_find(&s->cgroups, c->id) != HASH64_EMPTY)
		return 0;
	TRY(strpool_intern(s->strings, c->text, strlen(c->text), &path));
	return hash64_put(&s->cgroups, c->id, path);
}

/* A child gets a record of its own after its FORK. */
static int state_apply_namespaces(struct state *s, const struct change *c)
{
	struct task *t;

	TRY(state_find_or_add_task(s, c->pid, c->tid, &t));
	if (t->pid == -1)
		t->pid = c->pid;
	t->namespace_device = c->namespace_device;
	t->namespace_inode = c->namespace_inode;
	return 0;
}

const char *state_cgroup(const struct state *s, uint64_t id)
{
	uint64_t path = hash64_find(&s->cgroups, id);

	return path == HASH64_EMPTY ? NULL : strpool_text(s->strings, (uint32_t)path);
}

static const struct lineage_ops ops = {
	.fork = state_apply_fork,
	.name = state_apply_name,
	.exec = state_apply_exec,
	.map = state_apply_map,
	.exit = state_apply_exit,
};

int state_apply(struct state *s, const struct change *c)
{
	/* COMM, FORK, EXIT and SWITCH may rename the task of that tid, and no other task. */
	state_recent(s, c->tid)->comm = 0;
	switch (c->kind) {
	case CHANGE_CGROUP:
		return state_apply_cgroup(s, c);
	case CHANGE_KSYMBOL:
		return state_apply_ksymbol(s, c);
	case CHANGE_SWITCH:
		return state_apply_switch(s, c);
	case CHANGE_NAMESPACES:
		return state_apply_namespaces(s, c);
	case CHANGE_TEXT_POKE:
		return address_space_write_code(&s->kernel, c->start, c->code, c->len);
	default:
		return c->kind == CHANGE_MMAP && c->kernel ? state_apply_kernel_map(s, c)
							   : lineage_apply(&ops, s, c);
	}
}
