/* SPDX-License-Identifier: MIT */
/*
 * A perf script's run over a session: what the files that serve its events share. Functions are in
 * the headers of these files (run.h, plan.h, dicts.h, ...).
 */
#ifndef SONDE_PY_SCRIPT_H
#define SONDE_PY_SCRIPT_H

#include "context.h"
#include "module_state.h"
#include "prelude/loop.h"
#include "prelude/sample.h"
#include "session.h"
#include "values.h"

struct plan;

enum lazy_kind {
	LAZY_FIELDS = 1,
	LAZY_SAMPLE,
	LAZY_SAMPLE_VALUES, /* what is behind its key "sample" */
	LAZY_CALLCHAIN
};

/* What lazy dicts told of the event at hand, one by one: who asks again gets the same object. */
#define MAX_READ_KEYS 16
struct read_key {
	const struct lazy *by;
	enum lazy_kind kind;   /* of that, which may be gone by now */
	PyObject *key, *value; /* key borrowed, value owned */
};

/*
 * A dict that served one event and that nobody holds or has changed: the next event's values go
 * into it.
 */
struct kept_dict {
	PyObject *dict;   /* owned; NULL none */
	uint64_t version; /* as it was when filled: another one says that a script changed it */
	Py_ssize_t refs;  /* references to it: ours, and that of a kept dict that holds it */
};

/* The event type's part of a run. */
struct slot {
	struct script_slot base;
	PyObject *name;     /* "sched__sched_switch", interned */
	PyObject *func;     /* called last, owned by its plan; NULL none */
	struct plan *plan;  /* of func */
	struct plan *plans; /* all of them, newest first */
	unsigned int nr_plans;
	uint64_t version; /* of __main__'s dict when func was looked up */
	bool looked_up;   /* func (NULL too) holds as long as the version does */
	Py_ssize_t
		main_at; /* where in __main__'s dict the name was found last; see dict_value_at() */
	struct conv *convs; /* of the fields behind the common ones */
	PyObject **keys;    /* their names, interned */
	size_t nr_fields;
	struct conv pid;  /* common_pid */
	PyObject *fields; /* template of trace_unhandled's dict: all keys */
	struct kept_dict kept_fields;
	struct prelude_sampled sampled;
	struct shape *shapes; /* of perf_sample_dict, the one used last first */
};

struct keys;
struct node;
struct shape;
struct dbexport;
struct records;

struct run {
	PyObject_HEAD
	struct script_run base;
	PyObject *module;
	struct module_state *m;
	struct py_session *session; /* owned */
	struct values *v;           /* the session's */
	PyObject *main;             /* __main__'s dict */
	PyObject *how_read;         /* callable(function, parameter name) -> enum reading */
	PyObject *misfits;   /* callable(function, handler, sentences, whether the run must end) */
	PyObject *is_traced; /* callable() -> bool: a trace or profile function is set */
	PyObject *before_waiting; /* callable(), or None */
	PyObject *code_word;      /* "__code__" */
	PyObject *context;        /* the capsule */
	struct perf_context *current;
	struct slot *ev_slot;             /* of base.ev */
	struct prelude_sample sample;     /* of base.ev; */
	bool sample_read, sample_located; /* else it is not yet */
	struct read_key read_keys[MAX_READ_KEYS];
	size_t nr_read_keys;
	uint64_t refused_version; /* of __main__'s dict: as long as it has that one refused slots
				     stay so; 0: unknown */
	PyObject *unhandled;      /* "trace_unhandled" */
	PyObject *defines[4];     /* names of the define_* functions, by enum sonde_define_kind */
	PyObject *no_values;      /* (0, 0, 0): nothing was read */
	struct keys *keys;        /* interned keys of the dicts */
	struct node *nodes;       /* of call chains, as made before; NULL: none yet */
	size_t nr_kept_nodes;     /* dicts kept with nodes */
	bool fills_chain;         /* a call chain is being made */
	uint64_t nr_events;       /* served so far */
	struct dbexport *db;      /* NULL: no perf_db_export_mode */
	struct records *records;  /* NULL: no handler of records was met */
	bool eager, eager_now;    /* build everything: asked for; or a debugger looks on */
	bool running;
};

#endif
