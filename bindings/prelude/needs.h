/* SPDX-License-Identifier: MIT */
/*
 * What the handlers and aggregations of a program need, once for all languages: the events to
 * record with the kernel's filters, settings of the recorder, lines of the session, and what cannot
 * work.
 *
 *	struct prelude_needs *n = prelude_needs_new();
 *	prelude_needs_put(n, "own", "comm");              handlers may ask every event for it
 *	prelude_needs_put(n, "handler", "x.py:3: f()");   its place; what follows is this handler's
 *	prelude_needs_put(n, "event", "sched:*");
 *	prelude_needs_put(n, "field", "next_pid");
 *	prelude_needs_put(n, "condition", "next_pid > 0");
 *	prelude_needs_put(n, "callchain", "");
 *	prelude_needs_put(n, "aggregate", "count()");     has "key", too
 *	prelude_needs_put(n, "lost", "");                 somebody gets losses
 *	prelude_needs_put(n, "given", "sched:*");         recorded completely, for others
 *	prelude_needs_wants(n, &wants);
 *
 * Functions that return int: 0 on success; 1 if the program is wrong, which prelude_needs_text()
 * says; a negative errno, for which sonde_error_text() has the causes, or -ENOMEM.
 */
#ifndef SONDE_PRELUDE_NEEDS_H
#define SONDE_PRELUDE_NEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sonde/sonde.h"
#include "wants.h"

/* Values of a sample that handlers may ask for by name; ends with a NULL name. */
struct prelude_sampled {
	const char *name;
	unsigned bit; /* of sonde_sample.present and sonde_schema_sampled() */
	size_t offset;
};
extern const struct prelude_sampled prelude_sampled[];

/*
 * True if a pattern of a handler names an event type: tracepoints also without their system,
 * samples also without their modifiers.
 */
bool prelude_names(const char *pattern, const char *name);
/*
 * The event for the recorder: software events that are no clocks give a sample for each occurrence.
 * By default samples are taken at a frequency, and most occurrences have none. NULL if there is no
 * memory; free() frees it.
 */
char *prelude_each_occurrence(const char *name);
/*
 * Where the processor does not count cycles, the recorder takes cpu-clock, and reports it: the
 * event whose samples a handler of this name gets.
 */
const char *prelude_clocked(const char *name);

struct prelude_needs;

struct prelude_needs *prelude_needs_new(void);
void prelude_needs_free(struct prelude_needs *n); /* NULL is allowed */
int prelude_needs_put(struct prelude_needs *n, const char *what, const char *text);
/* Takes the types of a session: those of a recording, or those that a recorder has opened. */
int prelude_needs_learn(struct prelude_needs *n, struct sonde_session *s);

/* What to record. The caller frees it. */
int prelude_needs_wants(struct prelude_needs *n, struct prelude_wants **ret);
/* Lines of settings of the recorder, "call-graph=fp\n". NULL if there is no memory; for free(). */
char *prelude_needs_settings(const struct prelude_needs *n);
/* What the text form of the session has for the program. NULL if there is no memory; for free(). */
char *prelude_needs_lines(const struct prelude_needs *n);

/*
 * 1 if this machine does not have a tracepoint that is wanted. *ret_may_read: this user may read
 * what they have.
 */
int prelude_needs_check_events(struct prelude_needs *n, const struct prelude_wants *w,
			       bool *ret_may_read);
/* 1 if an event does not have a field that the program names. */
int prelude_needs_check_users(struct prelude_needs *n);
const char *prelude_needs_text(const struct prelude_needs *n);
/*
 * The next line about types that a pattern names and that a handler cannot take, each once. NULL
 * after the last.
 */
const char *prelude_needs_line(struct prelude_needs *n);

#endif
