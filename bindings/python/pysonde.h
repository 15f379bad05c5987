/* SPDX-License-Identifier: MIT */
/*
 * The Python extension `sonde`, one source for three builds: exact for one CPython, limited API 3.9, limited API 3.12.
 *
 *	module.c   sonde.open(), the module's own types        values.c  bytes -> int, str, bytearray
 *	session.c  Session: iterable of Event                  dicts.c   the dicts and lists of perf's contract
 *	event.c    Event, Frame, Schema                        lazy.c    dicts and lists that are built when first read
 *	sample.c   perf_sample_dict                            plan.c    what a handler is called with
 *	run.c      the event loop for perf scripts             records.c handlers of records, counts, losses, defects
 *	signature.c the parameters of a function               plan_keep.c arguments that a plan reuses
 *	dbexport.c the tables of perf_db_export_mode           context.c the module perf_trace_context
 */
#ifndef SONDE_PYSONDE_H
#define SONDE_PYSONDE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "prelude.h"
#include "sample.h"
#include "sonde/sonde.h"

#if !defined(Py_LIMITED_API) || Py_LIMITED_API + 0 >= 0x030c0000
#define HAVE_VECTORCALL 1
#endif

/* Only where one interpreter lock guards all reference counts does a count of 1 mean that nobody else can see it. */
#ifdef Py_GIL_DISABLED
#define ONLY_MINE(o) false
#else
#define ONLY_MINE(o) (Py_REFCNT(o) == 1)
#endif

/* ---- the module's state ------------------------------------------------------------------------------------------ */

struct module_state {
	PyObject *error; /* sonde.Error */
	PyTypeObject *session, *event, *frame, *schema, *run, *lazy_dict, *lazy_list;
	size_t lazy_dict_off, lazy_list_off; /* of struct lazy in their instances */
};

/* Sets sonde.Error (MemoryError for -ENOMEM) from the library's causes; returns NULL. */
PyObject *module_error(struct module_state *m, int code);

/* ---- values ------------------------------------------------------------------------------------------------------ */

enum conv_kind {
	CONV_U8,
	CONV_U16,
	CONV_U32,
	CONV_U64,
	CONV_S8,
	CONV_S16,
	CONV_S32,
	CONV_S64,
	CONV_COMM, /* text of 16 bytes: task names, worth a cache */
	CONV_TEXT, /* any other fixed text */
	CONV_BYTES,
	CONV_DYNAMIC_TEXT,
	CONV_DYNAMIC_BYTES,
	CONV_ZERO
};

/* How one field of one schema becomes a Python value. */
struct conv {
	enum conv_kind kind;
	uint32_t offset, width; /* width 0: to the end of the payload */
	const struct sonde_field *field;
};

#define SMALL_NEGATIVE 5
#define SMALL_INTS     (SMALL_NEGATIVE + 257) /* -5 .. 256 */
#define INTS           1024
#define TEXTS          1024
#define NAMES          1024

/* Values that come again and again, per session. All tables are direct-mapped: a newcomer takes the place. */
struct values {
	struct sonde_session *s;
	enum sonde_compat compat;
	PyObject **comms; /* by text id */
	size_t nr_comms;
	uint64_t last_secs;
	PyObject *last_secs_obj;
	PyObject *small[SMALL_INTS];
	struct {
		uint64_t value;
		PyObject *obj;
	} ints[INTS];
	struct {
		uint64_t bytes[2];
		PyObject *obj;
	} texts[TEXTS];
	struct {
		const char *name; /* lent by the session: equal pointers are equal names */
		PyObject *obj;
	} names[NAMES];
};

struct values *values_new(struct sonde_session *s);
void values_free(struct values *v);
void conv_init(struct conv *c, const struct sonde_field *f, enum sonde_compat compat);
/* New references; NULL with an exception set. perf's sticky rule (7.4) turns c into bytes for good. */
PyObject *values_field(struct values *v, struct conv *c, const struct sonde_event *ev);
PyObject *values_comm(struct values *v, uint32_t id);
PyObject *values_name(struct values *v, const char *lent); /* a lent name; "" when NULL */
PyObject *values_secs(struct values *v, uint64_t secs);
PyObject *values_int(struct values *v, int64_t value); /* see int_object() */
PyObject *values_task_name(struct values *v, struct conv *c, const uint8_t *bytes,
			   size_t at); /* see field_object() */
