/* SPDX-License-Identifier: MIT */
/*
 * perf's contract with scripts, once for all languages: names of handlers, their arguments, and
 * the conversion of a field's bytes to a value. Languages differ only in how they make values.
 *
 *	struct prelude_bind b;
 *
 *	prelude_handler_name(sc, "__", name, sizeof(name));      "sched__sched_switch"
 *	prelude_bind(sc, &callee, rules, &b);            slots[i]: source of the i-th argument
 *
 * Only the two bind functions allocate. No function depends on an interpreter.
 */
#ifndef SONDE_PRELUDE_H
#define SONDE_PRELUDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sonde/sonde.h"

/*
 * The first arguments of every tracepoint handler, in perf's order. The event's own fields follow.
 */
enum prelude_arg {
	PRELUDE_EVENT_NAME = 0,
	PRELUDE_CONTEXT,
	PRELUDE_CPU,
	PRELUDE_SECS,
	PRELUDE_NSECS,
	PRELUDE_PID,
	PRELUDE_COMM,
	PRELUDE_CALLCHAIN,
	PRELUDE_NR_COMMON,

	PRELUDE_SAMPLE_DICT = PRELUDE_NR_COMMON, /* perf_sample_dict */
	PRELUDE_FIELDS_DICT,                     /* third argument of trace_unhandled */
	PRELUDE_FIELD,                           /* slot.field is its index */
	PRELUDE_NOTHING,                         /* the language's null */
	PRELUDE_DEFAULT                          /* the parameter's own default value */
};

/* Names of PRELUDE_EVENT_NAME .. PRELUDE_SAMPLE_DICT in perf's spelling. */
extern const char *const prelude_arg_names[PRELUDE_NR_COMMON + 1];
/*
 * Keys of the first six entries of trace_unhandled's dict, from PRELUDE_CPU on: "common_s", not
 * "secs" as in handlers.
 */
extern const char *const prelude_unhandled_keys[PRELUDE_NR_COMMON - PRELUDE_CPU];

struct prelude_slot {
	enum prelude_arg arg;
	/* For PRELUDE_FIELD: index among the schema's own fields, without common_*. */
	uint32_t field;
	/* The field is passed as NAME_, because a parameter is already called NAME. */
	bool is_renamed;
};

/* A parameter that can only be passed by name. */
struct prelude_keyword {
	const char *name;
	bool has_default;
};

/* The signature of a script's function, as far as the language can describe it. */
struct prelude_callee {
	const char *const *names; /* names of positional parameters, without `self` */
	size_t nr_names;
	size_t nr_defaults; /* number of parameters at the end that have defaults */
	size_t nr_positional_only;
	const struct prelude_keyword *keywords; /* after `*` */
	size_t nr_keywords;
	/* false if the parameters are unknown; the function gets perf's arguments */
	bool has_names;
	bool rest;          /* *args: takes any number of further arguments */
	bool keywords_rest; /* **kw: takes arguments of any name */
	bool bound;         /* the function is a bound method; `self` is not in names */
	bool unhandled;     /* the function is trace_unhandled */
};

/*
 * A parameter after the common ones whose name is not a field's. Names are borrowed from the callee
 * and the schema.
 */
struct prelude_misfit {
	/* nearest: the most similar field name; NULL if the event has no fields. */
	const char *name, *nearest;
	struct prelude_slot gets;
	const char *field; /* the field that the parameter gets; NULL if none */
	bool ends;         /* no value for it: the script must end unless rules->binds_by_place */
};

struct prelude_bind {
	struct prelude_slot *slots; /* nr by position, then nr_keywords by name */
	size_t nr, nr_keywords;
	const char **keywords;
	struct prelude_misfit *misfits;
	size_t nr_misfits;
};

/* Functions that are not named after an event, besides trace_begin() and trace_end(). */
#define PRELUDE_UNHANDLED     "trace_unhandled"
#define PRELUDE_PROCESS_EVENT "process_event"
/* Functions that get definitions of flags and symbols, by enum sonde_define_kind. */
extern const char *const prelude_define_names[4];

/* Functions of a context; each returns the value of one field of the current event. */
enum prelude_context { PRELUDE_PC, PRELUDE_FLAGS, PRELUDE_LOCK_DEPTH, PRELUDE_NR_CONTEXT };
struct prelude_context_function {
	const char *name, *field;
};
extern const struct prelude_context_function prelude_context_functions[PRELUDE_NR_CONTEXT];
/* 0 if the event has no such field. */
int32_t prelude_context_value(const struct sonde_session *s, const struct sonde_event *ev,
			      enum prelude_context which);

