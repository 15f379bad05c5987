/* SPDX-License-Identifier: MIT */
#include "sinks/perf/alive.h"

#include <stdlib.h>
#include <string.h>

enum {
	NAMES_KEPT = 2,    /* the first two names of a task decide its program (state_program()) */
	GARBAGE_SHARE = 8, /* alive_look_through() waits for an eighth of a task's records */
	GARBAGE_FEW = 16
};

/* ---- records -------------------------------------------------------------------------------- */

static struct alive_record *alive_found(uint64_t value)
{
	return value == HASH64_EMPTY ? NULL : (struct alive_record *)(uintptr_t)value;
}

static void alive_unlink_of_task(struct alive_task *t, struct alive_record *r)
{
	*(r->prev_of_task ? &r->prev_of_task->next_of_task : &t->first) = r->next_of_task;
	*(r->next_of_task ? &r->next_of_task->prev_of_task : &t->last) = r->prev_of_task;
	t->nr_records--;
	if (r->replaced)
		t->legacy[r->legacy].garbage--;
	if (t->name == r)
		t->name = NULL;
	if (t->namespaces == r)
		t->namespaces = NULL;
}

/* The table of the last record for each place or subject; NULL if the record has neither. */
static struct hash64 *alive_table_of(struct alive *a, const struct alive_record *r)
{
	if (!r->task)
		return &a->by_subject;
	return r->legacy == ALIVE_MAPS ? &r->task->maps : NULL;
}

static int alive_place(struct alive *a, struct alive_record *r)
{
	struct hash64 *table = alive_table_of(a, r);
	struct alive_record *before = alive_found(hash64_find(table, r->id));

	TRY(hash64_put(table, r->id, (uintptr_t)r));
	r->under = before;
	if (before)
		before->over = r;
	return 0;
}

static void alive_unplace(struct alive *a, struct alive_record *r)
{
	struct hash64 *table = alive_table_of(a, r);

	if (r->over)
		r->over->under = r->under;
	else if (table && alive_found(hash64_find(table, r->id)) == r)
		hash64_put(table, r->id, (uintptr_t)r->under);
	if (r->under)
		r->under->over = r->over;
	r->over = r->under = NULL;
}

/* Takes the next record below r that r covers out of its place; NULL if there is none. */
static struct alive_record *alive_uncover(struct alive *a, struct alive_record *r)
{
	struct alive_record *before = r->under;

	if (!before || before->map_bytes > r->map_bytes)
		return NULL;
	alive_unplace(a, before);
	return before;
}

static void alive_remove_record(struct alive *a, struct alive_record *r)
{
	alive_unplace(a, r);
	if (r->task)
		alive_unlink_of_task(r->task, r);
	if (a->to_write == r)
		a->to_write = r->next;
	if (a->lent == r)
		a->lent = NULL;
	*(r->prev ? &r->prev->next : &a->first) = r->next;
	*(r->next ? &r->next->prev : &a->last) = r->prev;
	free(r);
}

static int alive_add_record(struct alive *a, struct alive_task *t, const uint8_t *record,
			    uint32_t len, uint64_t time_ns, struct alive_record **ret)
{
	struct alive_record *r = malloc(sizeof(*r) + len);

	if (!r)
		return err_nomem();
	*r = (struct alive_record){ .prev = a->last,
				    .task = t,
				    .seq = ++a->seq,
				    .time_ns = time_ns,
				    .len = len,
				    .legacy = ALIVE_LEGACIES };
	memcpy(r->bytes, record, len);
	*(a->last ? &a->last->next : &a->first) = r;
	a->last = r;
	if (!a->to_write)
		a->to_write = r;
	if (t) {
		r->prev_of_task = t->last;
		*(t->last ? &t->last->next_of_task : &t->first) = r;
		t->last = r;
		t->nr_records++;
	}
	if (ret)
		*ret = r;
	return 0;
}

/* ---- what tasks inherit --------------------------------------------------------------------- */

/*
 * Drops replaced records. A record is still needed if a task was forked after it and before its
 * replacement. Records and heirs are in the order of seq, so one walk over both decides.
 */
static void alive_look_through(struct alive *a, struct alive_task *t, enum alive_legacy which)
{
	const struct alive_task *heir = t->legacy[which].first;

	if (!t->legacy[which].garbage || t->legacy[which].garbage < t->legacy[which].looked_at)
		return;
	for (struct alive_record *r = t->first, *next; r; r = next) {
		next = r->next_of_task;
		if (!r->replaced || r->legacy != which)
			continue;
		while (heir && heir->forked < r->seq)
			heir = heir->legacy[which].next;
		if (!heir || heir->forked > r->replaced)
			alive_remove_record(a, r);
	}
	t->legacy[which].looked_at =
		2 * t->legacy[which].garbage + t->nr_records / GARBAGE_SHARE + GARBAGE_FEW;
}

