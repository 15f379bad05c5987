/* SPDX-License-Identifier: MIT */
#include "state/state.h"

#include <stdio.h>
#include <string.h>

static uint64_t key_of(int32_t id)
{
	return (uint32_t)id;
}

/* The first name that is told takes the place of ":TID". */
static void name_task(struct state *s, struct task *t, uint32_t comm, uint64_t since_ns,
		      bool by_exec)
{
	bool is_first = t->name.id == t->first.id;
	uint64_t id = t->comm_told ? ++s->numbers->names : t->name.id;

	t->comm = comm;
	t->name = (struct task_name){
		.id = id, .since_ns = since_ns, .comm = comm, .by_exec = by_exec
	};
	if (!t->comm_told)
		t->first = t->name;
	else if (is_first)
		t->second = t->name;
	if (by_exec)
		t->exec = t->name;
	t->comm_told = true;
	t->is_gone = false;
}

/* As if nothing had been told of the task: another one, of the same tid. */
static int renew_task(struct state *s, int32_t tid, struct task *t)
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
	s->numbers = numbers ? numbers : &s->own_numbers;
	TRY(address_space_new(&s->kernel, ++s->map_epoch));
	TRY(strpool_intern(strings, "swapper", 7, &swapper));
	TRY(renew_task(s, 0, &idle));
	name_task(s, &idle, swapper, 0, false);
	TRY(vec_push(&s->tasks, idle));
	return hash64_put(&s->by_tid, 0, 0);
}

void state_done(struct state *s)
{
	vec_foreach(space, &s->spaces)
		address_space_unref(*space);
	address_space_unref(s->kernel);
	vec_done(&s->spaces);
	vec_done(&s->tasks);
	hash64_done(&s->by_pid);
	hash64_done(&s->left);
	hash64_done(&s->by_tid);
	hash64_done(&s->cgroups);
	*s = (struct state){ 0 };
}

/* Makes a task of which nothing is known. */
static int add_task(struct state *s, int32_t pid, int32_t tid, struct task **ret)
{
	struct task t = { .pid = pid };

	TRY(renew_task(s, tid, &t));
	TRY(vec_push(&s->tasks, t));
	TRY(hash64_put(&s->by_tid, key_of(tid), s->tasks.n - 1));
	*ret = &s->tasks.v[s->tasks.n - 1];
	return 0;
}

static int find_or_add_task(struct state *s, int32_t pid, int32_t tid, struct task **ret)
{
	uint64_t i = hash64_find(&s->by_tid, key_of(tid));

	if (i == HASH64_EMPTY)
		return add_task(s, pid, tid, ret);
	*ret = &s->tasks.v[i];
	return 0;
}

int state_comm(struct state *s, int32_t pid, int32_t tid, uint32_t *ret_id)
{
	uint64_t i = hash64_find(&s->by_tid, key_of(tid));
	struct task *t;

	if (__builtin_expect(i != HASH64_EMPTY, 1)) {
		*ret_id = s->tasks.v[i].comm;
		return 0;
	}
	TRY(add_task(s, pid, tid, &t));
	*ret_id = t->comm;
	return 0;
}

int state_task(struct state *s, int32_t pid, int32_t tid, const struct task **ret)
{
	struct task *t;

	TRY(find_or_add_task(s, pid, tid, &t));
	if (t->pid == -1)
		t->pid = pid; /* a record that knew the tid alone made it known */
	*ret = t;
	return 0;
}

/*
 * A recording may not tell what was by exec (kernels before 3.16): then it is the name as of now. The first name of a process
 * that ran before the recording is its parent's, as it is described; the next one is its own.
 */
const struct task_name *state_program(const struct state *s, const struct task *t, int32_t tid)
{
	if (!s->tells_exec)
		return &t->name;
	if (t->exec.id)
		return &t->exec;
	if (t->second.id && !t->first.since_ns && t->pid == tid)
		return &t->second;
	return &t->first;
}

