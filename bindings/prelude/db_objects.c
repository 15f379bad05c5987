/* SPDX-License-Identifier: MIT */
/*
 * Rows of the objects that samples and switches refer to: machine, threads, their names, files,
 * symbols.
 */
#include "db_objects.h"

#include <errno.h>
#include <stdlib.h>

int db_put_machine(struct prelude_db *db)
{
	const union prelude_cell row[] = { { .number = DB_HOST },
					   { .number = -1 },
					   { .text = "" } };

	if (db->last_id[PRELUDE_MACHINES])
		return 0;
	db->last_id[PRELUDE_MACHINES] = DB_HOST;
	return db_row(db, PRELUDE_MACHINES, row);
}

/* ---- threads and their names ----------------------------------------------------------------- */

static int db_objects_put_thread(struct prelude_db *db, const struct sonde_task *t,
				 const struct sonde_task *leader, uint64_t *ret)
{
	uint64_t *id = id_list_place(&db->tasks, t->id), process = 0;

	if (!id)
		return -ENOMEM;
	*ret = *id;
	if (*id)
		return 0;
	*ret = *id = ++db->last_id[PRELUDE_THREADS];
	if (leader)
		process = db->tasks.v[leader->id];
	return db_row(db, PRELUDE_THREADS,
		      (const union prelude_cell[]){ { .number = (int64_t)*ret },
						    { .number = DB_HOST },
						    { .number = (int64_t)process },
						    { .number = t->pid },
						    { .number = t->tid } });
}

static int db_objects_put_comm_thread(struct prelude_db *db, uint64_t comm, uint64_t thread)
{
	const union prelude_cell row[] = { { .number =
						     (int64_t)++db->last_id[PRELUDE_COMM_THREADS] },
					   { .number = (int64_t)comm },
					   { .number = (int64_t)thread } };

	return db_row(db, PRELUDE_COMM_THREADS, row);
}

/* Returns 1 if the name is new. */
static int db_objects_put_comm(struct prelude_db *db, const struct sonde_task_name *name,
			       uint64_t thread, uint64_t *ret)
{
	uint64_t *id = id_list_place(&db->names, name->id);
	int r;

	if (!id)
		return -ENOMEM;
	*ret = *id;
	if (*id)
		return 0;
	*ret = *id = ++db->last_id[PRELUDE_COMMS];
	r = db_row(
		db, PRELUDE_COMMS,
		(const union prelude_cell[]){ { .number = (int64_t)*ret },
					      { .text = sonde_session_string(db->s, name->comm) },
					      { .number = (int64_t)thread },
					      { .number = (int64_t)name->since_ns },
					      { .number = name->by_exec } });
	return r < 0 ? r : 1;
}

/*
 * Writes the row of the process's first thread before other rows, with the name that its program
 * was started with. Other threads are linked to that name when they are new.
 */
static int db_objects_put_leader(struct prelude_db *db, struct db_task *t)
{
	uint64_t thread;
	int r = db_objects_put_thread(db, &t->leader, &t->leader, &thread);

	if (r >= 0)
		r = db_objects_put_comm(db, &t->leader.program, thread, &t->program);
	return r > 0 ? db_objects_put_comm_thread(db, t->program, thread) : r;
}

int db_put_task(struct prelude_db *db, const struct sonde_event *ev, int32_t pid, int32_t tid,
		struct db_task *ret)
{
	struct db_task t = { 0 };
	uint64_t comm;
	bool is_new;
	int r = sonde_event_task(ev, pid, tid, &t.task);

	if (r < 0)
		return r;
	t.leader = t.task;
	t.has_leader = t.task.pid == tid;
	if (!t.has_leader && t.task.pid != -1) {
		r = sonde_event_task(ev, t.task.pid, t.task.pid, &t.leader);
		t.has_leader = !(t.leader.flags & SONDE_TASK_GONE);
	}
	if (r >= 0 && t.has_leader)
		r = db_objects_put_leader(db, &t);
	if (r >= 0) {
		uint64_t last = db->last_id[PRELUDE_THREADS];

		r = db_objects_put_thread(db, &t.task, t.has_leader ? &t.leader : NULL, &t.thread);
		is_new = db->last_id[PRELUDE_THREADS] != last;
		if (r >= 0 && is_new && t.program)
			r = db_objects_put_comm_thread(db, t.program, t.thread);
	}
	if (r >= 0)
		r = db_objects_put_comm(db, &t.task.name, t.thread, &comm);
	*ret = t;
	return r < 0 ? r : 0;
}

/* ---- files and symbols ----------------------------------------------------------------------- */

