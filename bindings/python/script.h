/* SPDX-License-Identifier: MIT */
/*
 * The run of a perf script over a session: data shared by the files that handle its events.
 * Functions are in the headers of these files (run.h, plan.h, dicts.h, ...).
 */
#ifndef SONDE_PY_SCRIPT_H
#define SONDE_PY_SCRIPT_H

#include "context.h"
#include "module_state.h"
#include "prelude/loop.h"
#include "prelude/near.h"
#include "prelude/sample.h"
#include "session.h"
#include "values.h"

struct plan;

enum lazy_kind {
	LAZY_FIELDS = 1,
	LAZY_SAMPLE,
	LAZY_SAMPLE_VALUES, /* the dict under its key "sample" */
	LAZY_CALLCHAIN
};

/*
 * Values of the current event that were read by key from lazy dicts: a second read returns the same
 * object.
 */
#define MAX_READ_KEYS 16
struct read_key {
	const struct lazy *by;
	enum lazy_kind kind;   /* of `by`, which may be freed by now */
	PyObject *key, *value; /* key borrowed, value owned */
};

/*
 * A dict that served one event. If nobody else holds or changed it, it is filled with the next
 * event's values.
 */
struct kept_dict {
	PyObject *dict;   /* owned; NULL if none */
	uint64_t version; /* version after filling: if it differs now, a script changed the dict */
	/* expected references: this one, and that of a kept dict that contains the dict */
	Py_ssize_t refs;
};

/* The slot of an event type in a run. */
struct slot {
	struct script_slot base;
	PyObject *name;     /* "sched__sched_switch", interned */
	PyObject *func;     /* the function called last, owned by its plan; NULL if none */
	struct plan *plan;  /* plan of func */
	struct plan *plans; /* all plans, newest first */
	unsigned int nr_plans;
	uint64_t version; /* version of __main__'s dict when func was looked up */
	/* func, which may be NULL, is valid as long as the version is unchanged */
	bool looked_up;
	/* Place of the name in __main__'s dict when last found; see dict_value_at(). */
	Py_ssize_t main_at;
	struct conv *convs; /* conversions of the fields after the common ones */
	PyObject **keys;    /* their names, interned */
	size_t nr_fields;
	struct conv pid;  /* common_pid */
	PyObject *fields; /* template of trace_unhandled's dict: all keys */
	struct kept_dict kept_fields;
	struct prelude_sampled sampled;
	struct shape *shapes; /* shapes of perf_sample_dict, the last used first */
};

struct keys;
struct node;
struct shape;
struct dbexport;
struct records;

struct python_run {
	PyObject_HEAD
	struct script_run base;
	PyObject *module;
	struct module_state *m;
	struct py_session *session; /* owned */
	struct values *v;           /* the session's */
	PyObject *main;             /* __main__'s dict */
	PyObject *how_read;         /* callable(function, parameter name) -> enum reading */
	PyObject *misfits; /* callable(function, handler, sentences, whether the script must end) */
	PyObject *is_traced;      /* callable() -> bool: a trace or profile function is set */
	PyObject *before_waiting; /* callable(), or None */
	PyObject *code_word;      /* "__code__" */
	PyObject *context;        /* the capsule */
	struct perf_context *current;
	struct slot *ev_slot;         /* of base.ev */
	struct prelude_sample sample; /* of base.ev */
	/* true if `sample` was read, and its addresses looked up */
	bool sample_read, sample_located;
	struct read_key read_keys[MAX_READ_KEYS];
	size_t nr_read_keys;
	/*
	 * Version of __main__'s dict: refused slots stay refused while the dict has this version. 0
	 * if unknown.
	 */
	uint64_t refused_version;
	PyObject *unhandled;      /* "trace_unhandled" */
	PyObject *defines[4];     /* names of the define_* functions, by enum sonde_define_kind */
	PyObject *no_values;      /* (0, 0, 0), if no counts were read */
	struct keys *keys;        /* interned keys of the dicts */
	struct node *nodes;       /* nodes of call chains, kept for reuse; NULL if none yet */
	struct node **near_nodes; /* nodes by prelude_near_place(); NULL if none yet */
	struct prelude_near near;
	size_t nr_kept_nodes;    /* dicts kept with nodes */
	bool fills_chain;        /* a call chain is being made */
	uint64_t nr_events;      /* number of events served so far */
	struct dbexport *db;     /* NULL without perf_db_export_mode */
	struct records *records; /* NULL if no handler of records was called yet */
	/* Arguments are built before the call: on request, or because a debugger is active now. */
	bool eager, eager_now;
	bool running;
};

#endif
