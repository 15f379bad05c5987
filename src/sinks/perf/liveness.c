/* SPDX-License-Identifier: MIT */
#include "sinks/perf/liveness.h"

#include <stdlib.h>
#include <string.h>

enum {
	NAMES_KEPT = 2,    /* the first two names of a task decide its program (state_program()) */
	GARBAGE_SHARE = 8, /* liveness_look_through() waits for an eighth of a task's records */
	GARBAGE_FEW = 16
};

/* ---- records -------------------------------------------------------------------------------- */

static struct liveness_record *liveness_found(uint64_t value)
{
	return value == HASH64_EMPTY ? NULL : (struct liveness_record *)(uintptr_t)value;
}

static void liveness_unlink_of_task(struct liveness_task *t, struct liveness_record *r)
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
static struct hash64 *liveness_table_of(struct liveness *a, const struct liveness_record *r)
{
	if (!r->task)
		return &a->by_subject;
	return r->legacy == LIVENESS_MAPS ? &r->task->maps : NULL;
}

static int liveness_place(struct liveness *a, struct liveness_record *r)
{
	struct hash64 *table = liveness_table_of(a, r);
	struct liveness_record *before = liveness_found(hash64_find(table, r->id));

	TRY(hash64_put(table, r->id, (uintptr_t)r));
	r->under = before;
	if (before)
		before->over = r;
	return 0;
}

static void liveness_unplace(struct liveness *a, struct liveness_record *r)
{
	struct hash64 *table = liveness_table_of(a, r);

	if (r->over)
		r->over->under = r->under;
	else if (table && liveness_found(hash64_find(table, r->id)) == r)
		hash64_put(table, r->id, (uintptr_t)r->under);
	if (r->under)
		r->under->over = r->over;
	r->over = r->under = NULL;
}

/* Removes and returns the record below r if r covers it; otherwise NULL. */
static struct liveness_record *liveness_uncover(struct liveness *a, struct liveness_record *r)
{
	struct liveness_record *before = r->under;

	if (!before || before->map_bytes > r->map_bytes)
		return NULL;
	liveness_unplace(a, before);
	return before;
}

static void liveness_remove_record(struct liveness *a, struct liveness_record *r)
{
	liveness_unplace(a, r);
	if (r->task)
		liveness_unlink_of_task(r->task, r);
	if (a->to_write == r)
		a->to_write = r->next;
	if (a->borrowed == r)
		a->borrowed = NULL;
	*(r->prev ? &r->prev->next : &a->first) = r->next;
	*(r->next ? &r->next->prev : &a->last) = r->prev;
	free(r);
}

