/* SPDX-License-Identifier: MIT */
/*
 * Call paths: the tree of all call chains, a row for each of its nodes. And call returns, which perf makes of the branches of a
 * decoded trace. Without one, the samples that have a data address looked up tell where a thread was first: that stays open
 * until its program changes or the recording ends, and is told then as a call that was not seen to begin or to return.
 */
#include "db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROOT = 1 };
enum { CALL_NOT_SEEN = 1, RETURN_NOT_SEEN = 2 }; /* flags of a call return */

/* Makes room for one more; NULL: no memory. */
static void *more(void *v, size_t n, size_t *room, size_t width)
{
	size_t bigger = *room ? 2 * *room : 64;
	void *moved;

	if (n < *room)
		return v;
	moved = realloc(v, bigger * width);
	if (moved)
		*room = bigger;
	return moved;
}

/* ---- call paths -------------------------------------------------------------------------------------------------- */

static int add_path(struct prelude_db *db, const struct db_path *path)
{
	struct db_path *v = more(db->paths, db->nr_paths, &db->room_paths, sizeof(*v));

	if (!v)
		return -ENOMEM;
	db->paths = v;
	v[db->nr_paths++] = *path;
	return 0;
}

/* The path from parent to a symbol, or to an ip that has none. */
static int find_path(struct prelude_db *db, uint32_t parent, uint64_t symbol, uint64_t ip,
		     uint32_t *ret)
{
	uint64_t *at =
		ids_place(&db->path_of, (uint64_t)parent << 1 | !symbol, symbol ? symbol : ip);
	int r;

	if (!at)
		return -ENOMEM;
	if (!*at) {
		r = db->nr_paths >= UINT32_MAX
			    ? -EOVERFLOW
			    : add_path(db, &(struct db_path){ .parent = parent,
							      .symbol = symbol,
							      .ip = symbol ? 0 : ip });
		if (r < 0)
			return r;
		*at = db->nr_paths - 1;
	}
	*ret = (uint32_t)*at;
	return 0;
}

static int begin_paths(struct prelude_db *db)
{
	int r = 0;

	while (r >= 0 && db->nr_paths <= ROOT)
		r = add_path(db, &(struct db_path){ 0 });
	return r;
}

/* Rows from the root to the path, as far as they are not told yet. */
static int tell_path(struct prelude_db *db, uint32_t path)
{
	size_t n = 0;

	for (uint32_t at = path; at && !db->paths[at].id; at = db->paths[at].parent) {
		uint32_t *v = more(db->to_tell, n, &db->room_to_tell, sizeof(*v));

		if (!v)
			return -ENOMEM;
		db->to_tell = v;
		v[n++] = at;
	}
	while (n--) {
		struct db_path *p = &db->paths[db->to_tell[n]];
		int r;

		p->id = ++db->last_id[PRELUDE_CALL_PATHS];
		r = db_row(db, PRELUDE_CALL_PATHS,
			   (const union prelude_cell[]){
				   { .number = (int64_t)p->id },
				   { .number = (int64_t)db->paths[p->parent].id },
				   { .number = (int64_t)p->symbol },
				   { .number = (int64_t)p->ip } });
		if (r < 0)
			return r;
	}
	return 0;
}

int db_put_chain(struct prelude_db *db, const struct sonde_event *ev, uint64_t *ret_path_id)
{
	const struct sonde_frame *frames;
	int nr = sonde_event_callchain(ev, &frames);
	uint32_t path = ROOT, depth = 0;
	int r = nr > 0 ? begin_paths(db) : 0;

	*ret_path_id = 0;
	if (nr <= 0 || r < 0)
		return nr < 0 ? nr : r;
	for (int i = nr - 1; i >= 0; i--) {
		struct db_address a = { .addr = frames[i].ip,
					.cpumode = frames[i].cpumode,
					.in_chain = true };
		struct db_place place;

		depth = i + 1 < nr && frames[i + 1].ip == a.addr ? depth + 1 : 0;
		if (frames[i].flags & SONDE_FRAME_INLINED) {
			a.inlined = frames[i].sym;
			a.depth = depth;
		}
		r = db_put_place(db, ev, &a, &place);
		if (r >= 0)
			r = find_path(db, path, place.symbol, a.addr, &path);
		if (r < 0)
			return r;
	}
	r = tell_path(db, path);
	*ret_path_id = db->paths[path].id;
	return r;
}

