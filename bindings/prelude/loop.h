/* SPDX-License-Identifier: MIT */
/*
 * The run of a script, once for all languages: the next event -> the slot of its type -> the
 * script's function for it -> the call. A language has a constant table of its own functions and
 * calls script_next():
 *
 *	static const struct script_lang lang = { .slot_init = ..., .find_handler = ..., ... };
 *
 *	script_begin(r, &lang);
 *	while ((code = script_next(r, &lang)) > 0)
 *		...                                     only if lang.call() returns 1
 *	if (!code)
 *		code = script_end(r, &lang);
 *	script_done(r, &lang);
 *
 * script_next() is inlined into the language's file. The table is constant there, so the compiler
 * calls the functions of the table directly and inlines them: an event costs no indirect call.
 * Steps that do not run for each event are in loop.c.
 *
 * Functions return 0 on success and a negative value on failure, unless their comment says
 * otherwise. The language keeps the text of the failure (its exception); the loop only ends the
 * run.
 */
#ifndef SONDE_PRELUDE_LOOP_H
#define SONDE_PRELUDE_LOOP_H

#include <errno.h>

#include "prelude.h"

/* The state of one event type in a run; the language's own slot begins with it. */
struct script_slot {
	const struct sonde_schema *sc;
	const struct prelude_callback *callback; /* NULL if no callback takes these events */
	enum sonde_schema_kind kind;
	bool has_callchain;
	bool is_defined;  /* the script knows the flags and symbols of the fields */
	bool is_refused;  /* the session drops these events */
	bool has_handler; /* last result of find_handler() */
};

/* The state of one kind of defect as last delivered to the script. */
struct script_delivered {
	const char *name; /* borrowed from the session, which has one text per kind */
	uint64_t count;
};
#define SCRIPT_DELIVERED 64 /* more than the number of kinds of defects */

struct script_run {
	struct sonde_session *s;
	const struct sonde_rules *rules;
	/* the event whose function is called; NULL outside of events */
	const struct sonde_event *ev;
	/* Events borrowed from the session; those from batch_at on are still to be handled. */
	const struct sonde_event *const *batch;
	size_t nr_batch, batch_at;
	size_t max_batch;            /* set by script_begin() */
	struct script_slot **slots;  /* by schema id; NULL before the first event of the type */
	size_t nr_slots, nr_refused; /* nr_refused: slots with `is_refused` set */
	size_t nr_bound;             /* schemas whose handlers bind() has seen */
	struct script_delivered delivered[SCRIPT_DELIVERED];
	size_t nr_delivered;
	uint64_t nr_lost;     /* lost events, according to the records of losses */
	bool redefines;       /* the script gets the definitions before each event */
	bool has_called;      /* a function of the script has taken an event */
	bool has_passed_over; /* at least one sample was taken by no function */
};

/*
 * Marks a function of the table that is called for each event: it is inlined although its address
 * is in the table.
 */
#define SCRIPT_HOT static inline __attribute__((always_inline))

/* Functions of a language. NULL is allowed only where the comment says so. */
struct script_lang {
	const char *separator; /* between an event's system and name in the name of its handler */

	/*
	 * Called once per event type: a slot of slot_size bytes begins with struct script_slot,
	 * which is filled in; the rest is zero. slot_done() releases what the slot holds, also
	 * after slot_init() failed.
	 */
	size_t slot_size;
	int (*slot_init)(struct script_run *r, struct script_slot *slot);
	void (*slot_done)(struct script_run *r, struct script_slot *slot);
	/*
	 * Stores the script's function of that name, borrowed, in *ret. Returns 1 if there is one,
	 * 0 if not. For functions that are seldom called: callbacks, and handlers before the first
	 * event. slot is set if the name is that of its callback; it may be NULL.
	 */
	int (*find_function)(struct script_run *r, const struct script_slot *slot, const char *name,
			     void **ret);
	/* Checks the parameters of a handler that exists before the first event. May be NULL. */
	int (*bind)(struct script_run *r, struct script_slot *slot, void *function);
	/* Passes on one definition, if the script has a function for its kind. */
	int (*define)(struct script_run *r, struct script_slot *slot, const struct sonde_define *d);
	int (*call_callback)(struct script_run *r, const struct prelude_callback *cb,
			     void *function, const struct prelude_record_value *values);

	/*
	 * Calls sonde_session_fill(), which may wait, with the language's own steps before and
	 * after it. Returns the result of that call.
	 */
	int (*fill)(struct script_run *r);
	/* Reports that the library failed with this code. Returns a negative value. */
	int (*failed)(struct script_run *r, int code);

	/* The functions below are called for each event: SCRIPT_HOT. */