PyObject *text_object(const char *text, size_t len);
/* The same of a whole name that serves as a key: interned. Names of events and fields may hold any bytes. */
PyObject *name_object(const char *name);

static inline PyObject *u64_object(uint64_t value)
{
#if LONG_MAX > 0x7fffffff
	if (value <= LONG_MAX)
		return PyLong_FromLong((long)value);
#endif
	return PyLong_FromUnsignedLongLong(value);
}

/*
 * An int that served one event and that nobody holds is the next one's: of ints, too, nobody can see that they are the same
 * object. Known of the interpreter that this build is for: one digit of 30 bits; small ints are the interpreter's own.
 */
#if !defined(Py_LIMITED_API) && PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000 && \
	PYLONG_BITS_IN_DIGIT == 30
#define REUSES_INTS 1
#endif

static inline bool int_may_serve(PyObject *o)
{
#ifdef REUSES_INTS
	return ONLY_MINE(o) && PyLong_CheckExact(o) && Py_SIZE(o) == 1;
#else
	(void)o;
	return false;
#endif
}

/* Takes the reference of spare, for which int_may_serve() was true; NULL is fine. */
static inline PyObject *int_from(PyObject *spare, int64_t value)
{
#ifdef REUSES_INTS
	if (spare && value > 256 && value < 1 << 30) {
		((PyLongObject *)spare)->ob_digit[0] = (digit)value;
		return spare;
	}
#endif
	Py_XDECREF(spare);
	return PyLong_FromLongLong(value);
}

/* Of 32 bits or fewer, likely to come again: task ids, cpus, priorities. */
static inline PyObject *int_object(struct values *v, int64_t value)
{
	if ((uint64_t)(value + SMALL_NEGATIVE) < SMALL_INTS) {
		PyObject *o = v->small[value + SMALL_NEGATIVE];

		Py_INCREF(o);
		return o;
	}
	return values_int(v, value);
}

/* values_field() with what is most frequent in place: words in our byte order, task names seen before. */
static inline PyObject *field_object(struct values *v, struct conv *c, const struct sonde_event *ev)
{
	const uint8_t *p = ev->bytes + c->offset;

	if ((ev->flags & SONDE_EVENT_SWAPPED) || (uint64_t)c->offset + c->width > ev->bytes_len)
		return values_field(v, c, ev);
	switch (c->kind) {
	case CONV_U32:
	case CONV_S32: {
		uint32_t n;

		memcpy(&n, p, 4);
		return int_object(v, c->kind == CONV_S32 ? (int64_t)(int32_t)n : (int64_t)n);
	}
	case CONV_U64:
	case CONV_S64: {
		uint64_t n;

		memcpy(&n, p, 8);
		return c->kind == CONV_S64 ? PyLong_FromLongLong((int64_t)n) : u64_object(n);
	}
	case CONV_COMM: {
		uint64_t key[2];
		size_t at;

		memcpy(key, p, 16);
		at = (key[0] * 0x9e3779b97f4a7c15ull ^ key[1] * 0xc2b2ae3d27d4eb4full) >> 54;
		if (v->texts[at].bytes[0] == key[0] && v->texts[at].bytes[1] == key[1] &&
		    v->texts[at].obj) {
			Py_INCREF(v->texts[at].obj);
			return v->texts[at].obj;
		}
		return values_task_name(v, c, p, at);
	}
	default:
		return values_field(v, c, ev);
	}
}

static inline PyObject *comm_object(struct values *v, uint32_t id)
{
	if (id < v->nr_comms && v->comms[id]) {
		Py_INCREF(v->comms[id]);
		return v->comms[id];
	}
	return values_comm(v, id);
}

/* PyDict_SetItem that takes the value's reference; -1 also when value is NULL. */
static inline int dict_take(PyObject *dict, PyObject *key, PyObject *value)
{
	int r;

	if (!value)
		return -1;
	r = PyDict_SetItem(dict, key, value);
	Py_DECREF(value);
	return r;
}