/* Keys of a call chain's frame, and of the symbol in the frame. */
#define PRELUDE_FRAME_KEYS(K)  K(ip) K(sym) K(sym_off) K(sym_srcline) K(dso)
#define PRELUDE_SYMBOL_KEYS(K) K(start) K(end) K(binding) K(name)
/* Keys of a branch, by addresses and by symbols. */
#define PRELUDE_BRANCH_KEYS(K) \
	K(from)                \
	K(to)                  \
	K(mispred) K(predicted) K(in_tx) K(abort) K(cycles) K(from_dsoname) K(to_dsoname) K(pred)

/*
 * Writes the event's system, the separator and the event's name into buf. Returns 0, or
 * -ENAMETOOLONG.
 */
int prelude_handler_name(const struct sonde_schema *sc, const char *separator, char *buf,
			 size_t size);
/* Returns the fields after the common_* ones. */
const struct sonde_field *prelude_fields(const struct sonde_schema *sc, size_t *ret_nr);
/*
 * True if the events have fields but no field common_pid as in tracefs: common_pid is then the
 * event's thread.
 */
bool prelude_pid_is_thread(const struct sonde_schema *sc);

/*
 * Writes one line about the event whose handler failed into buf: name, time, cpu, task, text. The
 * line is truncated to the buffer's size. Returns the length of the line.
 */
int prelude_describe(const struct sonde_session *s, const struct sonde_event *ev, char *buf,
		     size_t size);

/*
 * Decides which values a function is called with. process_event of events other than tracepoints
 * gets the sample dict, whatever its parameters. trace_unhandled gets perf's three arguments, and
 * perf_sample_dict if it has one more parameter. A handler of a tracepoint gets the common
 * arguments by position: eight, or seven in the oldest scripts, which name a field where
 * common_callchain would be. Parameters after them:
 *  1. If no field's name is at another field's place: all by position, as perf does. One parameter
 *     more than there are fields is perf_sample_dict. If the numbers differ otherwise, each
 *     parameter without a field's name is a misfit. Exception: one with a default, if others name
 *     fields, is a field of other kernels and keeps its default.
 *  2. Else: fields by name. Other parameters get their defaults; one without a default is a misfit
 *     that ends the script's run.
 * perf_sample_dict always gets the sample dict. *args gets the positional values after the named
 * parameters, all fields in case 2. Parameters after `*` and **kw get fields by name; **kw gets
 * those that no other parameter got.
 *
 * With rules->binds_by_place a function gets perf's arguments by position if it takes that many
 * (perf dies otherwise); misfits are the same. The names in ret are borrowed from callee and sc.
 * prelude_bind_done() frees the rest.
 */
int prelude_bind(const struct sonde_schema *sc, const struct prelude_callee *callee,
		 const struct sonde_rules *rules, struct prelude_bind *ret);
void prelude_bind_done(struct prelude_bind *b);
/* Writes one sentence about a misfit into buf, without the function's name. */
void prelude_misfit_text(const struct prelude_misfit *m, const struct sonde_schema *sc, char *buf,
			 size_t size);

/*
 * Callbacks for events other than samples: one table row per callback, for all records it takes.
 *
 *	context_switch throttle unthrottle auxtrace_error	records of the kernel, the recorder
 *	stat__EVENT stat__interval				counts of perf stat, one event each
 *	trace_lost trace_defect					sonde's own: losses and defects
 */
enum prelude_callback_from {
	/* A field of the record; `constant` if this kind of record has no such field. */
	PRELUDE_FROM_FIELD = 0,
	PRELUDE_FROM_TIME,        /* the event's time; all ones if not recorded */
	PRELUDE_FROM_TIME_IF_ANY, /* the event's time; -1 if not recorded */
	PRELUDE_FROM_CPU,
	PRELUDE_FROM_PID,
	PRELUDE_FROM_TID,
	PRELUDE_FROM_MISC, /* true if this bit of the record's misc is set */
	PRELUDE_FROM_CONSTANT
};

struct prelude_callback_arg {
	const char *name; /* the parameter's name */
	enum prelude_callback_from from;
	const char *field;
	int64_t constant;
};

#define PRELUDE_CALLBACK_ARGS 11 /* the largest number of any callback */

struct prelude_callback {
	const char *name;       /* NULL if it depends on the event: see prelude_callback_name() */
	const char *records[2]; /* names of their schemas */
	size_t nr_args;
	struct prelude_callback_arg args[PRELUDE_CALLBACK_ARGS];
};

extern const struct prelude_callback *const prelude_trace_lost, *const prelude_trace_defect;

/* Returns the callback for events of this schema; NULL if none. */
const struct prelude_callback *prelude_callback_of(const struct sonde_schema *sc);
/* Writes the name of the callback for this event into buf. Returns 0 or -ENAMETOOLONG. */
int prelude_callback_name(const struct prelude_callback *cb, const struct sonde_schema *sc,
			  const struct sonde_event *ev, char *buf, size_t size);

