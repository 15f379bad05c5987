/* SPDX-License-Identifier: MIT */
/* What cannot work, before anything starts. */
#include <stdarg.h>
#include <stdio.h>

#include "needs_internal.h"
#include "prelude.h"

const char *prelude_needs_text(const struct prelude_needs *n)
{
	return n->text ? n->text : "";
}

const char *prelude_needs_line(struct prelude_needs *n)
{
	return n->next_line < n->lines.n ? n->lines.v[n->next_line++] : NULL;
}

/* The program is wrong: returns 1, or -ENOMEM. */
static int __attribute__((format(printf, 2, 3)))
needs_wrong(struct prelude_needs *n, const char *fmt, ...)
{
	va_list args;
	int len;

	free(n->text);
	va_start(args, fmt);
	len = vasprintf(&n->text, fmt, args);
	va_end(args);
	if (len >= 0)
		return 1;
	n->text = NULL;
	return -ENOMEM;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The place of the first handler that names an event; "" if it is a pattern's or a pair's. */
static const char *needs_place_of(const struct prelude_needs *n, const char *name,
				  const char **ret_colon)
{
	for (size_t i = 0; i < n->nr_users; i++)
		if (n->users[i].is_handler && texts_has(&n->users[i].events, name)) {
			*ret_colon = ": ";
			return n->users[i].place;
		}
	*ret_colon = "";
	return "";
}

static int needs_no_such_event(struct prelude_needs *n, const char *name)
{
	struct sonde_nearest near = { .size = sizeof(near), .wanted = name };
	const char *colon, *place = needs_place_of(n, name, &colon), *meant;

	if (needs_list_tracepoints(n) < 0)
		return -ENOMEM;
	for (char **known = n->tracepoints; *known; known++)
		sonde_nearest_offer(&near, *known);
	meant = prelude_meant(&near);
	if (meant)
		return needs_wrong(n, "%s%sthis kernel has no event '%s'; did you mean '%s'?",
				   place, colon, name, meant);
	return needs_wrong(n, "%s%sthis kernel has no event '%s'; sonde list tracepoint names them",
			   place, colon, name);
}

/* Another failure to read a format: the causes of the library. */
static int needs_unreadable(struct prelude_needs *n, const char *name)
{
	const char *colon, *place = needs_place_of(n, name, &colon);
	struct sonde_tracepoint *t;

	if (sonde_tracepoint_open(&t, name) >= 0) {
		sonde_tracepoint_close(t);
		return 0;
	}
	return needs_wrong(n, "%s%s%s", place, colon, sonde_error_text());
}

int prelude_needs_check_events(struct prelude_needs *n, const struct prelude_wants *w,
			       bool *ret_may_read)
{
	const struct prelude_want *want;
	int r = 0;

	*ret_may_read = true;
	for (size_t i = 0; !r && (want = prelude_wants_at(w, i)); i++) {
		const struct needs_type *t;

		if (!prelude_is_tracepoint(want->name) || prelude_is_glob(want->name))
			continue;
		t = needs_format(n, want->name);
		if (!t)
			return -ENOMEM;
		if (t->code == -ENOENT)
			r = needs_no_such_event(n, want->name);
		else if (t->code == -EACCES || t->code == -EPERM)
			*ret_may_read = false;
		else if (t->code < 0)
			r = needs_unreadable(n, want->name);
	}
	return r;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* condition: the field is one of it; NULL if a handler or an aggregation asks for it. */
static int needs_no_such_field(struct prelude_needs *n, const struct needs_user *u,
			       const char *condition, const char *pattern,
			       const struct needs_types *types, const char *field)
{
	struct sonde_nearest near = { .size = sizeof(near), .wanted = field };
	const char *meant, *quote = condition ? "'" : "", *behind = condition ? "': " : "";
	const char *what = types->n > 1 ? "no event of '" : "",
		   *has = types->n > 1 ? "' has a" : " has no";

	for (size_t i = 0; i < types->n; i++)
		for (size_t j = 0; j < types->v[i]->fields.n; j++)
			sonde_nearest_offer(&near, types->v[i]->fields.v[j]);
	meant = prelude_meant(&near);
	condition = condition ? condition : "";
	if (!strcmp(field, "addr"))
		return needs_wrong(n,
				   "%s: %s%s%s%s%s%s field '%s': it was recorded without addresses "
				   "(-d)",
				   u->place, quote, condition, behind, what, pattern, has, field);
	if (meant)
		return needs_wrong(n, "%s: %s%s%s%s%s%s field '%s'; did you mean '%s'?", u->place,
				   quote, condition, behind, what, pattern, has, field, meant);
	return needs_wrong(n, "%s: %s%s%s%s%s%s field '%s'", u->place, quote, condition, behind,
			   what, pattern, has, field);
}

static int needs_check_fields(struct prelude_needs *n, const struct needs_user *u,
			      const char *condition, const char *pattern,
			      const struct needs_types *types, const struct texts *fields)
{
	for (size_t i = 0; types->n && i < fields->n; i++) {
		bool found = false;

		for (size_t j = 0; j < types->n && !found; j++)
			found = needs_has(n, types->v[j], fields->v[i]);
		if (!found)
			return needs_no_such_field(n, u, condition, pattern, types, fields->v[i]);
	}
	return 0;
}

/* A line about the types that do not have a field, unless this pattern of the handler has one. */
static int needs_report_without(struct prelude_needs *n, const struct needs_user *u,
				const char *pattern, const struct needs_types *types,
				const char *field)
{
	size_t without = 0, len = 0, shown = 0;
	char *key, *line = NULL;
	FILE *out;
	int r = 0;

	for (size_t i = 0; i < types->n; i++)
		without += !needs_has(n, types->v[i], field);
	if (!without)
		return 0;
	if (asprintf(&key, "%s\n%s", u->place, pattern) < 0)
		return -ENOMEM;
	if (!texts_has(&n->left_out, key) && !(r = texts_add(&n->left_out, key)) &&
	    (out = open_memstream(&line, &len))) {
		fprintf(out,
			"%s: not called for %zu of the %zu events of '%s', which have no field "
			"'%s': ",
			u->place, without, types->n, pattern, field);
		for (size_t i = 0; i < types->n && shown < 3; i++)
			if (!needs_has(n, types->v[i], field))
				fprintf(out, "%s%s", shown++ ? ", " : "", types->v[i]->name);
		if (without > 3)
			fputs(", ...", out);
		r = fclose(out) ? -ENOMEM : texts_add(&n->lines, line);
	}
	free(line);
	free(key);
	return r;
}

static int needs_check_pattern(struct prelude_needs *n, const struct needs_user *u,
			       const char *pattern)
{
	struct texts fields = { 0 }, names = { 0 };
	struct needs_types types = { 0 };
	int r = needs_asked(u, &fields);

	if (!r && (fields.n || u->condition))
		r = needs_types_of(n, pattern, &types);
	if (!r)
		r = needs_check_fields(n, u, NULL, pattern, &types, &fields);
	/* Conditions on single tracepoints are the kernel's, which is asked before the start. */
	if (!r && (prelude_is_glob(pattern) || prelude_is_pair(pattern))) {
		r = needs_condition_fields(u->condition, &names);
		if (!r)
			r = needs_check_fields(n, u, u->condition, pattern, &types, &names);
	}
	for (size_t i = 0; u->is_handler && types.n && i < u->fields.n && !r; i++)
		r = needs_report_without(n, u, pattern, &types, u->fields.v[i]);
	free(types.v);
	texts_done(&fields);
	texts_done(&names);
	return r;
}

int prelude_needs_check_users(struct prelude_needs *n)
{
	int r = 0;

	for (size_t i = 0; i < n->nr_users && !r; i++)
		for (size_t j = 0; j < n->users[i].events.n && !r; j++)
			r = needs_check_pattern(n, &n->users[i], n->users[i].events.v[j]);
	return r;
}
