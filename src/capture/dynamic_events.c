/* SPDX-License-Identifier: MIT */
#include "capture/dynamic_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* TYPE[LIMIT]:GROUP/NAME REST */
static int dynamic_events_parse_line(struct dynamic_events *d, const char *line, size_t len)
{
	struct dynamic_event e;
	const char *colon = memchr(line, ':', len);
	char *name, *slash;

	if (!colon)
		return 0;
	colon++;
	name = arena_strndup(&d->arena, colon,
			     strcspn(colon, " \t\n") < len - (size_t)(colon - line)
				     ? strcspn(colon, " \t\n")
				     : len - (size_t)(colon - line));
	if (!name)
		return err_nomem();
	slash = strchr(name, '/');
	if (!slash)
		return 0;
	*slash = ':';
	e.name = name;
	e.line = arena_strndup(&d->arena, line, len);
	if (!e.line)
		return err_nomem();
	return vec_push(&d->list, e);
}

int dynamic_events_parse(struct dynamic_events *d, const char *text)
{
	while (*text) {
		const size_t len = strcspn(text, "\n");

		TRY(dynamic_events_parse_line(d, text, len));
		text += len + (text[len] == '\n');
	}
	return 0;
}

static int dynamic_events_compare(const void *a, const void *b)
{
	const struct dynamic_event *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* False if the file cannot be read. *ret_error is set if memory runs out. */
static bool dynamic_events_add_file(const struct tracefs *t, struct dynamic_events *d,
				    const char *file, int *ret_error)
{
	char *text;
	size_t len;
	int r = tracefs_read(t, file, &text, &len);

	if (r < 0) {
		if (r == -ENOMEM)
			*ret_error = r;
		err_clear();
		return false;
	}
	r = dynamic_events_parse(d, text);
	free(text);
	if (r < 0)
		*ret_error = r;
	return true;
}

int dynamic_events_read(const struct tracefs *t, struct dynamic_events *ret)
{
	struct dynamic_events d = { 0 };
	int error = 0;

	if (!dynamic_events_add_file(t, &d, "dynamic_events", &error)) {
		dynamic_events_add_file(t, &d, "kprobe_events", &error);
		dynamic_events_add_file(t, &d, "uprobe_events", &error);
	}
	if (error) {
		dynamic_events_done(&d);
		return error == -ENOMEM ? err_nomem() : error;
	}
	if (d.list.n)
		qsort(d.list.v, d.list.n, sizeof(*d.list.v), dynamic_events_compare);
	*ret = d;
	return 0;
}

const char *dynamic_events_find(const struct dynamic_events *d, const char *name)
{
	const struct dynamic_event key = { .name = name }, *found;

	if (!d->list.n)
		return NULL;
	found = bsearch(&key, d->list.v, d->list.n, sizeof(*d->list.v), dynamic_events_compare);
	return found ? found->line : NULL;
}

void dynamic_events_done(struct dynamic_events *d)
{
	vec_done(&d->list);
	arena_done(&d->arena);
}
