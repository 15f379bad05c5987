/* SPDX-License-Identifier: MIT */
/*
 * What a program of handlers records, once for all languages: the names and patterns of its
 * handlers and aggregations, each event once, and what the kernel's filter is.
 *
 *	struct prelude_wants *w = prelude_wants_new();
 *	prelude_wants_add(w, "sched:*", NULL);
 *	prelude_wants_add(w, "sched:sched_switch", "next_pid > 0");
 *	prelude_wants_merge(w);
 *	for (size_t i = 0; (want = prelude_wants_at(w, i)); i++)
 *		...                             "sched:*", completely
 */
#ifndef SONDE_PRELUDE_WANTS_H
#define SONDE_PRELUDE_WANTS_H

#include <stdbool.h>
#include <stddef.h>

/* ---- names of events ------------------------------------------------------------------------- */

/* True for a derived event, as "pair(sched:sched_wakeup,sched:sched_switch,pid)". */
bool prelude_is_pair(const char *name);
/* True for a pattern of tracepoints: "sched:*", but not "cpu/event=*". */
bool prelude_is_glob(const char *name);
/* True for the name of a tracepoint, or a pattern of some: "cpu-clock:u" is none. */
bool prelude_is_tracepoint(const char *name);
/* True if a pattern of the shell is the name's. */
bool prelude_is_like(const char *pattern, const char *name);

/*
 * The names of the kernel's tracepoints, as far as this user may read them: an array that ends with
 * NULL, for prelude_tracepoints_free(). NULL if there is no memory.
 */
char **prelude_tracepoints(void);
void prelude_tracepoints_free(char **names);

/* ---- the union ------------------------------------------------------------------------------- */

struct prelude_wants;

/* Borrowed from the wants. */
struct prelude_want {
	const char *name;
	const char *condition; /* of the kernel's filter; NULL: all events */
};

/* NULL if there is no memory. */
struct prelude_wants *prelude_wants_new(void);
void prelude_wants_free(struct prelude_wants *w); /* NULL is allowed */
/* Both texts are copied. Returns 0, or -1 if there is no memory, as prelude_wants_merge(). */
int prelude_wants_add(struct prelude_wants *w, const char *name, const char *condition);
/*
 * Each event is in it once afterwards: patterns that overlap become names, and a name that a
 * pattern covers goes into the pattern, which then has no condition. Conditions of one name are
 * alternatives. After it nothing is added.
 */
int prelude_wants_merge(struct prelude_wants *w);
/* In the order in which the names were added. NULL after the last. */
const struct prelude_want *prelude_wants_at(const struct prelude_wants *w, size_t i);

#endif
