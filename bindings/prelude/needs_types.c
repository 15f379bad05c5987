/* SPDX-License-Identifier: MIT */
/* The event types that a program names, as far as their fields are known. */
#include <stdio.h>

#include "needs_internal.h"

const struct prelude_sampled prelude_sampled[] = {
	{ "ip", 0, offsetof(struct sonde_sample, ip) },
	{ "addr", 3, offsetof(struct sonde_sample, addr) },
	{ "period", 8, offsetof(struct sonde_sample, period) },
	{ "weight", 14, offsetof(struct sonde_sample, weight) },
	{ "weight", 24, offsetof(struct sonde_sample, weight) },
	{ "data_src", 15, offsetof(struct sonde_sample, data_src) },
	{ "phys_addr", 19, offsetof(struct sonde_sample, phys_addr) },
	{ 0 },
};

const char *const needs_values[] = { "cpu", "CPU", "common_cpu", "comm", "COMM", NULL };

static void needs_type_free(struct needs_type *t)
{
	if (t) {
		texts_done(&t->fields);
		free(t->name);
	}
	free(t);
}

void needs_types_done(struct needs_types *types)
{
	for (size_t i = 0; i < types->n; i++)
		needs_type_free(types->v[i]);
	free(types->v);
	*types = (struct needs_types){ 0 };
}

/* Takes ownership of the type, which may be NULL. */
static struct needs_type *needs_types_add(struct needs_types *types, struct needs_type *t)
{
	struct needs_type **bigger =
		t ? realloc(types->v, (types->n + 1) * sizeof(struct needs_type *)) : NULL;

	if (!bigger) {
		needs_type_free(t);
		return NULL;
	}
	types->v = bigger;
	bigger[types->n++] = t;
	return t;
}

static struct needs_type *needs_type_new(const char *name)
{
	struct needs_type *t = calloc(1, sizeof(*t));

	if (t && !(t->name = strdup(name))) {
		free(t);
		return NULL;
	}
	return t;
}

static int needs_take_fields(struct needs_type *t, const struct sonde_schema *sc)
{
	size_t nr;
	const struct sonde_field *f = sonde_schema_fields(sc, &nr);
	int r = 0;

	for (size_t i = 0; i < nr && !r; i++)
		r = texts_add(&t->fields, f[i].name);
	return r;
}

int prelude_needs_learn(struct prelude_needs *n, struct sonde_session *s)
{
	needs_types_done(&n->learnt);
	for (uint32_t i = 0; i < sonde_session_schemas(s); i++) {
		const struct sonde_schema *sc = sonde_session_schema(s, i);
		struct needs_type *t;

		if (sonde_schema_kind(sc) != SONDE_TRACEPOINT &&
		    sonde_schema_kind(sc) != SONDE_SAMPLE)
			continue;
		t = needs_types_add(&n->learnt, needs_type_new(sonde_schema_name(sc)));
		if (!t || needs_take_fields(t, sc) < 0)
			return -ENOMEM;
		t->sampled = sonde_schema_sampled(sc);
	}
	return 0;
}

static struct needs_type *needs_format_known(const struct prelude_needs *n, const char *name)
{
	for (size_t i = 0; i < n->formats.n; i++)
		if (!strcmp(n->formats.v[i]->name, name))
			return n->formats.v[i];
	return NULL;
}

struct needs_type *needs_format(struct prelude_needs *n, const char *name)
{
	struct needs_type *t = needs_format_known(n, name);
	struct sonde_tracepoint *tracepoint;

	if (t)
		return t;
	t = needs_types_add(&n->formats, needs_type_new(name));
	if (!t)
		return NULL;
	t->sampled = UINT64_MAX;
	t->code = sonde_tracepoint_open(&tracepoint, name);
	if (t->code < 0)
		return t;
	t->code = needs_take_fields(t, sonde_tracepoint_schema(tracepoint));
	sonde_tracepoint_close(tracepoint);
	return t->code < 0 ? NULL : t;
}

static int needs_add_named(struct texts *to, const char *prefix, const char *name)
{
	char *text;
	int r;

	if (asprintf(&text, "%s%s", prefix, name) < 0)
		return -ENOMEM;
	r = texts_add(to, text);
	free(text);
	return r;
}

