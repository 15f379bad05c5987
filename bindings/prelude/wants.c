/* SPDX-License-Identifier: MIT */
#include "wants.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of events ------------------------------------------------------------------------- */

bool prelude_is_pair(const char *name)
{
	const size_t len = strlen(name);

	return len > strlen("pair(") && !strncmp(name, "pair(", 5) && name[len - 1] == ')';
}

bool prelude_is_glob(const char *name)
{
	return strchr(name, ':') && !strchr(name, '/') && strpbrk(name, "*?[");
}

bool prelude_is_tracepoint(const char *name)
{
	const char *colon = strchr(name, ':');

	if (!colon || colon[1 + strspn(colon + 1, "ukhGHpPSDIWeb")] == '\0' || strpbrk(name, "{/,"))
		return false;
	return colon - name != 3 || (strncmp(name, "pfm", 3) && strncmp(name, "mem", 3));
}

bool prelude_is_like(const char *pattern, const char *name)
{
	return !fnmatch(pattern, name, FNM_NOESCAPE);
}

/* ---- tracepoints ----------------------------------------------------------------------------- */

void prelude_tracepoints_free(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

static FILE *wants_open_list(void)
{
	FILE *in = fopen("/sys/kernel/tracing/available_events", "re");

	return in ? in : fopen("/sys/kernel/debug/tracing/available_events", "re");
}

char **prelude_tracepoints(void)
{
	size_t n = 0, room = 256, size = 0;
	char **names = calloc(room, sizeof(*names)), **bigger, *line = NULL;
	FILE *in = names ? wants_open_list() : NULL;
	bool is_whole = true;
	ssize_t len;

	while (in && is_whole && (len = getline(&line, &size, in)) > 0) {
		line[len - (line[len - 1] == '\n')] = '\0';
		if (n + 1 == room) {
			bigger = realloc(names, 2 * room * sizeof(*names));
			is_whole = bigger;
			if (!bigger)
				break;
			names = bigger;
			room *= 2;
		}
		names[n] = strdup(line);
		is_whole = names[n];
		n += is_whole;
		names[n] = NULL;
	}
	free(line);
	if (in)
		fclose(in);
	if (is_whole)
		return names;
	prelude_tracepoints_free(names);
	return NULL;
}

/* ---- the union ------------------------------------------------------------------------------- */

struct wants_entry {
	char *name;        /* owned */
	char **conditions; /* owned, and so are the texts: each once */
	size_t nr_conditions;
	bool is_whole;   /* somebody wants all events */
	bool is_removed; /* others stand for it */
	char *text;      /* owned: all conditions as one; set by merging */
	struct prelude_want want;
};

struct prelude_wants {
	struct wants_entry *v; /* owned */
	size_t n, room;
};

struct prelude_wants *prelude_wants_new(void)
{
	return calloc(1, sizeof(struct prelude_wants));
}

void prelude_wants_free(struct prelude_wants *w)
{
	for (size_t i = 0; w && i < w->n; i++) {
		struct wants_entry *e = &w->v[i];

		for (size_t j = 0; j < e->nr_conditions; j++)
			free(e->conditions[j]);
		free(e->conditions);
		free(e->name);
		free(e->text);
	}
	if (w)
		free(w->v);
	free(w);
}

/* The entry of a name, which is made if there is none. NULL if there is no memory. */
static struct wants_entry *wants_entry_of(struct prelude_wants *w, const char *name)
{
	const size_t room = w->room ? 2 * w->room : 16;
	struct wants_entry *v = w->v;
	char *own;

	for (size_t i = 0; i < w->n; i++)
		if (!v[i].is_removed && !strcmp(v[i].name, name))
			return &v[i];
	own = strdup(name);
	if (own && w->n == w->room) {
		v = realloc(v, room * sizeof(*v));
		if (v) {
			w->v = v;
			w->room = room;
		}
	}
	if (!own || !v) {
		free(own);
		return NULL;
	}
	v[w->n] = (struct wants_entry){ .name = own };
	return &v[w->n++];
}

static int wants_add_condition(struct wants_entry *e, const char *condition)
{
	char **bigger;

	for (size_t i = 0; i < e->nr_conditions; i++)
		if (!strcmp(e->conditions[i], condition))
			return 0;
	bigger = realloc(e->conditions, (e->nr_conditions + 1) * sizeof(*bigger));
	if (!bigger)
		return -1;
	e->conditions = bigger;
	bigger[e->nr_conditions] = strdup(condition);
	if (!bigger[e->nr_conditions])
		return -1;
	e->nr_conditions++;
	return 0;
}

int prelude_wants_add(struct prelude_wants *w, const char *name, const char *condition)
{
	struct wants_entry *e = wants_entry_of(w, name);

	if (!e)
		return -1;
	if (condition)
		return wants_add_condition(e, condition);
	e->is_whole = true;
	return 0;
}

static bool wants_is_pattern(const struct wants_entry *e)
{
	return !e->is_removed && prelude_is_glob(e->name);
}

static size_t wants_patterns_of(const struct prelude_wants *w, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += wants_is_pattern(&w->v[i]) && prelude_is_like(w->v[i].name, name);
	return n;
}

/* The names of a pattern get its conditions, and stand for it. */
static int wants_expand(struct prelude_wants *w, size_t at, char *const *known)
{
	w->v[at].is_removed = true;
	for (; *known; known++) {
		struct wants_entry *e;

		if (!prelude_is_like(w->v[at].name, *known))
			continue;
		e = wants_entry_of(w, *known);
		if (!e)
			return -1;
		e->is_whole |= w->v[at].is_whole;
		for (size_t i = 0; i < w->v[at].nr_conditions; i++)
			if (wants_add_condition(e, w->v[at].conditions[i]) < 0)
				return -1;
	}
	return 0;
}

static int wants_part_patterns(struct prelude_wants *w)
{
	char **known = prelude_tracepoints();
	const size_t n = w->n;
	bool overlap = false;
	int r = known ? 0 : -1;

	for (size_t i = 0; known && known[i] && !overlap; i++)
		overlap = wants_patterns_of(w, known[i]) > 1;
	for (size_t i = 0; overlap && !r && i < n; i++)
		if (wants_is_pattern(&w->v[i]))
			r = wants_expand(w, i, known);
	prelude_tracepoints_free(known);
	return r;
}

/* A pattern that covers another name records its events, too. */
static void wants_cover(struct prelude_wants *w, struct wants_entry *e)
{
	bool is_covered = false;

	for (size_t i = 0; i < w->n; i++) {
		struct wants_entry *other = &w->v[i];

		if (other == e || !wants_is_pattern(other) ||
		    !prelude_is_like(other->name, e->name))
			continue;
		other->is_whole = is_covered = true;
	}
	e->is_removed = is_covered;
}

/* "(a) || (b)"; one condition stays as it is. Returns -1 if there is no memory. */
static int wants_join(struct wants_entry *e)
{
	size_t len = 0;
	FILE *out;

	e->want = (struct prelude_want){ .name = e->name };
	if (e->is_whole || !e->nr_conditions)
		return 0;
	e->want.condition = e->conditions[0];
	if (e->nr_conditions == 1)
		return 0;
	out = open_memstream(&e->text, &len);
	if (!out)
		return -1;
	for (size_t i = 0; i < e->nr_conditions; i++)
		fprintf(out, "%s(%s)", i ? " || " : "", e->conditions[i]);
	if (fclose(out))
		return -1;
	e->want.condition = e->text;
	return 0;
}

int prelude_wants_merge(struct prelude_wants *w)
{
	size_t patterns = 0;

	for (size_t i = 0; i < w->n; i++)
		patterns += wants_is_pattern(&w->v[i]);
	if (patterns > 1 && wants_part_patterns(w) < 0)
		return -1;
	for (size_t i = 0; i < w->n; i++)
		if (!w->v[i].is_removed)
			wants_cover(w, &w->v[i]);
	for (size_t i = 0; i < w->n; i++)
		if (wants_join(&w->v[i]) < 0)
			return -1;
	return 0;
}

const struct prelude_want *prelude_wants_at(const struct prelude_wants *w, size_t i)
{
	for (size_t j = 0; j < w->n; j++)
		if (!w->v[j].is_removed && !i--)
			return &w->v[j].want;
	return NULL;
}
