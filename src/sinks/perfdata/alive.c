/* SPDX-License-Identifier: MIT */
#include "sinks/perfdata/alive.h"

#include <stdlib.h>
#include <string.h>

enum {
	NAMES_KEPT =
		2, /* perf tells the first two names of a task apart from the later ones, and so do we */
	GARBAGE_SHARE = 8, /* an eighth of a task's records is looked through at once */
	GARBAGE_FEW = 16
};

/* ---- records ------------------------------------------------------------------------------------------------------ */

static struct alive_record *found(uint64_t value)
{
	return value == HASH64_EMPTY ? NULL : (struct alive_record *)(uintptr_t)value;
}

static void unlink_of_task(struct alive_task *t, struct alive_record *r)
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

/* Where the last record of a place or a subject is found; NULL: it is of neither. */
static struct hash64 *table_of(struct alive *a, const struct alive_record *r)
{
	if (!r->task)
		return &a->by_subject;
	return r->legacy == ALIVE_MAPS ? &r->task->maps : NULL;
}

static int place(struct alive *a, struct alive_record *r)
{
	struct hash64 *table = table_of(a, r);
	struct alive_record *before = found(hash64_find(table, r->id));

	TRY(hash64_put(table, r->id, (uintptr_t)r));
	r->under = before;
	if (before)
		before->over = r;
	return 0;
}

static void unplace(struct alive *a, struct alive_record *r)
{
	struct hash64 *table = table_of(a, r);

	if (r->over)
		r->over->under = r->under;
	else if (table && found(hash64_find(table, r->id)) == r)
		hash64_put(table, r->id, (uintptr_t)r->under);
	if (r->under)
		r->under->over = r->over;
	r->over = r->under = NULL;
}

/* The next one below r that r covers, which is in no place any more; NULL: there is none. */
static struct alive_record *uncover(struct alive *a, struct alive_record *r)
{
	struct alive_record *before = r->under;

	if (!before || before->map_bytes > r->map_bytes)
		return NULL;
	unplace(a, before);
	return before;
}

static void remove_record(struct alive *a, struct alive_record *r)
{
	unplace(a, r);
	if (r->task)
		unlink_of_task(r->task, r);
	if (a->to_write == r)
		a->to_write = r->next;
	if (a->lent == r)
		a->lent = NULL;
	*(r->prev ? &r->prev->next : &a->first) = r->next;
	*(r->next ? &r->next->prev : &a->last) = r->prev;
	free(r);
}

static int add_record(struct alive *a, struct alive_task *t, const uint8_t *record, uint32_t len,
		      uint64_t time_ns, struct alive_record **ret)
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

/* ---- what tasks have of each other ---------------------------------------------------------------------------------- */

/* Both lists are in the order of seq: who was forked between a record and what replaced it still needs it. */
static void look_through(struct alive *a, struct alive_task *t, enum alive_legacy which)
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
			remove_record(a, r);
	}
	t->legacy[which].looked_at =
		2 * t->legacy[which].garbage + t->nr_records / GARBAGE_SHARE + GARBAGE_FEW;
}

/* r, if there is one, is seen by nobody who is forked from now on. */
static void replace(struct alive *a, struct alive_task *t, struct alive_record *r)
{
	const struct alive_task *heir;

	if (!r)
		return;
	heir = t->legacy[r->legacy].last;
	if (!heir || heir->forked < r->seq) {
		remove_record(a, r);
		return;
	}
	r->replaced = a->seq;
	t->legacy[r->legacy].garbage++;
	look_through(a, t, r->legacy);
}

static struct alive_task *ref(struct alive_task *t)
{
	if (t)
		t->refs++;
	return t;
}

static void inherit(struct alive_task *t, enum alive_legacy which, struct alive_task *of)
{
	if (!of)
		return;
	t->legacy[which].of = ref(of);
	t->legacy[which].prev = of->legacy[which].last;
	*(of->legacy[which].last ? &of->legacy[which].last->legacy[which].next
				 : &of->legacy[which].first) = t;
	of->legacy[which].last = t;
}

static void put(struct alive_task *t, struct alive_task **to_go)
{
	if (!t || --t->refs)
		return;
	t->next_to_go = *to_go;
	*to_go = t;
}

/* Whether the task has its own, and so have all that were forked before it got that. */
static bool is_on_its_own(const struct alive_task *t, enum alive_legacy which)
{
	const struct alive_task *heir = t->legacy[which].first;

	return t->legacy[which].own && (!heir || heir->forked > t->legacy[which].own);
}

/* Who handed it on may have had it handed on, only for this task's sake by now. */
static void disown(struct alive *a, struct alive_task *t, enum alive_legacy which,
		   struct alive_task **to_go)
{
	struct alive_task *of;

	for (; (of = t->legacy[which].of); t = of) {
		struct alive_task *prev = t->legacy[which].prev, *next = t->legacy[which].next;

		*(prev ? &prev->legacy[which].next : &of->legacy[which].first) = next;
		*(next ? &next->legacy[which].prev : &of->legacy[which].last) = prev;
		t->legacy[which].of = t->legacy[which].prev = t->legacy[which].next = NULL;
		look_through(a, of, which);
		put(of, to_go);
		if (!is_on_its_own(of, which))
			return;
	}
}