/* The fields of a pair: ns, those of its start, then those of its stop. */
static int needs_take_pair(struct needs_type *t, const struct needs_type *start,
			   const struct needs_type *stop)
{
	size_t nr_start;
	int r = texts_add(&t->fields, "ns");

	for (size_t i = 0; i < start->fields.n && !r; i++) {
		const char *f = start->fields.v[i];

		if (strncmp(f, "common_", 7))
			r = needs_add_named(&t->fields, strcmp(f, "ns") ? "" : "start_", f);
	}
	nr_start = t->fields.n;
	for (size_t i = 0; i < stop->fields.n && !r; i++) {
		const struct texts taken = { .v = t->fields.v, .n = nr_start };
		const char *f = stop->fields.v[i];

		if (strncmp(f, "common_", 7))
			r = needs_add_named(&t->fields, texts_has(&taken, f) ? "stop_" : "", f);
	}
	return r;
}

char *needs_part(const char *pair, size_t i)
{
	const char *p = pair + strlen("pair(");

	for (; i && *p; i--)
		p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',');
	return *p ? strndup(p, strcspn(p, ",)")) : NULL;
}

/* 1 and the type of a pair, 0 if its fields are unknown. */
static int needs_pair_type(struct prelude_needs *n, const char *pair, struct needs_type **ret)
{
	struct needs_type *parts[2] = { 0 }, *t = needs_format_known(n, pair);
	bool is_known = true;

	*ret = t;
	if (t)
		return 1;
	for (size_t i = 0; i < 2 && is_known; i++) {
		char *name = needs_part(pair, i);

		is_known = name && prelude_is_tracepoint(name) && !prelude_is_glob(name);
		if (is_known)
			parts[i] = needs_format(n, name);
		is_known = is_known && parts[i] && parts[i]->fields.n;
		free(name);
	}
	if (!is_known)
		return 0;
	t = needs_types_add(&n->formats, needs_type_new(pair));
	if (!t || needs_take_pair(t, parts[0], parts[1]) < 0)
		return -ENOMEM;
	t->is_pair = true;
	*ret = t;
	return 1;
}

bool needs_has(const struct prelude_needs *n, const struct needs_type *t, const char *field)
{
	if (texts_has(&t->fields, field))
		return true;
	if (t->is_pair)
		return needs_is_one_of(needs_values, field) || !strcmp(field, "pid") ||
		       !strcmp(field, "tid");
	for (const struct prelude_sampled *s = prelude_sampled; s->name; s++)
		if (!strcmp(s->name, field) && t->sampled >> s->bit & 1)
			return true;
	return texts_has(&n->own, field);
}

int needs_list_tracepoints(struct prelude_needs *n)
{
	if (!n->tracepoints)
		n->tracepoints = prelude_tracepoints();
	return n->tracepoints ? 0 : -ENOMEM;
}

/* Borrowed types: the array is the caller's. */
static int needs_push(struct needs_types *to, struct needs_type *t)
{
	struct needs_type **bigger =
		t ? realloc(to->v, (to->n + 1) * sizeof(struct needs_type *)) : NULL;

	if (!bigger)
		return -ENOMEM;
	to->v = bigger;
	bigger[to->n++] = t;
	return 0;
}

int needs_types_of(struct prelude_needs *n, const char *pattern, struct needs_types *ret)
{
	struct needs_type *pair;
	int r = 0;

	*ret = (struct needs_types){ 0 };
	if (prelude_is_pair(pattern)) {
		r = needs_pair_type(n, pattern, &pair);
		return r > 0 ? needs_push(ret, pair) : r;
	}
	for (size_t i = 0; i < n->learnt.n && !r; i++)
		if (prelude_names(pattern, n->learnt.v[i]->name))
			r = needs_push(ret, n->learnt.v[i]);
	if (n->learnt.n || !prelude_is_tracepoint(pattern))
		return r;
	if (!prelude_is_glob(pattern))
		return needs_push(ret, needs_format(n, pattern));
	r = needs_list_tracepoints(n);
	for (char **name = n->tracepoints; !r && *name; name++)
		if (prelude_is_like(pattern, *name))
			r = needs_push(ret, needs_format(n, *name));
	return r;
}
