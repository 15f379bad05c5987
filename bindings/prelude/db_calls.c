/* SPDX-License-Identifier: MIT */
/*
 * Call paths: the tree of all call chains, one row per node. Also call returns, which perf makes
 * from the branches of a decoded trace. Without a trace, samples whose data address is looked up
 * show the first place of a thread. That call stays open until the program changes or the recording
 * ends. Then it gets a row whose flags say that neither its begin nor its return was seen.
 */
#include "db_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ROOT = 1 };
enum { CALL_NOT_SEEN = 1, RETURN_NOT_SEEN = 2 }; /* flags of a call return */

/* Makes room for one more element. NULL if there is no memory. */
static void *calls_more(void *v, size_t n, size_t *room, size_t width)
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

/* ---- call paths ------------------------------------------------------------------------------ */

static int db_calls_add_block(struct prelude_db *db)
{
	struct db_path **v =
		calls_more(db->path_blocks, db->nr_path_blocks, &db->room_path_blocks, sizeof(*v));
	void *block;

	if (!v)
		return -ENOMEM;
	db->path_blocks = v;
	if (posix_memalign(&block, DB_PATH_BLOCK, DB_PATH_BLOCK))
		return -ENOMEM;
	/* Lookups touch all paths. A refused huge page costs only time. */
	(void)madvise(block, DB_PATH_BLOCK, MADV_HUGEPAGE);
	v[db->nr_path_blocks++] = block;
	return 0;
}

static int db_calls_add_path(struct prelude_db *db, const struct db_path *path)
{
	uint32_t *ids;
	int r;

	if (db->nr_paths >= UINT32_MAX)
		return -EOVERFLOW;
	r = db->nr_paths == db->nr_path_blocks * DB_PATHS_PER_BLOCK ? db_calls_add_block(db) : 0;
	if (r >= 0 && db->opts.calls) {
		ids = calls_more(db->path_ids, db->nr_paths, &db->room_path_ids, sizeof(*ids));
		if (!ids)
			return -ENOMEM;
		db->path_ids = ids;
		ids[db->nr_paths] = 0;
	}
	if (r >= 0)
		*db_path_at(db, (uint32_t)db->nr_paths++) = *path;
	return r;
}

static int db_calls_where_is(struct prelude_db *db, uint64_t symbol, uint64_t ip, uint32_t *ret)
{
	uint64_t *place, *v;

	if (symbol) {
		*ret = (uint32_t)symbol;
		return symbol < DB_NO_SYMBOL ? 0 : -EOVERFLOW;
	}
	place = ids_place(&db->place_of_ip, ip, 1);
	v = calls_more(db->ips, db->nr_ips, &db->room_ips, sizeof(*v));
	if (v)
		db->ips = v;
	if (!place || !v)
		return -ENOMEM;
	if (!*place) {
		if (db->nr_ips >= DB_NO_SYMBOL)
			return -EOVERFLOW;
		v[db->nr_ips++] = ip;
		*place = db->nr_ips;
	}
	*ret = DB_NO_SYMBOL | (uint32_t)(*place - 1);
	return 0;
}

enum { LISTED_CHILDREN = 2 };

/* Finds the path from parent to a symbol, or to an ip without symbol. */
static int db_calls_find_path(struct prelude_db *db, uint32_t parent, uint64_t symbol, uint64_t ip,
			      uint32_t *ret)
{
	struct db_path *above = db_path_at(db, parent), *last = NULL, *p;
	struct db_path path = { .parent = parent };
	uint64_t *place = NULL;
	size_t nr = 0;
	int r = db_calls_where_is(db, symbol, ip, &path.where);

	if (r < 0)
		return r;
	for (uint32_t at = above->child; at; last = p, at = p->sibling, nr++) {
		p = db_path_at(db, at);
		if (p->where == path.where) {
			*ret = at;
			return 0;
		}
	}
	if (nr == LISTED_CHILDREN) {
		place = ids_place(&db->path_of, parent, path.where);
		if (!place)
			return -ENOMEM;
		if (*place) {
			*ret = (uint32_t)*place;
			return 0;
		}
	}
	*ret = (uint32_t)db->nr_paths;
	r = db_calls_add_path(db, &path);
	if (r < 0)
		return r;
	if (place)
		*place = *ret;
	else if (last)
		last->sibling = *ret;
	else
		above->child = *ret;
	return 0;
}