/* Who lived by a task may be the last that did, and so on along any number of generations: no recursion. */
static void free_all(struct alive *a, struct alive_task *to_go)
{
	struct alive_task *t;

	while ((t = to_go) != NULL) {
		to_go = t->next_to_go;
		while (t->first)
			remove_record(a, t->first);
		for (int which = 0; which < ALIVE_LEGACIES; which++)
			disown(a, t, which, &to_go);
		put(t->leader, &to_go);
		hash64_done(&t->maps);
		free(t);
	}
}

static void unref(struct alive *a, struct alive_task *t)
{
	struct alive_task *to_go = NULL;

	put(t, &to_go);
	free_all(a, to_go);
}

/* The last record that was added gives the task its own. */
static void get_own(struct alive *a, struct alive_task *t, enum alive_legacy which)
{
	struct alive_task *to_go = NULL;

	t->legacy[which].own = a->seq;
	if (is_on_its_own(t, which))
		disown(a, t, which, &to_go);
	free_all(a, to_go);
}

void alive_done(struct alive *a)
{
	vec_foreach(t, &a->tasks)
		unref(a, *t);
	for (unsigned i = 0; i < ALIVE_EXITED; i++)
		unref(a, a->ended[i]);
	while (a->first)
		remove_record(a, a->first);
	vec_done(&a->tasks);
	hash64_done(&a->by_tid);
	hash64_done(&a->by_subject);
	*a = (struct alive){ 0 };
}

/* ---- tasks -------------------------------------------------------------------------------------------------------- */

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
	*ret = find_task(a, tid);
	if (*ret)
		return 0;
	TRY(new_task(a, tid, ret));
	if (pid != tid && pid >= 0)
		(*ret)->leader = ref(find_task(a, pid));
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
		t->forked = a->seq;
		inherit(t, ALIVE_NAME, parent);
		if (c->pid == c->ppid)
			t->leader = ref(parents_leader);
		else if (!c->exec)
			inherit(t, ALIVE_MAPS, parents_leader);
	}
	unref(a, parent);
	unref(a, parents_leader);
	return r;
}

/*
 * A task that renames itself all the time: its first names, those of its programs and the last one are enough. What exec gave stays,
 * since it says which mappings are gone, too.
 */
static int add_comm(struct alive *a, const struct change *c, const uint8_t *record, uint32_t len,
		    uint64_t time_ns)
{
	struct alive_task *t;
	struct alive_record *r;

	TRY(task_of(a, c->pid, c->tid, &t));
	TRY(add_record(a, t, record, len, time_ns, &r));
	r->legacy = ALIVE_NAME;
	replace(a, t, t->name);
	t->name = NULL;
	if (t->names < NAMES_KEPT)
		t->names++;
	else if (!c->exec)
		t->name = r;
	get_own(a, t, ALIVE_NAME);
	if (c->exec)
		get_own(a, t, ALIVE_MAPS);
	return 0;
}

/* A process that maps and unmaps all the time: what lies under another mapping is seen by nobody, but by one forked before. */
static int add_map(struct alive *a, const struct change *c, const uint8_t *record, uint32_t len,
		   uint64_t time_ns)
{
	struct alive_record *r, *before;
	struct alive_task *t;

	TRY(task_of(a, c->pid, c->pid, &t));
	TRY(add_record(a, t, record, len, time_ns, &r));
	r->legacy = ALIVE_MAPS;
	r->id = c->start;
	r->map_bytes = c->len;
	TRY(place(a, r));
	while ((before = uncover(a, r)) != NULL)
		replace(a, t, before);
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
	default:
		return add_map(a, c, record, len, time_ns);
	}
}

int alive_add_namespaces(struct alive *a, int32_t pid, int32_t tid, const uint8_t *record,
			 uint32_t len, uint64_t time_ns)
{
	struct alive_record *r;
	struct alive_task *t;

	TRY(task_of(a, pid, tid, &t));
	TRY(add_record(a, t, record, len, time_ns, &r));
	if (t->namespaces)
		remove_record(a, t->namespaces);
	t->namespaces = r;
	return 0;
}

/* ---- of no task --------------------------------------------------------------------------------------------------- */

int alive_add_subject(struct alive *a, const struct alive_subject *subject, const uint8_t *record,
		      uint32_t len, uint64_t time_ns)
{
	struct alive_record *before = found(hash64_find(&a->by_subject, subject->id)), *r;

	if (subject->adds && before && before->len == len && !memcmp(before->bytes, record, len))
		return 0;
	TRY(add_record(a, NULL, record, len, time_ns, &r));
	r->id = subject->id;
	r->map_bytes = subject->map_bytes;
	r->ends = subject->ends;
	TRY(place(a, r));
	while (!subject->adds && (before = uncover(a, r)) != NULL)
		remove_record(a, before);
	return 0;
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

const struct alive_record *alive_next(struct alive *a)
{
	struct alive_record *r = a->to_write;

	if (a->lent)
		remove_record(a, a->lent);
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