/* Tasks that are forked from now on do not inherit r, which may be NULL. */
static void alive_replace(struct alive *a, struct alive_task *t, struct alive_record *r)
{
	const struct alive_task *heir;

	if (!r)
		return;
	heir = t->legacy[r->legacy].last;
	if (!heir || heir->forked < r->seq) {
		alive_remove_record(a, r);
		return;
	}
	r->replaced = a->seq;
	t->legacy[r->legacy].garbage++;
	alive_look_through(a, t, r->legacy);
}

static struct alive_task *alive_ref(struct alive_task *t)
{
	if (t)
		t->refs++;
	return t;
}

static void alive_inherit(struct alive_task *t, enum alive_legacy which, struct alive_task *of)
{
	if (!of)
		return;
	t->legacy[which].of = alive_ref(of);
	t->legacy[which].prev = of->legacy[which].last;
	*(of->legacy[which].last ? &of->legacy[which].last->legacy[which].next
				 : &of->legacy[which].first) = t;
	of->legacy[which].last = t;
}

static void alive_put(struct alive_task *t, struct alive_task **to_go)
{
	if (!t || --t->refs)
		return;
	t->next_to_go = *to_go;
	*to_go = t;
}

/* The task has its own, and no heir was forked before it had: nothing it inherited is needed. */
static bool alive_is_on_its_own(const struct alive_task *t, enum alive_legacy which)
{
	const struct alive_task *heir = t->legacy[which].first;

	return t->legacy[which].own && (!heir || heir->forked > t->legacy[which].own);
}

/* A parent that keeps what it inherited only for this task disowns it as well. */
static void alive_disown(struct alive *a, struct alive_task *t, enum alive_legacy which,
			 struct alive_task **to_go)
{
	struct alive_task *of;

	for (; (of = t->legacy[which].of); t = of) {
		struct alive_task *prev = t->legacy[which].prev, *next = t->legacy[which].next;

		*(prev ? &prev->legacy[which].next : &of->legacy[which].first) = next;
		*(next ? &next->legacy[which].prev : &of->legacy[which].last) = prev;
		t->legacy[which].of = t->legacy[which].prev = t->legacy[which].next = NULL;
		alive_look_through(a, of, which);
		alive_put(of, to_go);
		if (!alive_is_on_its_own(of, which))
			return;
	}
}

/* A task may be its parent's last heir, over any number of generations: a loop, no recursion. */
static void alive_free_all(struct alive *a, struct alive_task *to_go)
{
	struct alive_task *t;

	while ((t = to_go) != NULL) {
		to_go = t->next_to_go;
		while (t->first)
			alive_remove_record(a, t->first);
		for (int which = 0; which < ALIVE_LEGACIES; which++)
			alive_disown(a, t, which, &to_go);
		alive_put(t->leader, &to_go);
		hash64_done(&t->maps);
		free(t);
	}
}

static void alive_unref(struct alive *a, struct alive_task *t)
{
	struct alive_task *to_go = NULL;

	alive_put(t, &to_go);
	alive_free_all(a, to_go);
}

/* The record that was added last gives the task its own. */
static void alive_get_own(struct alive *a, struct alive_task *t, enum alive_legacy which)
{
	struct alive_task *to_go = NULL;

	t->legacy[which].own = a->seq;
	if (alive_is_on_its_own(t, which))
		alive_disown(a, t, which, &to_go);
	alive_free_all(a, to_go);
}

void alive_done(struct alive *a)
{
	vec_foreach(life, &a->tasks.lives)
		alive_unref(a, life->payload);
	while (a->first)
		alive_remove_record(a, a->first);
	lineage_done(&a->tasks);
	hash64_done(&a->by_subject);
	*a = (struct alive){ 0 };
}

/* ---- tasks ---------------------------------------------------------------------------------- */

static struct alive_task *alive_find_task(const struct alive *a, int32_t tid)
{
	return lineage_payload(&a->tasks, tid);
}

/* A new task takes the tid. The earlier one stays as long as it has heirs. */
static int alive_new_task(struct alive *a, int32_t tid, struct alive_task **ret)
{
	struct alive_task *t = calloc(1, sizeof(*t)), *before = alive_find_task(a, tid);
	int r;

	if (!t)
		return err_nomem();
	t->refs = 1;
	r = lineage_put(&a->tasks, tid, t);
	if (r < 0) {
		free(t);
		return r;
	}
	lineage_begin(&a->tasks, tid);
	alive_unref(a, before);
	*ret = t;
	return 0;
}

static int alive_task_of(struct alive *a, int32_t pid, int32_t tid, struct alive_task **ret)
{
	*ret = alive_find_task(a, tid);
	if (*ret)
		return 0;
	TRY(alive_new_task(a, tid, ret));
	if (pid != tid && pid >= 0)
		(*ret)->leader = alive_ref(alive_find_task(a, pid));
	return 0;
}

/* A record that alive_add() takes. */
struct taking {
	struct alive *alive;
	const uint8_t *record;
	uint32_t len;
	uint64_t time_ns;
};

static int alive_take_record(const struct taking *n, struct alive_task *t,
			     struct alive_record **ret)
{
	return alive_add_record(n->alive, t, n->record, n->len, n->time_ns, ret);
}

