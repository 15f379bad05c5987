/* SPDX-License-Identifier: MIT */
/* Markers in programs (SDT): perf adds the file to a name that several files have. */
#include "list.h"

#include <stdlib.h>
#include <string.h>

enum { ID_SHOWN = 12 }; /* digits of a build id */

static void list_markers_put(struct list_markers *m, bool is_next_equal)
{
	const struct sonde_listed_event e = {
		.size = sizeof(e),
		.kind = SONDE_EVENT_SDT,
		.name = m->name,
		.description = m->description,
		.file = m->file,
		.build_id = m->build_id,
	};
	char *shown = NULL;

	if (!m->is_ambiguous && !is_next_equal)
		list_put_as(m->l, &e, e.name);
	else if (asprintf(&shown, "%s@%s(%.*s)", e.name, e.file, ID_SHOWN, e.build_id) >= 0)
		list_put_as(m->l, &e, shown);
	free(shown);
}

static void list_markers_forget(struct list_markers *m)
{
	free(m->name);
	free(m->file);
	free(m->build_id);
	free(m->description);
	m->name = m->file = m->build_id = m->description = NULL;
}

void list_markers_add(void *markers, const struct sonde_listed_event *e)
{
	struct list_markers *m = markers;
	bool is_equal;

	if (!list_is_asked_for(m->l, e->name, NULL))
		return;
	is_equal = m->name && !strcmp(m->name, e->name);
	if (m->name)
		list_markers_put(m, is_equal);
	list_markers_forget(m);
	m->is_ambiguous = is_equal;
	m->name = strdup(e->name);
	m->file = strdup(e->file);
	m->build_id = strdup(e->build_id);
	m->description = e->description ? strdup(e->description) : NULL;
	if (!m->name || !m->file || !m->build_id)
		list_markers_forget(m); /* without memory it is left out */
}

void list_markers_end(struct list_markers *m)
{
	if (m->name)
		list_markers_put(m, false);
	list_markers_forget(m);
}