static int db_calls_begin_paths(struct prelude_db *db)
{
	int r = 0;

	while (r >= 0 && db->nr_paths <= ROOT)
		r = db_calls_add_path(db, &(struct db_path){ 0 });
	db->nr_with_row = db->nr_with_row ? db->nr_with_row : ROOT;
	return r;
}

/* Returns the path's row id; 0 if it has no row yet. */
static uint32_t db_calls_id_of(const struct prelude_db *db, uint32_t path)
{
	if (db->opts.calls)
		return path ? db->path_ids[path] : 0;
	return path < db->nr_with_row ? path : 0;
}

static int db_calls_put_path_row(struct prelude_db *db, uint32_t path)
{
	const struct db_path *p = db_path_at(db, path);
	bool has_symbol = !(p->where & DB_NO_SYMBOL);
	uint64_t id = ++db->last_id[PRELUDE_CALL_PATHS];

	if (db->opts.calls)
		db->path_ids[path] = (uint32_t)id;
	return db_row(
		db, PRELUDE_CALL_PATHS,
		(const union prelude_cell[]){
			{ .number = (int64_t)id },
			{ .number = db_calls_id_of(db, p->parent) },
			{ .number = has_symbol ? p->where : 0 },
			{ .number =
				  has_symbol ? 0 : (int64_t)db->ips[p->where & ~DB_NO_SYMBOL] } });
}

/* Writes the missing rows from the root to the path. */
static int db_calls_put_path(struct prelude_db *db, uint32_t path)
{
	size_t n = 0;
	int r = 0;

	/* Without calls a path gets its row when it is made. */
	while (r >= 0 && !db->opts.calls && db->nr_with_row < db->nr_paths)
		r = db_calls_put_path_row(db, (uint32_t)db->nr_with_row++);
	if (!db->opts.calls)
		return r;
	for (uint32_t at = path; at && !db->path_ids[at]; at = db_path_at(db, at)->parent) {
		uint32_t *v = calls_more(db->missing_rows, n, &db->room_missing_rows, sizeof(*v));

		if (!v)
			return -ENOMEM;
		db->missing_rows = v;
		v[n++] = at;
	}
	while (r >= 0 && n)
		r = db_calls_put_path_row(db, db->missing_rows[--n]);
	return r;
}

/*
 * Returns the number of outermost frames that equal those of the previous chain in the same
 * mappings. Their paths are known.
 */
static int db_calls_steps_known(struct prelude_db *db, const struct sonde_event *ev,
				const struct sonde_frame *frames, int nr)
{
	struct db_chain *c = &db->chain;
	int known = 0;

	if (c->pid != ev->pid || c->tid != ev->tid || c->map_epoch != ev->map_epoch)
		c->nr = 0;
	c->pid = ev->pid;
	c->tid = ev->tid;
	c->map_epoch = ev->map_epoch;
	while (known < nr && (size_t)known < c->nr) {
		const struct sonde_frame *f = &frames[nr - 1 - known];

		if (f->ip != c->steps[known].ip || f->cpumode != c->steps[known].cpumode ||
		    f->flags & SONDE_FRAME_INLINED)
			break;
		known++;
	}
	c->nr = (size_t)known;
	return known;
}

