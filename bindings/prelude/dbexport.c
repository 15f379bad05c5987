/* SPDX-License-Identifier: MIT */
/*
 * Turns events into rows: samples of events other than tracepoints, context switches, and the
 * results of trace decoders.
 */
#include "dbexport.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db_calls.h"
#include "sample.h"

/* Bits of branch types, in perf's numbering. */
enum { TYPE_BRANCH = 1, TYPE_TRACE_BEGIN = 1 << 8, TYPE_TRACE_END = 1 << 9 };

/* ---- beginning and end ----------------------------------------------------------------------- */

int prelude_db_new(struct prelude_db **ret, struct sonde_session *s,
		   const struct prelude_db_options *opts)
{
	struct prelude_db *db = calloc(1, sizeof(*db));

	if (!db)
		return -ENOMEM;
	db->s = s;
	db->opts = *opts;
	db->rules = sonde_session_rules(s);
	*ret = db;
	return 0;
}

void prelude_db_free(struct prelude_db *db)
{
	if (!db)
		return;
	db_calls_done(db);
	id_list_done(&db->tasks);
	id_list_done(&db->names);
	ids_done(&db->dsos);
	ids_done(&db->symbols);
	free(db->known);
	free(db->types);
	free(db);
}

static int dbexport_put_branch_type(struct prelude_db *db, uint32_t type, const char *name)
{
	return db_row(db, PRELUDE_BRANCH_TYPES,
		      (const union prelude_cell[]){ { .number = type }, { .text = name } });
}

int prelude_db_begin(struct prelude_db *db)
{
	static const struct {
		uint32_t type;
		const char *name;
	} types[] = { { 0, "no branch" },
		      { 3, "call" },
		      { 5, "return" },
		      { 9, "conditional jump" },
		      { TYPE_BRANCH, "unconditional jump" },
		      { 67, "software interrupt" },
		      { 69, "return from interrupt" },
		      { 19, "system call" },
		      { 21, "return from system call" },
		      { 33, "asynchronous branch" },
		      { 99, "hardware interrupt" },
		      { 129, "transaction abort" },
		      { TYPE_BRANCH | TYPE_TRACE_BEGIN, "trace begin" },
		      { TYPE_BRANCH | TYPE_TRACE_END, "trace end" },
		      { 2051, "vm entry" },
		      { 4099, "vm exit" } };
	const size_t nr = sizeof(types) / sizeof(*types);
	char name[64];
	int r = 0;

	for (size_t i = 0; r >= 0 && i < nr; i++)
		r = dbexport_put_branch_type(db, types[i].type, types[i].name);
	/* Every kind of branch may be the first or the last one of a trace. */
	for (size_t i = 0; r >= 0 && i < nr; i++) {
		if (types[i].type == TYPE_BRANCH ||
		    types[i].type & (TYPE_TRACE_BEGIN | TYPE_TRACE_END))
			continue;
		snprintf(name, sizeof(name), "trace begin / %s", types[i].name);
		r = dbexport_put_branch_type(db, types[i].type | TYPE_TRACE_BEGIN, name);
		snprintf(name, sizeof(name), "%s / trace end", types[i].name);
		if (r >= 0)
			r = dbexport_put_branch_type(db, types[i].type | TYPE_TRACE_END, name);
	}
	return r;
}

int prelude_db_end(struct prelude_db *db)
{
	return db_flush_calls(db);
}

/* ---- event types ----------------------------------------------------------------------------- */

#define TYPE_SYNTH 0x80000000u /* attr.type of events made by trace decoders */

static void dbexport_learn_type(struct prelude_db *db, const struct sonde_schema *sc,
				struct db_type *t)
{
	struct prelude_sampled sampled;
	struct perf_event_attr attr = { 0 };
	const char *name = sonde_schema_event(sc);
	const void *bytes;
	size_t len;

	t->kind = DB_OTHER;
	if (sonde_schema_kind(sc) == SONDE_RECORD &&
	    (!strcmp(name, "switch") || !strcmp(name, "switch_cpu_wide"))) {
		t->kind = DB_SWITCH;
		t->other_pid = sonde_schema_field(sc, "next_prev_pid");
		t->other_tid = sonde_schema_field(sc, "next_prev_tid");
	}
	if (sonde_schema_kind(sc) != SONDE_SAMPLE)
		return;
	bytes = sonde_schema_attr(sc, &len);
	if (bytes)
		memcpy(&attr, bytes, len < sizeof(attr) ? len : sizeof(attr));
	t->kind = DB_SAMPLE;
	prelude_sampled_init(&sampled, sc, db->rules);
	t->has_place_of_addr = sampled.addr_names;
	t->has_chain = db->opts.callchains && sonde_schema_sampled(sc) & PERF_SAMPLE_CALLCHAIN;
	t->is_synth = attr.type == TYPE_SYNTH;
	t->config = attr.config;
}