static int liveness_add_record(struct liveness *a, struct liveness_task *t, const uint8_t *record,
			       uint32_t len, uint64_t time_ns, struct liveness_record **ret)
{
	struct liveness_record *r = malloc(sizeof(*r) + len);

	if (!r)
		return err_nomem();
	*r = (struct liveness_record){
		.prev = a->last,
		.task = t,
		.seq = ++a->seq,
		.time_ns = time_ns,
		.len = len,
		.legacy = LIVENESS_LEGACIES,
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
static void liveness_look_through(struct liveness *a, struct liveness_task *t,
				  enum liveness_legacy which)
{
	const struct liveness_task *heir = t->legacy[which].first;

	if (!t->legacy[which].garbage || t->legacy[which].garbage < t->legacy[which].looked_at)
		return;
	for (struct liveness_record *r = t->first, *next; r; r = next) {
		next = r->next_of_task;
		if (!r->replaced || r->legacy != which)
			continue;
		while (heir && heir->forked < r->seq)
			heir = heir->legacy[which].next;
		if (!heir || heir->forked > r->replaced)
			liveness_remove_record(a, r);
	}
	t->legacy[which].looked_at =
		2 * t->legacy[which].garbage + t->nr_records / GARBAGE_SHARE + GARBAGE_FEW;
}

/* Tasks that are forked from now on do not inherit r, which may be NULL. */
static void liveness_replace(struct liveness *a, struct liveness_task *t, struct liveness_record *r)
{
	const struct liveness_task *heir;

	if (!r)
		return;
	heir = t->legacy[r->legacy].last;
	if (!heir || heir->forked < r->seq) {
		liveness_remove_record(a, r);
		return;
	}
	r->replaced = a->seq;
	t->legacy[r->legacy].garbage++;
	liveness_look_through(a, t, r->legacy);
}

static struct liveness_task *liveness_ref(struct liveness_task *t)
{
	if (t)
		t->refs++;
	return t;
}

static void liveness_inherit(struct liveness_task *t, enum liveness_legacy which,
			     struct liveness_task *of)
{
	if (!of)
		return;
	t->legacy[which].of = liveness_ref(of);
	t->legacy[which].prev = of->legacy[which].last;
	*(of->legacy[which].last ? &of->legacy[which].last->legacy[which].next
				 : &of->legacy[which].first) = t;
	of->legacy[which].last = t;
}

static void liveness_put(struct liveness_task *t, struct liveness_task **to_go)
{
	if (!t || --t->refs)
		return;
	t->next_to_go = *to_go;
	*to_go = t;
}

/*
 * True if nothing that the task inherited is needed: it has its own state, and no heir was forked
 * before it got that.
 */
static bool liveness_is_on_its_own(const struct liveness_task *t, enum liveness_legacy which)
{
	const struct liveness_task *heir = t->legacy[which].first;

	return t->legacy[which].own && (!heir || heir->forked > t->legacy[which].own);
}

/*
 * Drops what the task inherited. A parent that kept its own inheritance only for this task disowns
 * it as well.
 */
static void liveness_disown(struct liveness *a, struct liveness_task *t, enum liveness_legacy which,
			    struct liveness_task **to_go)
{
	struct liveness_task *of;

	for (; (of = t->legacy[which].of); t = of) {
		struct liveness_task *prev = t->legacy[which].prev, *next = t->legacy[which].next;

		*(prev ? &prev->legacy[which].next : &of->legacy[which].first) = next;
		*(next ? &next->legacy[which].prev : &of->legacy[which].last) = prev;
		t->legacy[which].of = t->legacy[which].prev = t->legacy[which].next = NULL;
		liveness_look_through(a, of, which);
		liveness_put(of, to_go);
		if (!liveness_is_on_its_own(of, which))
			return;
	}
}

/*
 * Frees tasks. A task may be its parent's last heir over any number of generations, so this is a
 * loop, not a recursion.
 */
static void liveness_free_all(struct liveness *a, struct liveness_task *to_go)
{
	struct liveness_task *t;

	while ((t = to_go) != NULL) {
		to_go = t->next_to_go;
		while (t->first)
			liveness_remove_record(a, t->first);
		for (int which = 0; which < LIVENESS_LEGACIES; which++)
			liveness_disown(a, t, which, &to_go);
		liveness_put(t->leader, &to_go);
		hash64_done(&t->maps);
		free(t);
	}
}

static void liveness_unref(struct liveness *a, struct liveness_task *t)
{
	struct liveness_task *to_go = NULL;

	liveness_put(t, &to_go);
	liveness_free_all(a, to_go);
}

/* The record that was added last gives the task its own state. */
static void liveness_get_own(struct liveness *a, struct liveness_task *t,
			     enum liveness_legacy which)
{
	struct liveness_task *to_go = NULL;

	t->legacy[which].own = a->seq;
	if (liveness_is_on_its_own(t, which))
		liveness_disown(a, t, which, &to_go);
	liveness_free_all(a, to_go);
}

void liveness_done(struct liveness *a)
{
	vec_foreach(life, &a->tasks.lives)
		liveness_unref(a, life->payload);
	while (a->first)
		liveness_remove_record(a, a->first);
	lineage_done(&a->tasks);
	hash64_done(&a->by_subject);
	*a = (struct liveness){ 0 };
}

/* ---- tasks ---------------------------------------------------------------------------------- */

static struct liveness_task *liveness_find_task(const struct liveness *a, int32_t tid)
{
	return lineage_payload(&a->tasks, tid);
}

/* A new task takes the tid. The earlier one stays as long as it has heirs. */
static int liveness_new_task(struct liveness *a, int32_t tid, struct liveness_task **ret)
{
	struct liveness_task *t = calloc(1, sizeof(*t)), *before = liveness_find_task(a, tid);
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
	liveness_unref(a, before);
	*ret = t;
	return 0;
}

static int liveness_task_of(struct liveness *a, int32_t pid, int32_t tid,
			    struct liveness_task **ret)
{
	*ret = liveness_find_task(a, tid);
	if (*ret)
		return 0;
	TRY(liveness_new_task(a, tid, ret));
	if (pid != tid && pid >= 0)
		(*ret)->leader = liveness_ref(liveness_find_task(a, pid));
	return 0;
}

/* A record that liveness_add() takes. */
struct taking {
	struct liveness *liveness;
	const uint8_t *record;
	uint32_t len;
	uint64_t time_ns;
};

static int liveness_take_record(const struct taking *n, struct liveness_task *t,
				struct liveness_record **ret)
{
	return liveness_add_record(n->liveness, t, n->record, n->len, n->time_ns, ret);
}

static int liveness_take_fork(void *user, const struct change *c, enum lineage_maps maps)
{
	const struct taking *n = user;
	struct liveness *a = n->liveness;
	struct liveness_task *parent = liveness_ref(liveness_find_task(a, c->ptid)),
			     *parents_leader = liveness_ref(liveness_find_task(a, c->ppid)), *t;
	int r = liveness_new_task(a, c->tid, &t);

	if (r == 0)
		r = liveness_take_record(n, t, NULL);
	if (r == 0) {
		t->forked = a->seq;
		liveness_inherit(t, LIVENESS_NAME, parent);
		if (maps == LINEAGE_SHARES)
			t->leader = liveness_ref(parents_leader);
		else if (maps == LINEAGE_INHERITS)
			liveness_inherit(t, LIVENESS_MAPS, parents_leader);
	}
	liveness_unref(a, parent);
	liveness_unref(a, parents_leader);
	return r;
}

/*
 * A task may rename itself all the time. Then these names are kept: the first ones, those that exec
 * gave, and the last one. An exec's record stays because it also ends mappings.
 */
static int liveness_take_name(void *user, const struct change *c)
{
	const struct taking *n = user;
	struct liveness_task *t;
	struct liveness_record *r;

	TRY(liveness_task_of(n->liveness, c->pid, c->tid, &t));
	TRY(liveness_take_record(n, t, &r));
	r->legacy = LIVENESS_NAME;
	liveness_replace(n->liveness, t, t->name);
	t->name = NULL;
	if (t->names < NAMES_KEPT)
		t->names++;
	else if (!c->exec)
		t->name = r;
	liveness_get_own(n->liveness, t, LIVENESS_NAME);
	return 0;
}

static int liveness_take_exec(void *user, const struct change *c)
{
	const struct taking *n = user;
	struct liveness_task *t;

	TRY(liveness_task_of(n->liveness, c->pid, c->pid, &t));
	liveness_get_own(n->liveness, t, LIVENESS_MAPS);
	return 0;
}

/* A mapping under another one is visible only to tasks that were forked earlier. */
static int liveness_take_map(void *user, const struct change *c)
{
	const struct taking *n = user;
	struct liveness_record *r, *before;
	struct liveness_task *t;

	TRY(liveness_task_of(n->liveness, c->pid, c->pid, &t));
	TRY(liveness_take_record(n, t, &r));
	r->legacy = LIVENESS_MAPS;
	r->id = c->start;
	r->map_bytes = c->len;
	TRY(liveness_place(n->liveness, r));
	while ((before = liveness_uncover(n->liveness, r)) != NULL)
		liveness_replace(n->liveness, t, before);
	return 0;
}

/* Ended threads are kept like ended processes, with the records of their names. */
static int liveness_take_exit(void *user, const struct change *c, bool is_process)
{
	const struct taking *n = user;
	struct liveness_task *t = liveness_find_task(n->liveness, c->tid);
	void *gone;

	(void)is_process;
	if (!t)
		return 0; /* no earlier record has this task */
	TRY(liveness_take_record(n, t, NULL));
	TRY(lineage_end(&n->liveness->tasks, c->tid, LIVENESS_EXITED, &gone));
	liveness_unref(n->liveness, gone);
	return 0;
}

int liveness_add(struct liveness *a, const struct change *c, const uint8_t *record, uint32_t len,
		 uint64_t time_ns)
{
	static const struct lineage_ops ops = {
		.fork = liveness_take_fork,
		.name = liveness_take_name,
		.exec = liveness_take_exec,
		.map = liveness_take_map,
		.exit = liveness_take_exit,
	};
	struct taking n = { .liveness = a, .record = record, .len = len, .time_ns = time_ns };

	return lineage_apply(&ops, &n, c);
}

int liveness_add_namespaces(struct liveness *a, int32_t pid, int32_t tid, const uint8_t *record,
			    uint32_t len, uint64_t time_ns)
{
	struct liveness_record *r;
	struct liveness_task *t;

	TRY(liveness_task_of(a, pid, tid, &t));
	TRY(liveness_add_record(a, t, record, len, time_ns, &r));
	if (t->namespaces)
		liveness_remove_record(a, t->namespaces);
	t->namespaces = r;
	return 0;
}

/* ---- records of no task --------------------------------------------------------------------- */

int liveness_add_subject(struct liveness *a, const struct liveness_subject *subject,
			 const uint8_t *record, uint32_t len, uint64_t time_ns)
{
	struct liveness_record *before = liveness_found(hash64_find(&a->by_subject, subject->id)),
			       *r;

	if (subject->adds && before && before->len == len && !memcmp(before->bytes, record, len))
		return 0;
	TRY(liveness_add_record(a, NULL, record, len, time_ns, &r));
	r->id = subject->id;
	r->map_bytes = subject->map_bytes;
	r->ends = subject->ends;
	TRY(liveness_place(a, r));
	while (!subject->adds && (before = liveness_uncover(a, r)) != NULL)
		liveness_remove_record(a, before);
	return 0;
}

/* ---- writing -------------------------------------------------------------------------------- */

const struct liveness_record *liveness_next(struct liveness *a)
{
	struct liveness_record *r = a->to_write;

	if (a->borrowed)
		liveness_remove_record(a, a->borrowed);
	if (!r)
		return NULL;
	a->to_write = r->next;
	if (a->once || r->ends)
		a->borrowed = r;
	return r;
}

void liveness_rewind(struct liveness *a)
{
	a->to_write = a->first;
}