/* The entry of a frame; NULL if there is none, or if its symbol must not be kept. */
static struct db_near_symbol *db_calls_near_symbol(struct prelude_db *db, uint64_t turn,
						   uint64_t ip)
{
	if (!turn)
		return NULL;
	if (!db->near_symbols &&
	    !(db->near_symbols = calloc(PRELUDE_NEAR_PLACES, sizeof(*db->near_symbols))))
		return NULL;
	return &db->near_symbols[prelude_near_place(ip)];
}

/* Stores the symbol's id of a frame. Returns 1 if the answer stays valid with the mappings, else 0.
 */
static int db_calls_symbol_of(struct prelude_db *db, const struct sonde_event *ev,
			      const struct sonde_frame *f, uint32_t depth, uint64_t *ret)
{
	struct db_address a = { .addr = f->ip, .cpumode = f->cpumode, .in_chain = true };
	struct db_place place;
	int r;

	if (f->flags & SONDE_FRAME_INLINED) {
		a.inlined = f->sym;
		a.depth = depth;
	}
	r = db_put_place(db, ev, &a, &place);
	*ret = place.symbol;
	return r < 0 ? r : place.lasts && !a.inlined;
}

/* Extends the path by a frame, the nr-th from outside. See struct db_address for depth. */
static int db_calls_take_step(struct prelude_db *db, const struct sonde_event *ev,
			      const struct sonde_frame *f, size_t nr, uint32_t depth,
			      uint32_t *path)
{
	struct db_chain *c = &db->chain;
	uint64_t turn = prelude_near_turn(&db->near, ev, f), symbol;
	struct db_near_symbol *near = db_calls_near_symbol(db, turn, f->ip);
	struct db_step *v;
	int r, lasts = 1;

	if (near && near->turn == turn && near->ip == f->ip) {
		symbol = near->symbol;
	} else {
		lasts = db_calls_symbol_of(db, ev, f, depth, &symbol);
		if (lasts < 0)
			return lasts;
		if (near && lasts)
			*near = (struct db_near_symbol){ f->ip, turn, symbol };
	}
	r = db_calls_find_path(db, *path, symbol, f->ip, path);
	if (r < 0 || c->nr != nr || !lasts)
		return r;
	v = calls_more(c->steps, nr, &c->room, sizeof(*v));
	if (!v)
		return -ENOMEM;
	c->steps = v;
	v[c->nr++] = (struct db_step){ .ip = f->ip, .cpumode = f->cpumode, .path = *path };
	return 0;
}

int db_put_chain(struct prelude_db *db, const struct sonde_event *ev, uint64_t *ret_path_id)
{
	const struct sonde_frame *frames;
	int nr = sonde_event_callchain(ev, &frames), known;
	uint32_t path = ROOT, depth = 0;
	int r = nr > 0 ? db_calls_begin_paths(db) : 0;

	*ret_path_id = 0;
	if (nr <= 0 || r < 0)
		return nr < 0 ? nr : r;
	prelude_near_begin(&db->near, ev);
	known = db_calls_steps_known(db, ev, frames, nr);
	if (known)
		path = db->chain.steps[known - 1].path;
	for (int i = nr - 1; i >= 0; i--) {
		depth = i + 1 < nr && frames[i + 1].ip == frames[i].ip ? depth + 1 : 0;
		if (nr - 1 - i < known)
			continue;
		r = db_calls_take_step(db, ev, &frames[i], (size_t)(nr - 1 - i), depth, &path);
		if (r < 0)
			return r;
	}
	r = db_calls_put_path(db, path);
	*ret_path_id = db_calls_id_of(db, path);
	return r;
}

/* ---- call returns ---------------------------------------------------------------------------- */