static inline int dict_take_str(PyObject *dict, const char *key, PyObject *value)
{
	int r;

	if (!value)
		return -1;
	r = PyDict_SetItemString(dict, key, value);
	Py_DECREF(value);
	return r;
}

/* ---- the general interface: Session, Event, Schema, Frame -------------------------------------------------------- */

/* An event type as Python sees it; owned by the session. */
struct schema_info {
	const struct sonde_schema *sc;
	PyObject *name; /* "sched:sched_switch" */
	PyObject *keys; /* tuple of field names, in the order of the format, common_* too */
	struct conv *convs;
	size_t nr_fields;
};

struct py_session {
	PyObject_HEAD
	PyObject *module; /* keeps the types alive */
	struct module_state *m;
	struct sonde_session *s; /* NULL once closed */
	struct values *v;
	struct py_event
		*lent; /* the living Event whose bytes are the library's; borrowed, NULL none */
	struct schema_info **schemas; /* by id */
	size_t nr_schemas;
	bool busy; /* being read, without the interpreter lock */
};

struct py_schema {
	PyObject_HEAD
	struct py_session *session; /* owned */
	struct schema_info *info;
};

struct py_event {
	PyObject_HEAD
	struct py_session *session; /* owned */
	struct schema_info *info;
	const struct sonde_event *ev; /* lent by the session, or `own` */
	struct sonde_event
		*own; /* a copy, made when the session went on while we were still held */
};

struct py_frame {
	PyObject_HEAD
	struct py_event *event; /* owned: where an address points depends on the event's time */
	uint64_t ip;
	uint32_t cpumode;
};

PyObject *session_new(PyObject *module, struct module_state *m, const char *text);
struct schema_info *session_schema(struct py_session *s, uint32_t id); /* NULL with an exception */
int session_check(struct py_session *s); /* -1 with an exception when closed */
PyTypeObject *session_type_new(PyObject *module);
PyTypeObject *event_type_new(PyObject *module);
PyTypeObject *schema_type_new(PyObject *module);
PyTypeObject *frame_type_new(PyObject *module);

/* ---- perf scripts ------------------------------------------------------------------------------------------------ */

struct plan;

enum lazy_kind {
	LAZY_FIELDS = 1,
	LAZY_SAMPLE,
	LAZY_SAMPLE_VALUES, /* what is behind its key "sample" */
	LAZY_CALLCHAIN
};

/* What leave_out.py says of an argument. */
enum reading {
	READ_AT_ONCE, /* anything may be done with it: it is built before the call */
	READ_NEVER,
	READ_BY_KEY,   /* single keys of constant names are asked for, nothing else */
	READ_BY_KEYS_2 /* the same, and of what is behind "sample", too */
};

/*
 * Behind the dict or list that it belongs to. It stands for an event only while that event's handler is being called:
 * between calls the plan's own one rests, and is to whoever finds it an ordinary one without values.
 */
struct lazy {
	struct run *run; /* whose current event it stands for; NULL: it is an ordinary one now */
	enum lazy_kind kind;
	bool rests;      /* kept by its plan, and nobody has read it since */
	bool by_key;     /* tells single values without being built */
	PyObject *inner; /* its "sample", lent by the plan; NULL: an ordinary dict */
};

/* What lazy dicts told of the event at hand, one by one: who asks again gets the same object. */
#define MAX_TOLD 16
struct told_key {
	const struct lazy *by;
	enum lazy_kind kind;   /* of that, which may be gone by now */
	PyObject *key, *value; /* key borrowed, value owned */
};

static inline void lazy_rest(struct lazy *l)
{
	l->run = NULL;
	l->rests = true;
}

static inline void lazy_wake(struct lazy *l, struct run *r)
{
	l->rests = false;
	l->run = r;
}

/* A dict that served one event and that nobody holds or has changed: the next event's values go into it. */
struct kept_dict {
	PyObject *dict;   /* owned; NULL none */
	uint64_t version; /* as it was when filled: another one says that a script changed it */
	Py_ssize_t refs;  /* references to it: ours, and that of a kept dict that holds it */
};