static int alive_take_fork(void *user, const struct change *c, enum lineage_maps maps)
{
	const struct taking *n = user;
	struct alive *a = n->alive;
	struct alive_task *parent = alive_ref(alive_find_task(a, c->ptid)),
			  *parents_leader = alive_ref(alive_find_task(a, c->ppid)), *t;
	int r = alive_new_task(a, c->tid, &t);

	if (r == 0)
		r = alive_take_record(n, t, NULL);
	if (r == 0) {
		t->forked = a->seq;
		alive_inherit(t, ALIVE_NAME, parent);
		if (maps == LINEAGE_SHARES)
			t->leader = alive_ref(parents_leader);
		else if (maps == LINEAGE_INHERITS)
			alive_inherit(t, ALIVE_MAPS, parents_leader);
	}
	alive_unref(a, parent);
	alive_unref(a, parents_leader);
	return r;
}

/*
 * A task may rename itself all the time. Then these names are kept: the first ones, those that exec
 * gave, and the last one. An exec's record stays because it also ends mappings.
 */
static int alive_take_name(void *user, const struct change *c)
{
	const struct taking *n = user;
	struct alive_task *t;
	struct alive_record *r;

	TRY(alive_task_of(n->alive, c->pid, c->tid, &t));
	TRY(alive_take_record(n, t, &r));
	r->legacy = ALIVE_NAME;
	alive_replace(n->alive, t, t->name);
	t->name = NULL;
	if (t->names < NAMES_KEPT)
		t->names++;
	else if (!c->exec)
		t->name = r;
	alive_get_own(n->alive, t, ALIVE_NAME);
	return 0;
}

static int alive_take_exec(void *user, const struct change *c)
{
	const struct taking *n = user;
	struct alive_task *t;

	TRY(alive_task_of(n->alive, c->pid, c->pid, &t));
	alive_get_own(n->alive, t, ALIVE_MAPS);
	return 0;
}

/* Only a task that was forked before sees what is under another mapping. */
static int alive_take_map(void *user, const struct change *c)
{
	const struct taking *n = user;
	struct alive_record *r, *before;
	struct alive_task *t;

	TRY(alive_task_of(n->alive, c->pid, c->pid, &t));
	TRY(alive_take_record(n, t, &r));
	r->legacy = ALIVE_MAPS;
	r->id = c->start;
	r->map_bytes = c->len;
	TRY(alive_place(n->alive, r));
	while ((before = alive_uncover(n->alive, r)) != NULL)
		alive_replace(n->alive, t, before);
	return 0;
}

/* Threads that ended are kept as processes are, with the records of their names. */
static int alive_take_exit(void *user, const struct change *c, bool is_process)
{
	const struct taking *n = user;
	struct alive_task *t = alive_find_task(n->alive, c->tid);
	void *gone;

	(void)is_process;
	if (!t)
		return 0; /* no record named it */
	TRY(alive_take_record(n, t, NULL));
	TRY(lineage_end(&n->alive->tasks, c->tid, ALIVE_EXITED, &gone));
	alive_unref(n->alive, gone);
	return 0;
}

int alive_add(struct alive *a, const struct change *c, const uint8_t *record, uint32_t len,
	      uint64_t time_ns)
{
	static const struct lineage_ops ops = { .fork = alive_take_fork,
						.name = alive_take_name,
						.exec = alive_take_exec,
						.map = alive_take_map,
						.exit = alive_take_exit };
	struct taking n = { .alive = a, .record = record, .len = len, .time_ns = time_ns };

	return lineage_apply(&ops, &n, c);
}

int alive_add_namespaces(struct alive *a, int32_t pid, int32_t tid, const uint8_t *record,
			 uint32_t len, uint64_t time_ns)
{
	struct alive_record *r;
	struct alive_task *t;

	TRY(alive_task_of(a, pid, tid, &t));
	TRY(alive_add_record(a, t, record, len, time_ns, &r));
	if (t->namespaces)
		alive_remove_record(a, t->namespaces);
	t->namespaces = r;
	return 0;
}

/* ---- records of no task --------------------------------------------------------------------- */

int alive_add_subject(struct alive *a, const struct alive_subject *subject, const uint8_t *record,
		      uint32_t len, uint64_t time_ns)
{
	struct alive_record *before = alive_found(hash64_find(&a->by_subject, subject->id)), *r;

	if (subject->adds && before && before->len == len && !memcmp(before->bytes, record, len))
		return 0;
	TRY(alive_add_record(a, NULL, record, len, time_ns, &r));
	r->id = subject->id;
	r->map_bytes = subject->map_bytes;
	r->ends = subject->ends;
	TRY(alive_place(a, r));
	while (!subject->adds && (before = alive_uncover(a, r)) != NULL)
		alive_remove_record(a, before);
	return 0;
}

/* ---- writing -------------------------------------------------------------------------------- */

const struct alive_record *alive_next(struct alive *a)
{
	struct alive_record *r = a->to_write;

	if (a->lent)
		alive_remove_record(a, a->lent);
	if (!r)
		return NULL;
	a->to_write = r->next;
	if (a->once || r->ends)
		a->lent = r;
	return r;
}

void alive_rewind(struct alive *a)
{
	a->to_write = a->first;
}