static struct db_type *dbexport_type_of(struct prelude_db *db, const struct sonde_event *ev)
{
	if (ev->schema >= db->nr_types) {
		size_t nr = 2 * (size_t)ev->schema + 16;
		struct db_type *v = realloc(db->types, nr * sizeof(*v));

		if (!v)
			return NULL;
		memset(v + db->nr_types, 0, (nr - db->nr_types) * sizeof(*v));
		db->types = v;
		db->nr_types = nr;
	}
	if (db->types[ev->schema].kind == DB_NEW)
		dbexport_learn_type(db, sonde_event_schema(db->s, ev), &db->types[ev->schema]);
	return &db->types[ev->schema];
}

static int dbexport_put_evsel(struct prelude_db *db, const struct sonde_event *ev,
			      struct db_type *t)
{
	if (t->evsel)
		return 0;
	t->evsel = ++db->last_id[PRELUDE_EVSELS];
	return db_row(db, PRELUDE_EVSELS,
		      (const union prelude_cell[]){
			      { .number = (int64_t)t->evsel },
			      { .text = sonde_schema_name(sonde_event_schema(db->s, ev)) } });
}

/* ---- samples --------------------------------------------------------------------------------- */

struct sample_row {
	const struct sonde_event *ev;
	const struct sonde_sample *sample;
	const struct db_task *task;
	const struct db_place *from, *to;
	uint64_t id, evsel, call_path;
};

static int dbexport_put_sample_row(struct prelude_db *db, const struct sample_row *r)
{
	const struct sonde_sample *s = r->sample;
	bool has_id = s->present & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER);
	bool has_parts = s->present & PERF_SAMPLE_WEIGHT_STRUCT;
	uint64_t no_data_src = prelude_no_data_src(db->rules);
	const union prelude_cell row[] = {
		{ .number = (int64_t)r->id },
		{ .number = (int64_t)r->evsel },
		{ .number = DB_HOST },
		{ .number = (int64_t)r->task->thread },
		{ .number = (int64_t)r->task->program },
		{ .number = (int64_t)r->from->dso },
		{ .number = (int64_t)r->from->symbol },
		{ .number = (int64_t)r->from->sym_off },
		{ .number = (int64_t)s->ip },
		{ .number = (int64_t)r->ev->time_ns },
		{ .number = r->ev->cpu },
		{ .number = (int64_t)r->to->dso },
		{ .number = (int64_t)r->to->symbol },
		{ .number = (int64_t)r->to->sym_off },
		{ .number = (int64_t)s->addr },
		{ .number = (int64_t)s->period },
		/* PERF_SAMPLE_WEIGHT_STRUCT: weight:32 ins_lat:16 ...:16 */
		{ .number = has_parts ? (int64_t)(uint32_t)s->weight : (int64_t)s->weight },
		{ .number = (int64_t)s->transaction },
		{ .number = (int64_t)(s->present & PERF_SAMPLE_DATA_SRC ? s->data_src
									: no_data_src) },
		{ .number = 0 }, /* branch_type, in_tx: known only from trace decoders */
		{ .number = 0 },
		{ .number = (int64_t)r->call_path },
		{ .number = 0 }, /* insn_cnt, cyc_cnt, flags: also known only from trace decoders */
		{ .number = 0 },
		{ .number = 0 },
		{ .number = has_id ? (int64_t)s->id : -1 },
		{ .number = s->present & PERF_SAMPLE_STREAM_ID ? (int64_t)s->stream_id : -1 },
		{ .number = has_parts ? (int64_t)(s->weight >> 32 & 0xffff) : 0 },
	};

	return db_row(db, PRELUDE_SAMPLES, row);
}

static int dbexport_put_synth(struct prelude_db *db, const struct sonde_event *ev,
			      const struct db_type *t, uint64_t sample)
{
	const union prelude_cell row[] = { { .number = (int64_t)sample },
					   { .number = (int64_t)t->config },
					   { .blob = { ev->bytes,
						       ev->bytes ? ev->bytes_len : 0 } } };

	return db_row(db, PRELUDE_SYNTH, row);
}

/* perf looks up both addresses of a sample before it makes symbols for addresses without one. */
static int dbexport_put_place_of_addr(struct prelude_db *db, const struct sonde_event *ev,
				      uint64_t addr, const struct db_place *from,
				      struct db_place *ret)
{
	struct db_address a = {
		.addr = addr,
		.cpumode = SONDE_CPUMODE_OF_ADDRESS,
		.unseen = db->rules->db_looks_up_addr_first ? from->made : 0,
	};

	return db_put_place(db, ev, &a, ret);
}