/* ---- call returns ------------------------------------------------------------------------------------------------ */

/* The stack of the task; the idle task has one on each cpu. */
static struct db_stack *stack_of(struct prelude_db *db, const struct db_task *t, int32_t cpu)
{
	int32_t own_cpu = t->task.tid || t->task.pid || cpu < 0 ? 0 : cpu;
	uint64_t *at = ids_place(&db->stack_of, t->task.id, (uint64_t)own_cpu);
	struct db_stack *v;

	if (!at)
		return NULL;
	if (*at)
		return &db->stacks[*at - 1];
	v = more(db->stacks, db->nr_stacks, &db->room_stacks, sizeof(*v));
	if (!v)
		return NULL;
	db->stacks = v;
	v[db->nr_stacks++] = (struct db_stack){ .thread = t->thread,
						.comm = t->program,
						.tid = t->task.tid,
						.cpu = own_cpu,
						.is_leader = t->task.pid == t->task.tid };
	*at = db->nr_stacks;
	return &v[db->nr_stacks - 1];
}

static int flush(struct prelude_db *db, struct db_stack *s)
{
	uint32_t path = s->path;
	uint64_t own;
	int r = path ? tell_path(db, path) : 0;

	s->path = 0;
	if (r < 0 || !path)
		return r;
	own = ++db->last_id[PRELUDE_CALL_RETURNS];
	return db_row(db, PRELUDE_CALL_RETURNS,
		      (const union prelude_cell[]){
			      { .number = (int64_t)own },
			      { .number = (int64_t)s->thread },
			      { .number = (int64_t)s->comm },
			      { .number = (int64_t)db->paths[path].id },
			      { .number = (int64_t)s->since_ns },
			      { .number = (int64_t)s->last_ns },
			      { .number = (int64_t)(s->nr_samples - s->samples_before) },
			      { .number = (int64_t)s->first_sample },
			      { .number = 0 },
			      { .number = (int64_t)db->paths[db->paths[path].parent].id },
			      { .number = CALL_NOT_SEEN | RETURN_NOT_SEEN },
			      { .number = 0 },
			      { .number = 0 },
			      { .number = 0 } });
}

int db_note_call(struct prelude_db *db, const struct sonde_event *ev, const struct db_task *task,
		 const struct sonde_sample *sample, const struct db_place *from,
		 const struct db_place *to)
{
	struct db_stack *s = stack_of(db, task, ev->cpu);
	int r = s ? begin_paths(db) : -ENOMEM;

	if (r < 0)
		return r;
	/* exec begins anew. */
	if (s->comm != task->program && s->is_leader) {
		r = flush(db, s);
		s->comm = task->program;
	}
	if (r >= 0 && !s->path && (sample->ip || sample->addr)) {
		r = sample->ip ? find_path(db, ROOT, from->symbol, sample->ip, &s->path)
			       : find_path(db, ROOT, to->symbol, sample->addr, &s->path);
		s->since_ns = ev->time_ns;
		s->first_sample = db->last_id[PRELUDE_SAMPLES];
		s->samples_before = s->nr_samples;
	}
	s->nr_samples++;
	s->last_ns = ev->time_ns;
	return r;
}

/* perf walks its threads in 256 groups by the number of their tid. */
static int compare(const void *one, const void *other)
{
	const struct db_stack *a = one, *b = other;
	uint32_t group_a = (uint32_t)a->tid % 256, group_b = (uint32_t)b->tid % 256;

	if (group_a != group_b)
		return group_a < group_b ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->thread < b->thread ? -1 : 1;
}

int db_flush_calls(struct prelude_db *db)
{
	int r = 0;

	if (db->nr_stacks)
		qsort(db->stacks, db->nr_stacks, sizeof(*db->stacks), compare);
	for (size_t i = 0; r >= 0 && i < db->nr_stacks; i++)
		r = flush(db, &db->stacks[i]);
	db->nr_stacks = 0;
	ids_done(&db->stack_of);
	return r;
}

void db_calls_done(struct prelude_db *db)
{
	ids_done(&db->path_of);
	ids_done(&db->stack_of);
	free(db->paths);
	free(db->to_tell);
	free(db->stacks);
}