/* Returns the stack of a task. The idle task has one stack per cpu. */
static struct db_stack *db_calls_stack_of(struct prelude_db *db, const struct db_task *t,
					  int32_t cpu)
{
	int32_t own_cpu = t->task.tid || t->task.pid || cpu < 0 ? 0 : cpu;
	uint64_t *at = ids_place(&db->stack_of, t->task.id, (uint64_t)own_cpu);
	struct db_stack *v;

	if (!at)
		return NULL;
	if (*at)
		return &db->stacks[*at - 1];
	v = calls_more(db->stacks, db->nr_stacks, &db->room_stacks, sizeof(*v));
	if (!v)
		return NULL;
	db->stacks = v;
	v[db->nr_stacks++] = (struct db_stack){
		.thread = t->thread,
		.comm = t->program,
		.tid = t->task.tid,
		.cpu = own_cpu,
		.is_leader = t->task.pid == t->task.tid,
	};
	*at = db->nr_stacks;
	return &v[db->nr_stacks - 1];
}

static int calls_flush(struct prelude_db *db, struct db_stack *s)
{
	uint32_t path = s->path;
	uint64_t own;
	int r = path ? db_calls_put_path(db, path) : 0;

	s->path = 0;
	if (r < 0 || !path)
		return r;
	own = ++db->last_id[PRELUDE_CALL_RETURNS];
	return db_row(db, PRELUDE_CALL_RETURNS,
		      (const union prelude_cell[]){
			      { .number = (int64_t)own },
			      { .number = (int64_t)s->thread },
			      { .number = (int64_t)s->comm },
			      { .number = db_calls_id_of(db, path) },
			      { .number = (int64_t)s->since_ns },
			      { .number = (int64_t)s->last_ns },
			      { .number = (int64_t)(s->nr_samples - s->samples_before) },
			      { .number = (int64_t)s->first_sample },
			      { .number = 0 },
			      { .number = db_calls_id_of(db, db_path_at(db, path)->parent) },
			      { .number = CALL_NOT_SEEN | RETURN_NOT_SEEN },
			      { .number = 0 },
			      { .number = 0 },
			      { .number = 0 } });
}

int db_note_call(struct prelude_db *db, const struct sonde_event *ev, const struct db_task *task,
		 const struct sonde_sample *sample, const struct db_place *from,
		 const struct db_place *to)
{
	struct db_stack *s = db_calls_stack_of(db, task, ev->cpu);
	int r = s ? db_calls_begin_paths(db) : -ENOMEM;

	if (r < 0)
		return r;
	/* exec starts a new stack. */
	if (s->comm != task->program && s->is_leader) {
		r = calls_flush(db, s);
		s->comm = task->program;
	}
	if (r >= 0 && !s->path && (sample->ip || sample->addr)) {
		r = sample->ip ? db_calls_find_path(db, ROOT, from->symbol, sample->ip, &s->path)
			       : db_calls_find_path(db, ROOT, to->symbol, sample->addr, &s->path);
		s->since_ns = ev->time_ns;
		s->first_sample = db->last_id[PRELUDE_SAMPLES];
		s->samples_before = s->nr_samples;
	}
	s->nr_samples++;
	s->last_ns = ev->time_ns;
	return r;
}

/* Orders stacks like perf, which keeps threads in 256 groups by tid and walks group after group. */
static int calls_compare(const void *left, const void *right)
{
	const struct db_stack *a = left, *b = right;
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
		qsort(db->stacks, db->nr_stacks, sizeof(*db->stacks), calls_compare);
	for (size_t i = 0; r >= 0 && i < db->nr_stacks; i++)
		r = calls_flush(db, &db->stacks[i]);
	db->nr_stacks = 0;
	ids_done(&db->stack_of);
	return r;
}

void db_calls_done(struct prelude_db *db)
{
	ids_done(&db->path_of);
	ids_done(&db->stack_of);
	for (size_t i = 0; i < db->nr_path_blocks; i++)
		free(db->path_blocks[i]);
	free(db->path_blocks);
	free(db->path_ids);
	free(db->chain.steps);
	free(db->near_symbols);
	ids_done(&db->place_of_ip);
	free(db->ips);
	free(db->missing_rows);
	free(db->stacks);
}
