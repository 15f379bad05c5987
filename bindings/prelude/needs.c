/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "needs_internal.h"

const char *const needs_own_keys[] = { "name",  "comm",  "pid",    "tid",    "cpu", "cgroup",
				       "index", "stack", "kstack", "ustack", NULL };
static const char *const stacks[] = { "kstack", "ustack", "stack", NULL };

/* ---- names ----------------------------------------------------------------------------------- */

bool prelude_names(const char *pattern, const char *name)
{
	const char *colon;

	if (!strcmp(pattern, name))
		return true;
	if (prelude_is_pair(name))
		return false;
	if (prelude_is_pair(pattern))
		return false;
	if (prelude_is_like(pattern, name))
		return true;
	if (!prelude_is_tracepoint(name)) {
		colon = strrchr(name, ':');
		return colon && strlen(pattern) == (size_t)(colon - name) &&
		       !strncmp(pattern, name, (size_t)(colon - name));
	}
	colon = strchr(name, ':');
	return !strchr(pattern, ':') && prelude_is_like(pattern, colon + 1);
}

struct needs_listed {
	const char *name;
	size_t len;
	bool is_there;
};

static void needs_look_at_listed(void *ctx, const struct sonde_listed_event *e)
{
	struct needs_listed *l = ctx;

	l->is_there |=
		(strlen(e->name) == l->len && !strncmp(e->name, l->name, l->len)) ||
		(e->alias && strlen(e->alias) == l->len && !strncmp(e->alias, l->name, l->len));
}

/* True if this machine has an event of a kind with this name. */
static bool needs_is_listed(uint32_t kind, const char *name, size_t len)
{
	const struct sonde_list_options o = { .size = sizeof(o), .kinds = kind };
	struct needs_listed l = { .name = name, .len = len };

	return sonde_list_events(&o, needs_look_at_listed, &l) >= 0 && l.is_there;
}

char *prelude_each_occurrence(const char *name)
{
	const size_t len = strcspn(name, ":");
	const char *modifiers = name[len] ? name + len + 1 : "";
	char *ret;

	if ((len >= 6 && !strncmp(name + len - 6, "-clock", 6)) ||
	    !needs_is_listed(SONDE_EVENT_SOFTWARE, name, len))
		return strdup(name);
	return asprintf(&ret, "%.*s/period=1,name=%s/%s", (int)len, name, name, modifiers) < 0
		       ? NULL
		       : ret;
}

const char *prelude_clocked(const char *name)
{
	const size_t len = strcspn(name, ":/");

	if ((len != 6 || strncmp(name, "cycles", 6)) &&
	    (len != 10 || strncmp(name, "cpu-cycles", 10)))
		return name;
	return needs_is_listed(SONDE_EVENT_HARDWARE, "cycles", 6) ? name : "cpu-clock";
}

/* ---- making and freeing ---------------------------------------------------------------------- */

struct prelude_needs *prelude_needs_new(void)
{
	return calloc(1, sizeof(struct prelude_needs));
}

void prelude_needs_free(struct prelude_needs *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->nr_users; i++) {
		struct needs_user *u = &n->users[i];

		texts_done(&u->events);
		texts_done(&u->fields);
		texts_done(&u->keys);
		free(u->place);
		free(u->condition);
	}
	free(n->users);
	needs_types_done(&n->learnt);
	needs_types_done(&n->formats);
	prelude_tracepoints_free(n->tracepoints);
	texts_done(&n->own);
	texts_done(&n->given);
	texts_done(&n->lines);
	texts_done(&n->left_out);
	free(n->text);
	free(n);
}