/* The event type's part of a run. */
struct slot {
	const struct sonde_schema *sc;
	PyObject *name;     /* "sched__sched_switch", interned */
	PyObject *func;     /* called last, owned by its plan; NULL none */
	struct plan *plan;  /* of func */
	struct plan *plans; /* all of them, newest first */
	unsigned int nr_plans;
	uint64_t version; /* of __main__'s dict when func was looked up */
	bool looked_up;   /* func (NULL too) holds as long as the version does */
	Py_ssize_t
		main_at; /* where in __main__'s dict the name was found last; see dict_value_at() */
	enum sonde_schema_kind kind;
	bool defined, has_callchain;
	bool refused;       /* the session was told that nobody wants these events */
	struct conv *convs; /* of the fields behind the common ones */
	PyObject **keys;    /* their names, interned */
	size_t nr_fields;
	struct conv pid;  /* common_pid */
	PyObject *fields; /* template of trace_unhandled's dict: all keys */
	struct kept_dict kept_fields;
	struct prelude_sampled sampled;
	struct shape *shapes;                    /* of perf_sample_dict, the one used last first */
	const struct prelude_callback *callback; /* of records; NULL none */
};

/* What perf_trace_context's functions see; owned by the capsule that scripts call `context`. */
struct perf_context {
	struct sonde_session *s;
	const struct sonde_event *ev; /* NULL outside an event */
	enum sonde_compat compat;
	bool itrace_is_set; /* perf_set_itrace_options() was called, or --itrace given */
};
/* context.c: the capsule. NULL with an exception. */
PyObject *context_new(struct sonde_session *s, struct perf_context **ret);

struct keys;
struct node;
struct shape;
struct dbexport;
struct records;

struct run {
	PyObject_HEAD
	PyObject *module;
	struct module_state *m;
	struct py_session *session; /* owned */
	struct sonde_session *s;
	struct values *v;    /* the session's */
	PyObject *main;      /* __main__'s dict */
	PyObject *how_read;  /* callable(function, parameter name) -> enum reading */
	PyObject *misfits;   /* callable(function, handler, sentences, whether the run must end) */
	PyObject *is_traced; /* callable() -> bool: a trace or profile function is set */
	PyObject *before_waiting; /* callable(), or None */
	PyObject *code_word;      /* "__code__" */
	PyObject *context;        /* the capsule */
	struct perf_context *current;
	const struct sonde_event *ev;
	struct slot *ev_slot;
	struct prelude_sample sample;     /* of ev; */
	bool sample_read, sample_located; /* else it is not yet */
	struct told_key told[MAX_TOLD];
	size_t nr_told;
	struct slot **slots;         /* by schema id */
	size_t nr_slots, nr_refused; /* nr_refused: slots with `refused` set */
	size_t nr_bound;             /* schemas whose handler, if it was there, has a plan */
	uint64_t
		refused_version; /* of __main__'s dict: as long as it has that one refused slots stay so; 0: unknown */
	PyObject *unhandled;     /* "trace_unhandled" */
	PyObject *defines[4];    /* names of the define_* functions, by enum sonde_define_kind */
	PyObject *no_values;     /* (0, 0, 0): nothing was read */
	struct keys *keys;       /* interned keys of the dicts */
	struct node *nodes;      /* of call chains, as made before; NULL: none yet */
	size_t nr_kept_nodes;    /* dicts kept with nodes */
	bool fills_chain;        /* a call chain is being made */
	uint64_t nr_events;      /* served so far */
	struct dbexport *db;     /* NULL: no perf_db_export_mode */
	struct records *records; /* NULL: no handler of records was met */
	enum sonde_compat compat;
	bool eager, eager_now; /* build everything: asked for; or a debugger looks on */
	bool running;
	bool has_called, has_passed_over; /* a function got an event; a sample had none */
};

PyTypeObject *run_type_new(PyObject *module);
PyObject *run_create(PyObject *module, PyObject *args, PyObject *kw);