enum prelude_record_kind {
	PRELUDE_RECORD_INT,
	PRELUDE_RECORD_UINT,
	PRELUDE_RECORD_BOOL,
	PRELUDE_RECORD_TEXT
};
struct prelude_record_value {
	enum prelude_record_kind kind;
	int64_t i; /* also the value of BOOL */
	uint64_t u;
	const char *text; /* borrowed; valid as long as the event */
	size_t len;
};
/* The values of a callback's arguments for an event. */
void prelude_callback_values(const struct prelude_callback *cb, const struct sonde_schema *sc,
			     const struct sonde_event *ev,
			     struct prelude_record_value ret[PRELUDE_CALLBACK_ARGS]);
/* The values of trace_defect's arguments. */
void prelude_defect_values(const struct sonde_defect *d,
			   struct prelude_record_value ret[PRELUDE_CALLBACK_ARGS]);
/* The values of trace_lost's arguments when the time of the losses is unknown. */
void prelude_loss_values(uint64_t count, struct prelude_record_value ret[PRELUDE_CALLBACK_ARGS]);
/*
 * Decides which arguments a function gets. They are bound by name if every parameter has the name
 * of an argument. perf binds by position, so with binds_by_place a function with as many parameters
 * as arguments is bound by position. All other functions are bound by position, too: surplus
 * arguments are dropped, missing ones are the language's null. slots[i].field is the argument's
 * index. prelude_bind_done() frees the slots.
 */
int prelude_callback_bind(const struct prelude_callback *cb, const struct prelude_callee *c,
			  const struct sonde_rules *rules, struct prelude_bind *ret);

/* How the bytes of a field become a value. */
enum prelude_value {
	PRELUDE_INT,   /* width 1, 2, 4 or 8; enums (their labels are symbols) and bit-fields */
	PRELUDE_TEXT,  /* a string if prelude_is_text(), else bytes */
	PRELUDE_BYTES, /* raw bytes */
	PRELUDE_ZERO,  /* the number 0, for odd sizes */
	PRELUDE_FLOAT,
	PRELUDE_NESTED /* the members of a struct by name, each a value by these rules */
};
enum prelude_value prelude_value_kind(const struct sonde_field *f);
/* True for a number whose bytes are its value in the recording's byte order. */
static inline bool prelude_is_plain(const struct sonde_field *f)
{
	return f->kind < SONDE_FIELD_FLOAT && !f->byte_order;
}
/* True if an integer is signed for scripts; in perf only integers of 8 bytes are. */
bool prelude_value_signed(const struct sonde_field *f, const struct sonde_rules *rules);
/*
 * perf's test for text: the bytes end with NUL and are printable or white space in Latin-1 up to
 * the first NUL.
 */
bool prelude_is_text(const uint8_t *bytes, size_t len);

/*
 * Walks the definitions of a print format as scripts get them. With rules->defines_all_constants
 * they are perf's own sequence, in which every constant of the format is a definition of 0.
 * Otherwise they are the real tables, and the text that a print format prints for 0. state is
 * zeroed before the first step. Returns false if the step is omitted.
 */
struct prelude_defines {
	const char *flag_field; /* the field of the current table */
	bool has_zero;
};
bool prelude_define_wanted(struct prelude_defines *state, const struct sonde_define *d,
			   const struct sonde_rules *rules);
/* A label of an enum is signed if scripts see the field as signed. */
bool prelude_define_signed(const struct sonde_schema *sc, const struct sonde_define *d,
			   const struct sonde_rules *rules);

/*
 * perf's value of data_src if none was sampled: "not available". perf 6.12 sets that in more
 * members.
 */
#define PRELUDE_NO_DATA_SRC      0x5080021ull
#define PRELUDE_NO_DATA_SRC_LONG 0x1e05080021ull
static inline uint64_t prelude_no_data_src(const struct sonde_rules *rules)
{
	return rules->absent_data_src_is_long ? PRELUDE_NO_DATA_SRC_LONG : PRELUDE_NO_DATA_SRC;
}

/*
 * Rules that launchers read before the session is open. Names are those of the members of struct
 * sonde_rules; the list ends with name NULL.
 */
struct prelude_rule {
	const char *name;
	size_t off; /* offset of a uint32_t in struct sonde_rules */
};
extern const struct prelude_rule prelude_rules[];
/* The rules that a session's text selects; the default rules if it names no known version. */
const struct sonde_rules *prelude_rules_of_text(const char *text);
static inline uint32_t prelude_rule_value(const struct sonde_rules *rules,
					  const struct prelude_rule *r)
{
	return *(const uint32_t *)((const char *)rules + r->off);
}

/*
 * In names.c. Returns the handler name that a function's name was probably meant to be; NULL if
 * none. Functions of a script may resemble handlers (print_unhandled), so a name with more than a
 * quarter of wrong letters is no misspelling.
 */
const char *prelude_meant(const struct sonde_nearest *n);

#endif