struct address_space *state_space(struct state *s, int32_t pid)
{
	uint64_t i = hash64_find(&s->by_pid, key_of(pid));

	return i == HASH64_EMPTY ? NULL : s->spaces.v[i];
}

/* Takes over the reference to space, which replaces the process's. */
static int set_space(struct state *s, int32_t pid, struct address_space *take_space)
{
	uint64_t i = hash64_find(&s->by_pid, key_of(pid));
	int r;

	s->map_epoch++;
	if (i != HASH64_EMPTY) {
		address_space_unref(s->spaces.v[i]);
		s->spaces.v[i] = take_space;
		return 0;
	}
	r = vec_push(&s->spaces, take_space);
	if (r < 0) {
		address_space_unref(take_space);
		return r;
	}
	return hash64_put(&s->by_pid, key_of(pid), s->spaces.n - 1);
}

struct address_space *state_space_of(struct state *s, int32_t pid, int32_t tid)
{
	if (s->exit_forgets_comm && pid == tid && hash64_find(&s->left, key_of(pid)) == 1)
		return NULL;
	return state_space(s, pid);
}

/* A pid that is used again is not the process that ended. */
static int forget_exit(struct state *s, int32_t pid)
{
	if (hash64_find(&s->left, key_of(pid)) == 1)
		TRY(hash64_put(&s->left, key_of(pid), 0));
	for (unsigned i = 0; i < STATE_EXITED; i++) {
		if (s->exited[i] == pid)
			s->exited[i] = 0;
	}
	return 0;
}

/*
 * perf 6.12 makes a thread that has left anew when a record tells of it again (records out of their order, a pid used again
 * without a FORK): nothing is mapped in it then.
 */
static int come_back(struct state *s, int32_t pid)
{
	struct address_space *empty;

	if (!s->exit_forgets_comm || hash64_find(&s->left, key_of(pid)) != 1)
		return 0;
	TRY(forget_exit(s, pid));
	TRY(address_space_new(&empty, ++s->map_epoch));
	return set_space(s, pid, empty);
}

static int apply_comm(struct state *s, const struct change *c)
{
	struct address_space *empty, *before;
	struct task *t;
	uint32_t comm;

	TRY(come_back(s, c->pid));
	TRY(find_or_add_task(s, c->pid, c->tid, &t));
	TRY(strpool_intern(s->strings, c->text, strlen(c->text), &comm));
	name_task(s, t, comm, c->time_ns, c->exec);
	before = state_space(s, c->pid);
	if (!c->exec || s->keeps_maps_at_exec || !before)
		return 0;
	/* exec begins with nothing mapped */
	TRY(address_space_new(&empty, ++s->map_epoch));
	address_space_settle(before); /* it ran to call exec */
	empty->before = address_space_ref(before);
	return set_space(s, c->pid, empty);
}

static int apply_fork(struct state *s, const struct change *c)
{
	struct address_space *space = state_space(s, c->ppid);
	struct task *parent, *child;
	struct task copy;

	if (c->pid != c->ppid)
		TRY(forget_exit(s, c->pid));
	TRY(find_or_add_task(s, c->ppid, c->ptid, &parent));
	copy = *parent;
	TRY(find_or_add_task(s, c->pid, c->tid, &child));
	child->pid = c->pid;
	/* The tid may have been another task's before: its names are gone with it. */
	TRY(renew_task(s, c->tid, child));
	if (copy.comm_told)
		name_task(s, child, copy.comm, c->time_ns, false);
	/* A task that already ran when the recording began (exec) is described by mappings of its own. */
	if (space)
		address_space_settle(space); /* it ran to call fork */
	if (c->pid == c->ppid || c->exec || !space)
		return 0;
	return set_space(s, c->pid, address_space_ref(space));
}