static int db_objects_put_dso(struct prelude_db *db, const struct sonde_event *ev,
			      const struct db_address *a, const struct sonde_location *loc,
			      uint64_t *ret)
{
	uint64_t *id = ids_place(&db->dsos, loc->dso_id, 0);
	struct sonde_dso dso = { .size = sizeof(dso) };
	int r;

	if (!id)
		return -ENOMEM;
	*ret = *id;
	if (*id)
		return 0;
	*ret = *id = ++db->last_id[PRELUDE_DSOS];
	r = sonde_event_dso(ev, a->addr, a->cpumode, &dso);
	if (r < 0)
		return r;
	return db_row(db, PRELUDE_DSOS,
		      (const union prelude_cell[]){ { .number = (int64_t)*ret },
						    { .number = DB_HOST },
						    { .text = dso.short_name },
						    { .text = dso.long_name },
						    { .text = dso.build_id } });
}

struct symbol {
	uint64_t start, end; /* offsets in the file */
	uint32_t binding;
	const char *name;
};

/*
 * The symbol at an address, in the form of the tables. Offsets count from the start of the file,
 * for symbols of kernel modules, too.
 */
static struct symbol db_objects_symbol_at(const struct db_address *a,
					  const struct sonde_location *loc)
{
	uint64_t start = loc->dso_off;

	if (!loc->sym)
		return (struct symbol){ .start = start, .end = start, .name = "unknown" };
	/* Under perf's rules, the distance from a symbol without a size may be any number. */
	start = loc->sym_off <= loc->dso_off ? loc->dso_off - loc->sym_off : loc->sym_start;
	return (struct symbol){
		.start = start,
		.end = start + (loc->sym_end - loc->sym_start),
		.binding = loc->sym_binding,
		.name = a->inlined ? a->inlined : loc->sym,
	};
}

/*
 * Returns the place of a symbol's id. The start of a symbol identifies it in its file. An inlined
 * function is a separate symbol at each address, and so is each address without a symbol. perf puts
 * the symbols of such frames at the address itself, unless a sample was there before.
 */
static uint64_t *db_objects_symbol_id(struct prelude_db *db, const struct db_address *a,
				      uint64_t dso, bool is_known, struct symbol *sym)
{
	uint64_t *id;

	if (a->inlined)
		return ids_place(&db->symbols, dso << 16 | (a->depth + 1), a->addr);
	id = ids_place(&db->symbols, dso << 16, sym->start);
	if (!id || *id || is_known || !a->in_chain || !db->rules->db_frames_begin_symbols)
		return id;
	sym->start = sym->end = a->addr;
	return ids_place(&db->symbols, dso << 16, a->addr);
}

/* Writes the rows that are new at an address. */
static int db_objects_put_place(struct prelude_db *db, const struct sonde_event *ev,
				const struct db_address *a, const struct sonde_location *loc,
				struct db_place *ret)
{
	struct symbol sym;
	uint64_t *id;
	int r = db_objects_put_dso(db, ev, a, loc, &ret->dso);

	if (r < 0)
		return r;
	sym = db_objects_symbol_at(a, loc);
	id = db_objects_symbol_id(db, a, ret->dso, loc->sym, &sym);
	if (!id)
		return -ENOMEM;
	ret->sym_off = loc->dso_off - sym.start;
	ret->symbol = *id;
	if (*id && *id != a->unseen)
		return 0;
	ret->symbol = ++db->last_id[PRELUDE_SYMBOLS];
	if (!*id)
		*id = ret->symbol;
	ret->made = loc->sym ? 0 : ret->symbol;
	return db_row(db, PRELUDE_SYMBOLS,
		      (const union prelude_cell[]){ { .number = (int64_t)ret->symbol },
						    { .number = (int64_t)ret->dso },
						    { .number = (int64_t)sym.start },
						    { .number = (int64_t)sym.end },
						    { .number = sym.binding },
						    { .text = sym.name } });
}

/*
 * A known place never changes, except at addresses without a symbol. There perf's result depends on
 * whether a frame or a sample was first.
 */
int db_put_place(struct prelude_db *db, const struct sonde_event *ev, const struct db_address *a,
		 struct db_place *ret)
{
	const struct sonde_location *at = sonde_event_located(ev, a->addr, a->cpumode);
	struct db_known_place *known = NULL;
	struct sonde_location loc;
	int r;

	*ret = (struct db_place){ .lasts = !at->dso_id };
	if (!at->dso_id)
		return 0;
	if (!db->known && !(db->known = calloc(DB_KNOWN_PLACES, sizeof(*db->known))))
		return -ENOMEM;
	if (at->answer && !a->inlined && (at->sym || !db->rules->db_frames_begin_symbols)) {
		ret->lasts = true;
		known = &db->known[at->answer % DB_KNOWN_PLACES];
		if (known->answer == at->answer) {
			*ret = known->place;
			return 0;
		}
	}
	loc = *at; /* a copy, because writing rows looks up further addresses */
	r = db_objects_put_place(db, ev, a, &loc, ret);
	if (r < 0 || !known)
		return r;
	*known = (struct db_known_place){ .answer = loc.answer, .place = *ret };
	known->place.made = 0;
	return 0;
}
