/* SPDX-License-Identifier: MIT */
#include "sinks/perfdata/alive.h"

#include <stdlib.h>
#include <string.h>

/* perf tells the first two names of a task apart from the later ones, and so do we (state/state.h). */
enum { NAMES_KEPT = 2 };

static void unlink_record(struct alive *a, struct alive_record *r)
{
	if (a->to_write == r)
		a->to_write = r->next;
	*(r->prev ? &r->prev->next : &a->first) = r->next;
	*(r->next ? &r->next->prev : &a->last) = r->prev;
	free(r);
}

static void put(struct alive_task *t, struct alive_task **to_go)
{
	if (!t || --t->refs)
		return;
	t->next_to_go = *to_go;
	*to_go = t;
}

/* Who lived by a task may be the last that did, and so on along any number of generations: no recursion. */
static void unref(struct alive *a, struct alive_task *t)
{
	struct alive_task *to_go = NULL;

	put(t, &to_go);
	while ((t = to_go) != NULL) {
		to_go = t->next_to_go;
		for (struct alive_record *r = t->first, *next; r; r = next) {
			next = r->next_of_task;
			unlink_record(a, r);
		}
		put(t->name_of, &to_go);
		put(t->maps_of, &to_go);
		put(t->leader, &to_go);
		hash64_done(&t->maps);
		free(t);
	}
}

static struct alive_task *ref(struct alive_task *t)
{
	if (t)
		t->refs++;
	return t;
}

/* *slot lives by t from now on; NULL: by nobody. */
static void live_by(struct alive *a, struct alive_task **slot, struct alive_task *t)
{
	struct alive_task *before = *slot;

	*slot = ref(t);
	unref(a, before);
}

void alive_done(struct alive *a)
{
	vec_foreach(t, &a->tasks)
		unref(a, *t);
	for (unsigned i = 0; i < ALIVE_EXITED; i++)
		unref(a, a->ended[i]);
	while (a->first)
		unlink_record(a, a->first);
	vec_done(&a->tasks);
	hash64_done(&a->by_tid);
	*a = (struct alive){ 0 };
}

static int add_record(struct alive *a, struct alive_task *t, const uint8_t *record, uint32_t len,
		      uint64_t time_ns, struct alive_record **ret)
{
	struct alive_record *r = malloc(sizeof(*r) + len);

	if (!r)
		return err_nomem();
	*r = (struct alive_record){
		.prev = a->last, .seq = ++a->seq, .time_ns = time_ns, .len = len
	};
	memcpy(r->bytes, record, len);
	*(a->last ? &a->last->next : &a->first) = r;
	a->last = r;
	if (!a->to_write)
		a->to_write = r;
	if (t) {
		r->prev_of_task = t->last;
		*(t->last ? &t->last->next_of_task : &t->first) = r;
		t->last = r;
	}
	if (ret)
		*ret = r;
	return 0;
}

static void remove_of_task(struct alive *a, struct alive_task *t, struct alive_record *r)
{
	*(r->prev_of_task ? &r->prev_of_task->next_of_task : &t->first) = r->next_of_task;
	*(r->next_of_task ? &r->next_of_task->prev_of_task : &t->last) = r->prev_of_task;
	unlink_record(a, r);
}

static struct alive_task *find_task(const struct alive *a, int32_t tid)
{
	uint64_t i = hash64_find(&a->by_tid, (uint32_t)tid);

	return i == HASH64_EMPTY ? NULL : a->tasks.v[i];
}

/* A task of which nothing is known takes the tid; who had it lives on for those that live by it. */
static int new_task(struct alive *a, int32_t tid, struct alive_task **ret)
{
	struct alive_task *t = calloc(1, sizeof(*t));
	uint64_t i = hash64_find(&a->by_tid, (uint32_t)tid);

	if (!t)
		return err_nomem();
	t->refs = 1;
	t->tid = tid;
	if (i != HASH64_EMPTY) {
		unref(a, a->tasks.v[i]);
		a->tasks.v[i] = t;
	} else {
		if (vec_push(&a->tasks, t) < 0) {
			free(t);
			return err_nomem();
		}
		TRY(hash64_put(&a->by_tid, (uint32_t)tid, a->tasks.n - 1));
	}
	*ret = t;
	return 0;
}

static int task_of(struct alive *a, int32_t pid, int32_t tid, struct alive_task **ret)
{
	struct alive_task *leader;

	*ret = find_task(a, tid);
	if (*ret)
		return 0;
	TRY(new_task(a, tid, ret));
	if (pid == tid || pid < 0)
		return 0;
	leader = find_task(a, pid);
	live_by(a, &(*ret)->leader, leader);
	return 0;
}