static int needs_add_user(struct prelude_needs *n, const char *place, bool is_handler)
{
	struct needs_user *bigger = realloc(n->users, (n->nr_users + 1) * sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	n->users = bigger;
	bigger[n->nr_users] =
		(struct needs_user){ .place = strdup(place), .is_handler = is_handler };
	if (!bigger[n->nr_users].place)
		return -ENOMEM;
	n->nr_users++;
	return 0;
}

int prelude_needs_put(struct prelude_needs *n, const char *what, const char *text)
{
	struct needs_user *u = n->nr_users ? &n->users[n->nr_users - 1] : NULL;

	if (!strcmp(what, "own"))
		return texts_add(&n->own, text);
	if (!strcmp(what, "given"))
		return texts_add(&n->given, text);
	if (!strcmp(what, "handler") || !strcmp(what, "aggregate"))
		return needs_add_user(n, text, *what == 'h');
	if (!strcmp(what, "lost")) {
		n->has_lost = true;
		return 0;
	}
	if (!u)
		return -EINVAL;
	if (!strcmp(what, "event"))
		return texts_add(&u->events, text);
	if (!strcmp(what, "field"))
		return texts_add(&u->fields, text);
	if (!strcmp(what, "key"))
		return texts_add(&u->keys, text);
	if (!strcmp(what, "callchain")) {
		u->has_callchain = true;
		return 0;
	}
	if (strcmp(what, "condition"))
		return -EINVAL;
	free(u->condition);
	u->condition = strdup(text);
	return u->condition ? 0 : -ENOMEM;
}

/* ---- what is needed -------------------------------------------------------------------------- */

int needs_asked(const struct needs_user *u, struct texts *ret)
{
	int r = 0;

	for (size_t i = 0; i < u->fields.n && !r; i++)
		r = texts_add(ret, u->fields.v[i]);
	for (size_t i = 0; i < u->keys.n && !r; i++) {
		const char *key = u->keys.v[i];

		if (!needs_is_one_of(needs_own_keys, key))
			r = texts_add(ret, key + (strncmp(key, "f_", 2) ? 0 : 2));
	}
	return r;
}

int needs_condition_fields(const char *condition, struct texts *ret)
{
	struct sonde_filter *f;
	const char *name;
	int r;

	if (!condition)
		return 0;
	r = sonde_filter_new(&f, NULL, condition);
	if (r < 0)
		return r;
	for (size_t i = 0; !r && (name = sonde_filter_field(f, i)); i++)
		r = texts_add(ret, name);
	sonde_filter_free(f);
	return r;
}

/*
 * The kernel takes a condition only if the event has all of its fields. An event without any is
 * not needed.
 */
static int needs_add_match(const struct prelude_needs *n, struct prelude_wants *w,
			   const struct needs_user *u, const struct needs_type *t,
			   const struct texts *fields, const struct texts *names, bool *ret_found)
{
	size_t has = 0;

	for (size_t i = 0; i < fields->n; i++)
		if (!needs_has(n, t, fields->v[i]))
			return 0;
	for (size_t i = 0; i < names->n; i++)
		has += needs_is_one_of(needs_values, names->v[i]) ||
		       texts_has(&t->fields, names->v[i]);
	if (names->n && !has)
		return 0;
	*ret_found = true;
	return prelude_wants_add(w, t->name, has == names->n ? u->condition : NULL) < 0 ? -ENOMEM
											: 0;
}

/* The events of a pattern that a handler or an aggregation can take. */
static int needs_want_matching(struct prelude_needs *n, struct prelude_wants *w,
			       const struct needs_user *u, const char *pattern)
{
	struct texts fields = { 0 }, names = { 0 };
	struct needs_types types = { 0 };
	bool found = false;
	int r = needs_asked(u, &fields);

	if (!r)
		r = needs_condition_fields(u->condition, &names);
	if (!r && (fields.n || names.n))
		r = needs_types_of(n, pattern, &types);
	for (size_t i = 0; i < types.n && !r; i++)
		r = needs_add_match(n, w, u, types.v[i], &fields, &names, &found);
	if (!r && !found && prelude_wants_add(w, pattern, u->condition) < 0)
		r = -ENOMEM;
	free(types.v);
	texts_done(&fields);
	texts_done(&names);
	return r;
}

static int needs_want(struct prelude_needs *n, struct prelude_wants *w, const struct needs_user *u,
		      const char *pattern)
{
	int r = 0;

	if (!prelude_is_pair(pattern)) {
		const bool is_tracepoint = prelude_is_tracepoint(pattern);

		if (is_tracepoint && prelude_is_glob(pattern))
			return needs_want_matching(n, w, u, pattern);
		return prelude_wants_add(w, pattern, is_tracepoint ? u->condition : NULL) < 0
			       ? -ENOMEM
			       : 0;
	}
	for (size_t i = 0; i < 2 && !r; i++) {
		char *name = needs_part(pattern, i);

		if (name)
			r = prelude_wants_add(w, name, NULL) < 0 ? -ENOMEM : 0;
		free(name);
	}
	return r;
}

int prelude_needs_wants(struct prelude_needs *n, struct prelude_wants **ret)
{
	struct prelude_wants *w = prelude_wants_new();
	int r = w ? 0 : -ENOMEM;

	for (size_t i = 0; i < n->given.n && !r; i++)
		r = prelude_wants_add(w, n->given.v[i], NULL) < 0 ? -ENOMEM : 0;
	for (size_t i = 0; i < n->nr_users && !r; i++)
		for (size_t j = 0; j < n->users[i].events.n && !r; j++)
			r = needs_want(n, w, &n->users[i], n->users[i].events.v[j]);
	if (!r && prelude_wants_merge(w) < 0)
		r = -ENOMEM;
	if (r < 0) {
		prelude_wants_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

/* True if a user asks samples, which are no tracepoints, for their addresses. */
static bool needs_addresses(const struct needs_user *u)
{
	bool has_samples = false;

	for (size_t i = 0; i < u->events.n; i++)
		has_samples |=
			!prelude_is_tracepoint(u->events.v[i]) && !prelude_is_pair(u->events.v[i]);
	return has_samples && (texts_has(&u->fields, "addr") || texts_has(&u->keys, "addr"));
}

char *prelude_needs_settings(const struct prelude_needs *n)
{
	bool has_stacks = false, has_cgroups = false, has_addresses = false;
	char *ret;

	for (size_t i = 0; i < n->nr_users; i++) {
		const struct needs_user *u = &n->users[i];

		has_stacks |= u->has_callchain;
		for (const char *const *key = stacks; *key; key++)
			has_stacks |= texts_has(&u->keys, *key);
		has_cgroups |= texts_has(&u->keys, "cgroup");
		has_addresses |= needs_addresses(u);
	}
	return asprintf(&ret, "%s%s%s", has_stacks ? "call-graph=fp\n" : "",
			has_cgroups ? "all-cgroups=1\n" : "", has_addresses ? "data=1\n" : "") < 0
		       ? NULL
		       : ret;
}

static int needs_choose(const struct prelude_needs *n, struct texts *ret)
{
	int r = 0;

	for (size_t i = 0; i < n->nr_users && !r; i++)
		for (size_t j = 0; j < n->users[i].events.n && !r; j++)
			if (!texts_has(ret, n->users[i].events.v[j]))
				r = texts_add(ret, n->users[i].events.v[j]);
	return r;
}

char *prelude_needs_lines(const struct prelude_needs *n)
{
	struct texts chosen = { 0 };
	char *ret = NULL;
	size_t len = 0;
	FILE *out = needs_choose(n, &chosen) ? NULL : open_memstream(&ret, &len);
	bool failed = !out;

	for (size_t i = 0; out && i < chosen.n; i++)
		if (prelude_is_pair(chosen.v[i]))
			fprintf(out, "pair=%.*s\n", (int)strlen(chosen.v[i]) - 6, chosen.v[i] + 5);
	if (out && (!chosen.n || n->has_lost))
		fputs("events=all\n", out);
	for (size_t i = 0; out && i < chosen.n; i++)
		fprintf(out, "%s%s%s", i ? "," : "event=", chosen.v[i],
			i + 1 < chosen.n ? "" : "\n");
	if (out)
		failed = fclose(out);
	texts_done(&chosen);
	if (failed)
		free(ret);
	return failed ? NULL : ret;
}