static int apply_mmap(struct state *s, const struct change *c)
{
	struct mapping m = { .start = c->start,
			     .end = c->start + c->len,
			     .pgoff = c->pgoff,
			     .inode = c->inode,
			     .pid = c->pid,
			     .executable = c->executable };
	struct address_space **space;

	if (m.end <= m.start)
		return 0;
	if (c->build_id && c->build_id_len) {
		memcpy(m.build_id, c->build_id, c->build_id_len);
		m.build_id_len = (uint8_t)c->build_id_len;
	}
	TRY(strpool_intern(s->strings, c->text, strlen(c->text), &m.name));
	/* Kernels before 4.3 gave the address of the vdso as its page offset. */
	if (!c->kernel && !strcmp(c->text, "[vdso]"))
		m.pgoff = 0;
	if (c->kernel) {
		space = &s->kernel;
	} else {
		TRY(come_back(s, c->pid));
		if (!state_space(s, c->pid)) {
			struct address_space *fresh;

			TRY(address_space_new(&fresh, ++s->map_epoch));
			TRY(set_space(s, c->pid, fresh));
		}
		space = &s->spaces.v[hash64_find(&s->by_pid, key_of(c->pid))];
	}
	return address_space_add(space, &m, ++s->map_epoch);
}

static int apply_ksymbol(struct state *s, const struct change *c)
{
	struct mapping m = { .start = c->start,
			     .end = c->start + c->len,
			     .out_of_line = c->out_of_line };

	if (c->unregister) {
		/* A part of a recording may not say that it was registered. */
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

static int apply_exit(struct state *s, const struct change *c)
{
	int32_t *slot = &s->exited[s->next_exited];
	uint64_t i;

	i = hash64_find(&s->by_tid, key_of(c->tid));
	if (s->exit_forgets_comm && i != HASH64_EMPTY && c->tid) {
		TRY(renew_task(s, c->tid, &s->tasks.v[i]));
		s->tasks.v[i].is_gone = true;
	}
	/* Mappings only of a process, not of a thread; pid 0 marks a slot that is free. */
	if (c->pid != c->tid || c->pid <= 0)
		return 0;
	if (s->exit_forgets_comm)
		TRY(hash64_put(&s->left, key_of(c->pid), 1));
	i = *slot ? hash64_find(&s->by_pid, key_of(*slot)) : HASH64_EMPTY;
	if (i != HASH64_EMPTY && s->spaces.v[i]) {
		address_space_unref(s->spaces.v[i]);
		s->spaces.v[i] = NULL;
		s->map_epoch++;
	}
	*slot = c->pid;
	s->next_exited = (s->next_exited + 1) % STATE_EXITED;
	return 0;
}

static int apply_cgroup(struct state *s, const struct change *c)
{
	uint32_t path;

	if (s->keeps_first_cgroup && hash64_find(&s->cgroups, c->id) != HASH64_EMPTY)
		return 0;
	TRY(strpool_intern(s->strings, c->text, strlen(c->text), &path));
	return hash64_put(&s->cgroups, c->id, path);
}

const char *state_cgroup(const struct state *s, uint64_t id)
{
	uint64_t path = hash64_find(&s->cgroups, id);

	return path == HASH64_EMPTY ? NULL : strpool_text(s->strings, (uint32_t)path);
}

int state_apply(struct state *s, const struct change *c)
{
	switch (c->kind) {
	case CHANGE_COMM:
		return apply_comm(s, c);
	case CHANGE_FORK:
		return apply_fork(s, c);
	case CHANGE_MMAP:
		return apply_mmap(s, c);
	case CHANGE_EXIT:
		return apply_exit(s, c);
	case CHANGE_CGROUP:
		return apply_cgroup(s, c);
	case CHANGE_KSYMBOL:
		return apply_ksymbol(s, c);
	case CHANGE_TEXT_POKE:
		return address_space_write_code(&s->kernel, c->start, c->code, c->len);
	case CHANGE_NONE:
		return 0;
	}
	return 0;
}