	/* Called before the loop asks for the next event. May be NULL. */
	void (*between)(struct script_run *r);
	/*
	 * Called for each event. Returns 1 if the event needs no handler call, 0 if its handler is
	 * next. May be NULL.
	 */
	int (*event)(struct script_run *r, struct script_slot *slot);
	/*
	 * True if find_handler() may now find a different function. If NULL, it is called each
	 * time.
	 */
	bool (*has_changed)(struct script_run *r, struct script_slot *slot);
	/*
	 * Stores the function that takes samples of this type in the slot. Returns 1 if there is
	 * one, 0 if not.
	 */
	int (*find_handler)(struct script_run *r, struct script_slot *slot);
	/* Stores the arguments for the current event in the slot. */
	int (*make_args)(struct script_run *r, struct script_slot *slot);
	/* Calls the handler. Returns 1 if the language calls it when script_next() has returned. */
	int (*call)(struct script_run *r, struct script_slot *slot);

	/*
	 * Called only while a slot is refused, after code of the script has run. Returns true if a
	 * function for the events of a refused slot may exist now.
	 */
	bool (*may_want)(struct script_run *r);
	/* Called when a slot was refused: records what may_want() compares. May be NULL. */
	void (*refused)(struct script_run *r, struct script_slot *slot);
};

/* Called before the first script_next(); r->s is set. */
int script_begin(struct script_run *r, const struct script_lang *lang);
/*
 * Called after the last event: delivers losses without a time, and defects that the script has not
 * got yet.
 */
int script_end(struct script_run *r, const struct script_lang *lang);
/* Frees the slots. */
void script_done(struct script_run *r, const struct script_lang *lang);

/* Returns the slot of a schema, which is made if it is new; NULL on failure. */
struct script_slot *script_slot(struct script_run *r, const struct script_lang *lang, uint32_t id);

/* Parts of script_next(). */
int script_fill(struct script_run *r, const struct script_lang *lang);
/* Fetches the next events that are in memory. Returns 1, or 0 if there are none. */
int script_read(struct script_run *r, const struct script_lang *lang);
int script_define(struct script_run *r, const struct script_lang *lang, struct script_slot *slot);
int script_record(struct script_run *r, const struct script_lang *lang, struct script_slot *slot);
void script_pass_over(struct script_run *r, const struct script_lang *lang,
		      struct script_slot *slot);
void script_want_all(struct script_run *r);
/* Ends the script's run: no further event is delivered. */
void script_stop(struct script_run *r);

/*
 * Called after code of the script has run: the code may have defined functions for refused events.
 */
static inline void script_ran(struct script_run *r, const struct script_lang *lang)
{
	if (r->nr_refused && lang->may_want(r))
		script_want_all(r);
}

SCRIPT_HOT int script_sample(struct script_run *r, const struct script_lang *lang,
			     struct script_slot *slot)
{
	int code;

	if (__builtin_expect(!slot->is_defined, 0) && (code = script_define(r, lang, slot)) < 0)
		return code;
	if (!lang->has_changed || lang->has_changed(r, slot)) {
		code = lang->find_handler(r, slot);
		if (code < 0)
			return code;
		slot->has_handler = code;
		r->has_called |= slot->has_handler;
	}
	if (!slot->has_handler) {
		script_pass_over(r, lang, slot);
		return 0;
	}
	code = lang->make_args(r, slot);
	if (code < 0)
		return code;
	code = lang->call(r, slot);
	script_ran(r, lang);
	return code;
}

/* Serves events. Returns 1 if call() returned 1, 0 after the last event. */
SCRIPT_HOT int script_next(struct script_run *r, const struct script_lang *lang)
{
	for (;;) {
		const struct sonde_event *ev;
		struct script_slot *slot;
		int code;

		if (lang->between)
			lang->between(r);
		r->ev = NULL;
		if (r->batch_at == r->nr_batch) {
			code = script_read(r, lang);
			if (code < 0)
				return code;
			if (!code) {
				code = script_fill(r, lang);
				if (code <= 0)
					return code;
				continue;
			}
		}
		ev = r->batch[r->batch_at++];
		slot = ev->schema < r->nr_slots ? r->slots[ev->schema] : NULL;
		if (__builtin_expect(!slot, 0) && !(slot = script_slot(r, lang, ev->schema)))
			return -ENOMEM;
		if (__builtin_expect(slot->is_refused, 0))
			continue; /* refused since it was decoded */
		r->ev = ev;
		code = lang->event ? lang->event(r, slot) : 0;
		if (code > 0) {
			script_ran(r, lang);
			continue;
		}
		if (!code)
			code = __builtin_expect(slot->kind <= SONDE_SAMPLE, 1)
				       ? script_sample(r, lang, slot)
				       : script_record(r, lang, slot);
		if (code)
			return code;
	}
}

#endif
