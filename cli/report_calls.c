/* SPDX-License-Identifier: MIT */
#include "report_calls.h"

#include "report_branches.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *report_calls_file(const struct report_args *a,
				     const struct sonde_profile_place *p)
{
	const char *slash = strrchr(p->file, '/');

	return slash && !a->full_source_path ? slash + 1 : p->file;
}

/* The text of a frame, released with free(); NULL if there is no memory. */
static char *report_calls_text(const struct report_args *a, const struct sonde_profile_place *p)
{
	const char *inlined = p->is_inlined ? " (inlined)" : "";
	char *text;
	int r;

	if (!p->sym)
		r = asprintf(&text, "%#" PRIx64, p->ip); /* perf prints 0 without 0x */
	else if (a->graph_key == REPORT_BY_FUNCTION ||
		 (a->graph_key == REPORT_BY_SRCLINE && !p->file))
		r = asprintf(&text, "%s%s", p->sym, inlined);
	else if (p->file)
		r = asprintf(&text, "%s %s:%u%s", p->sym, report_calls_file(a, p), p->line,
			     inlined);
	else
		r = asprintf(&text, "%s +%" PRIu64 "%s", p->sym, p->dso_addr - p->sym_start,
			     inlined);
	return r < 0 ? NULL : text;
}

static const char *report_calls_name(struct report_calls *c, struct sonde_profile *p,
				     const struct report_args *a, uint32_t place)
{
	struct sonde_profile_place known = { .size = sizeof(known) };

	if (place >= c->nr_names) {
		const size_t n = ((size_t)place + 1) * 2;
		char **more = realloc(c->names, n * sizeof(*more));

		if (!more)
			return NULL;
		memset(more + c->nr_names, 0, (n - c->nr_names) * sizeof(*more));
		c->names = more;
		c->nr_names = n;
	}
	if (!c->names[place] && sonde_profile_place(p, place, &known) == 1)
		c->names[place] = report_calls_text(a, &known);
	return c->names[place] ? c->names[place] : "";
}

static void report_calls_drop_notes(struct report_calls *c)
{
	while (c->nr_notes)
		free(c->notes[--c->nr_notes]);
}

/* The text about the branches at a frame of a node; NULL if branches are not asked for. */
static const char *report_calls_note(struct report_calls *c, const struct sonde_profile *p,
				     const struct report_args *a, uint32_t node, uint32_t frame)
{
	struct sonde_profile_branches b = { .size = sizeof(b) };

	if (!a->counts_branches || sonde_profile_branches(p, node, frame, &b) != 1)
		return NULL;
	if (c->nr_notes == c->notes_room) {
		const size_t room = 2 * c->notes_room + 64;
		char **more = realloc(c->notes, room * sizeof(*more));

		if (!more)
			return NULL;
		c->notes = more;
		c->notes_room = room;
	}
	c->notes[c->nr_notes] = report_branches_text(&b, a->counts_as_perf);
	return c->notes[c->nr_notes++];
}

struct making {
	struct report_calls *c;
	struct sonde_profile *p;
	const struct report_args *a;
};

/* The number of frames of a list of siblings and of all nodes below them. */
static size_t report_calls_count(struct sonde_profile *p, uint32_t first)
{
	struct sonde_profile_node node = { .size = sizeof(node) };
	size_t n = 0;

	for (uint32_t i = first; i && sonde_profile_node(p, i, &node) == 1; i = node.next)
		n += node.nr_frames + report_calls_count(p, node.child);
	return n;
}

/* Copies siblings: a node of several frames becomes as many nodes, each the parent of the next. */
static struct report_call *report_calls_copy(struct making *m, uint32_t first,
					     const struct report_call *parent)
{
	struct sonde_profile_node node = { .size = sizeof(node) };
	struct report_call *ret = NULL, **at = &ret;

	for (uint32_t i = first; i && sonde_profile_node(m->p, i, &node) == 1; i = node.next) {
		struct report_call *last = NULL;

		for (uint32_t f = 0; f < node.nr_frames; f++) {
			struct report_call *n = &m->c->nodes[m->c->nr++];

			*n = (struct report_call){
				.name = report_calls_name(m->c, m->p, m->a, node.frames[f]),
				.note = report_calls_note(m->c, m->p, m->a, i, f),
				.cumul = node.period,
				.cumul_count = node.samples,
				.parent = last ? last : parent,
			};
			if (last)
				last->children = n;
			else
				*at = n;
			if (!last)
				at = &n->next;
			last = n;
		}
		if (!last)
			continue;
		last->hit = node.hit_period;
		last->hit_count = node.hit_samples;
		last->children = report_calls_copy(m, node.child, last);
	}
	return ret;
}

int report_calls_make(struct report_calls *c, struct sonde_profile *p, const struct report_args *a,
		      uint32_t table, uint64_t row, uint64_t least, struct report_call **ret)
{
	struct making m = { c, p, a };
	uint32_t root;
	size_t n;
	int r = sonde_profile_tree_above(p, table, row, least, &root);

	if (r <= 0)
		return r;
	n = report_calls_count(p, root);
	if (n > c->room) {
		struct report_call *more = realloc(c->nodes, 2 * n * sizeof(*more));

		if (!more)
			return -ENOMEM;
		c->nodes = more;
		c->room = 2 * n;
	}
	c->nr = 0;
	report_calls_drop_notes(c);
	*ret = report_calls_copy(&m, root, NULL);
	return *ret != NULL;
}

void report_calls_done(struct report_calls *c)
{
	for (size_t i = 0; i < c->nr_names; i++)
		free(c->names[i]);
	free(c->names);
	report_calls_drop_notes(c);
	free(c->notes);
	free(c->nodes);
}