static int add_fork(struct alive *a, const struct change *c, const uint8_t *record, uint32_t len,
		    uint64_t time_ns)
{
	struct alive_task *parent = ref(find_task(a, c->ptid)),
			  *parents_leader = ref(find_task(a, c->ppid)), *t;
	int r = new_task(a, c->tid, &t);

	if (r == 0)
		r = add_record(a, t, record, len, time_ns, NULL);
	if (r == 0) {
		t->name_of = ref(parent);
		if (c->pid == c->ppid)
			t->leader = ref(parents_leader);
		else if (!c->exec)
			t->maps_of = ref(parents_leader);
		if (parent)
			parent->forked = a->seq;
		if (parents_leader && c->pid != c->ppid)
			parents_leader->forked_maps = a->seq;
	}
	unref(a, parent);
	unref(a, parents_leader);
	return r;
}

static int add_comm(struct alive *a, const struct change *c, const uint8_t *record, uint32_t len,
		    uint64_t time_ns)
{
	struct alive_task *t;
	struct alive_record *r;

	TRY(task_of(a, c->pid, c->tid, &t));
	/* A task that renames itself all the time: its last name is enough. */
	if (t->comm && t->forked < t->comm->seq)
		remove_of_task(a, t, t->comm);
	t->comm = NULL;
	TRY(add_record(a, t, record, len, time_ns, &r));
	if (t->comms < NAMES_KEPT)
		t->comms++;
	else if (!c->exec)
		t->comm = r;
	live_by(a, &t->name_of, NULL);
	if (c->exec)
		live_by(a, &t->maps_of, NULL);
	return 0;
}

/* A process that maps and unmaps all the time: what lies under another mapping is seen by nobody, but by one forked before. */
static int add_map(struct alive *a, const struct change *c, const uint8_t *record, uint32_t len,
		   uint64_t time_ns)
{
	struct alive_record *r, *before;
	struct alive_task *t;
	uint64_t at;

	TRY(task_of(a, c->pid, c->pid, &t));
	TRY(add_record(a, t, record, len, time_ns, &r));
	r->map_bytes = c->len;
	at = hash64_find(&t->maps, c->start);
	before = at == HASH64_EMPTY ? NULL : (struct alive_record *)(uintptr_t)at;
	TRY(hash64_put(&t->maps, c->start, (uintptr_t)r));
	if (before && before->map_bytes <= c->len && t->forked_maps < before->seq)
		remove_of_task(a, t, before);
	return 0;
}

static int add_exit(struct alive *a, const struct change *c, const uint8_t *record, uint32_t len,
		    uint64_t time_ns)
{
	struct alive_task *t = find_task(a, c->tid), *before;

	if (!t)
		return 0; /* nothing was told of it */
	TRY(add_record(a, t, record, len, time_ns, NULL));
	before = a->ended[a->next_ended];
	a->ended[a->next_ended] = ref(t);
	a->next_ended = (a->next_ended + 1) % ALIVE_EXITED;
	if (before && find_task(a, before->tid) == before) {
		a->tasks.v[hash64_find(&a->by_tid, (uint32_t)before->tid)] = NULL;
		unref(a, before);
	}
	unref(a, before);
	return 0;
}

int alive_add(struct alive *a, const struct change *c, const uint8_t *record, uint32_t len,
	      uint64_t time_ns)
{
	switch (c->kind) {
	case CHANGE_COMM:
		return add_comm(a, c, record, len, time_ns);
	case CHANGE_FORK:
		return add_fork(a, c, record, len, time_ns);
	case CHANGE_EXIT:
		return add_exit(a, c, record, len, time_ns);
	case CHANGE_MMAP:
		if (!c->kernel)
			return add_map(a, c, record, len, time_ns);
		break;
	case CHANGE_CGROUP:
	case CHANGE_NONE:
		break;
	}
	return add_record(a, NULL, record, len, time_ns, NULL);
}

int alive_add_of(struct alive *a, int32_t pid, int32_t tid, const uint8_t *record, uint32_t len,
		 uint64_t time_ns)
{
	struct alive_task *t;

	TRY(task_of(a, pid, tid, &t));
	return add_record(a, t, record, len, time_ns, NULL);
}

const struct alive_record *alive_next(struct alive *a)
{
	const struct alive_record *r = a->to_write;

	if (r)
		a->to_write = r->next;
	return r;
}

void alive_rewind(struct alive *a)
{
	a->to_write = a->first;
}