static int dbexport_put_sample(struct prelude_db *db, const struct sonde_event *ev,
			       struct db_type *t)
{
	struct sonde_sample s = { .size = sizeof(s) };
	struct db_place from = { 0 }, to = { 0 };
	struct db_task task;
	struct sample_row row = { .ev = ev, .sample = &s, .task = &task, .from = &from, .to = &to };
	int r = sonde_event_sample(ev, &s);

	if (r >= 0)
		r = dbexport_put_evsel(db, ev, t);
	if (r >= 0)
		r = db_put_machine(db);
	if (r >= 0)
		r = db_put_task(db, ev, ev->pid, ev->tid, &task);
	if (r < 0)
		return r;
	row.evsel = t->evsel;
	row.id = ++db->last_id[PRELUDE_SAMPLES];
	if (s.present & PERF_SAMPLE_IP)
		r = db_put_place(db, ev,
				 &(struct db_address){ .addr = s.ip, .cpumode = ev->cpumode },
				 &from);
	if (r >= 0 && t->has_chain)
		r = db_put_chain(db, ev, &row.call_path);
	if (r >= 0 && t->has_place_of_addr) {
		r = dbexport_put_place_of_addr(db, ev, s.addr, &from, &to);
		if (r >= 0 && db->opts.calls)
			r = db_note_call(db, ev, &task, &s, &from, &to);
	}
	if (r >= 0)
		r = dbexport_put_sample_row(db, &row);
	return r >= 0 && t->is_synth ? dbexport_put_synth(db, ev, t, row.id) : r;
}

/* ---- context switches ------------------------------------------------------------------------ */

struct switched {
	uint64_t thread, comm; /* ids; 0 for a task that the recording does not describe */
	bool is_idle;
};

static int dbexport_put_switched(struct prelude_db *db, const struct sonde_event *ev, int32_t pid,
				 int32_t tid, struct switched *ret)
{
	struct sonde_task t = { .size = sizeof(t) };
	struct db_task put;
	int r = sonde_event_task(ev, pid, tid, &t);

	*ret = (struct switched){ 0 };
	if (r < 0 || !(t.flags & SONDE_TASK_NAMED))
		return r;
	r = db_put_task(db, ev, pid, tid, &put);
	*ret = (struct switched){
		.thread = put.thread,
		.comm = put.program,
		.is_idle = !t.pid && !t.tid,
	};
	return r;
}

/* misc of the record's header: | type:32 | misc:16 | size:16 | */
static uint16_t dbexport_misc_of(const struct sonde_event *ev)
{
	uint16_t misc = 0;

	if (ev->record && ev->record_len >= 8)
		memcpy(&misc, ev->record + 4, sizeof(misc));
	return ev->flags & SONDE_EVENT_SWAPPED ? __builtin_bswap16(misc) : misc;
}

static int dbexport_put_switch(struct prelude_db *db, const struct sonde_event *ev,
			       const struct db_type *t)
{
	uint16_t misc = dbexport_misc_of(ev);
	bool is_out = misc & PERF_RECORD_MISC_SWITCH_OUT;
	bool is_preempted = is_out && misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	struct switched own, other = { 0 };
	const struct switched *out = is_out ? &own : &other, *in = is_out ? &other : &own;
	int r = db_put_machine(db);

	if (r >= 0)
		r = dbexport_put_switched(db, ev, ev->pid, ev->tid, &own);
	if (r >= 0 && t->other_pid && t->other_tid)
		r = dbexport_put_switched(db, ev, (int32_t)sonde_event_i64(ev, t->other_pid),
					  (int32_t)sonde_event_i64(ev, t->other_tid), &other);
	/* A switch between the idle task and an unknown task gets no row. */
	if (r < 0 || ((!own.thread || own.is_idle) && (!other.thread || other.is_idle)))
		return r;
	return db_row(db, PRELUDE_CONTEXT_SWITCHES,
		      (const union prelude_cell[]){
			      { .number = (int64_t)++db->last_id[PRELUDE_CONTEXT_SWITCHES] },
			      { .number = DB_HOST },
			      { .number = (int64_t)ev->time_ns },
			      { .number = ev->cpu },
			      { .number = (int64_t)out->thread },
			      { .number = (int64_t)out->comm },
			      { .number = (int64_t)in->thread },
			      { .number = (int64_t)in->comm },
			      { .number = is_out | is_preempted << 1 } });
}

int prelude_db_event(struct prelude_db *db, const struct sonde_event *ev)
{
	struct db_type *t = dbexport_type_of(db, ev);
	int r;

	if (!t)
		return -ENOMEM;
	if (t->kind == DB_OTHER)
		return 0;
	r = t->kind == DB_SWITCH ? dbexport_put_switch(db, ev, t) : dbexport_put_sample(db, ev, t);
	return r < 0 ? r : 1;
}