/* signature.c: what binding needs to know of a function. */
struct signature {
	struct prelude_callee callee;
	PyObject *texts; /* owned: list of bytes, which lend the names' text */
	const char **names;
	struct prelude_keyword *keywords;
};
/* code: its __code__, NULL when it has none. -1 with an exception; signature_done() in any case. */
int signature_init(struct signature *sig, PyObject *func, PyObject *code);
void signature_done(struct signature *sig);
size_t signature_defaults(PyObject *func);
/* An attribute, or NULL without an exception where there is none. */
PyObject *attribute_of(PyObject *o, const char *name);

/* plan.c: what function `func` is called with for events of this slot; found or made. NULL with an exception. */
struct plan *plan_get(struct run *r, struct slot *slot, PyObject *func, bool unhandled);
/* Whether the plan still is that of its function (whose __code__ may be replaced). */
bool plan_holds(const struct run *r, const struct plan *p);
bool plan_unhandled(const struct plan *p); /* made for trace_unhandled's arguments */
int plan_call(struct run *r, struct slot *slot, struct plan *p);
void plan_free_all(struct slot *slot);

/* dicts.c: new references, for the run's current event. */
struct keys *keys_new(void);
void keys_free(struct keys *k);
void nodes_free(struct node *nodes);
PyObject *dict_fields(struct run *r);
int dict_keys_put(struct run *r, PyObject *dict); /* the keys of dict_fields(), their values None */
/* One value of dict_fields(); NULL without an exception: it does not have that key, or is to be asked itself. */
PyObject *dict_field(struct run *r, PyObject *key);
bool dict_fields_by_key(const struct run *r,
			const struct slot *slot); /* whether dict_field() may be used */
PyObject *list_callchain(struct run *r);
/* Takes the reference of what dict_fields() gave, after the call: it may serve again. */
void dict_fields_done(struct run *r, struct slot *slot, PyObject *dict);
/* A dict that is kept lets go of its call chain, which is behind key: the frames' dicts may then serve again. */
void chain_done(PyObject *dict, PyObject *key);

/* sample.c: perf_sample_dict, as dicts.c's. */
PyObject *dict_sample(struct run *r);
PyObject *dict_sample_values(struct run *r); /* what is behind "sample" */
PyObject *dict_sample_value(struct run *r, PyObject *key, bool of_values); /* as dict_field() */
bool dict_sample_by_key(const struct slot *slot);
/* What dict_sample_value() gave for "sample", after the call: it may serve again. Takes the reference. */
void dict_sample_values_done(struct slot *slot, PyObject *dict);
void dict_sample_done(struct run *r, struct slot *slot, PyObject *dict);
void shapes_free(struct slot *slot);

/* records.c: handlers of records of state (context_switch, throttle, ...), of counts (stat__*) and of defects. */
int records_call(struct run *r, struct slot *slot);
/* Behind the last event: losses that were told without a time, defects that grew since they were told. */
int records_end(struct run *r);
void records_free(struct records *c);
/*
 * run.c: nobody takes events of this slot until Python code defines a handler; after a handler ran, it may have. func: what
 * stands under the handler's name, NULL nothing.
 */
void run_refuse(struct run *r, struct slot *slot, const PyObject *func);
void run_want_all(struct run *r);
void run_handler_ran(struct run *r);

/* dbexport.c: begun behind trace_begin(); NULL without an exception: the script wants none. */
struct dbexport *dbexport_begin(struct run *r);
void dbexport_free(struct dbexport *d); /* NULL is fine */
/* 1: the event was for the tables alone, 0: handlers come next, -1 with an exception. */
int dbexport_event(struct dbexport *d, const struct sonde_event *ev);
/* Behind the last event: rows of what was open; -1 with an exception. */
int dbexport_end(struct dbexport *d);

/* lazy.c */
PyTypeObject *lazy_dict_type_new(size_t *ret_off);
PyTypeObject *lazy_list_type_new(size_t *ret_off);
PyObject *lazy_new(struct run *r, enum lazy_kind kind);
struct lazy *lazy_of(struct module_state *m, PyObject *o); /* NULL: not one of ours */
int lazy_fill(PyObject *o, struct lazy *l);                /* makes it an ordinary one */
void lazy_forget_told(struct run *r, struct slot *slot);   /* after the call */

#endif
