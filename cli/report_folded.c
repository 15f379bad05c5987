/* SPDX-License-Identifier: MIT */
#include "report_folded.h"

#include "flame_fill.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/*
 * A path as text, "main;leaf", and the offsets of its names. A callee replaces the text after its
 * caller.
 */
struct folded_line {
	char *text;     /* owned */
	size_t *begins; /* owned, by depth */
	size_t room;
	uint32_t depths;
};

static int folded_reserve(struct folded_line *line, size_t len, uint32_t depth)
{
	if (len > line->room) {
		const size_t room = len + len / 2 + 256;
		char *more = realloc(line->text, room);

		if (!more)
			return -ENOMEM;
		line->text = more;
		line->room = room;
	}
	if (depth >= line->depths) {
		const uint32_t depths = depth + depth / 2 + 64;
		size_t *more = reallocarray(line->begins, depths, sizeof(*more));

		if (!more)
			return -ENOMEM;
		line->begins = more;
		line->depths = depths;
	}
	return 0;
}

/*
 * Puts the name of a frame after those of its callers; depth counts from 0. A semicolon separates
 * names and a number ends a line, so neither may be part of a name. Returns the length of the path
 * or -ENOMEM.
 */
static ssize_t folded_put_name(struct folded_line *line, uint32_t depth, const char *name)
{
	const size_t begin = depth ? line->begins[depth] : 0, len = strlen(name);
	char *to;

	if (folded_reserve(line, begin + len + 1, depth + 1) < 0)
		return -ENOMEM;
	to = line->text + begin;
	for (size_t i = 0; i < len; i++)
		to[i] = name[i] == ';' ? ':' : name[i] == '\n' ? ' ' : name[i];
	to[len] = ';';
	line->begins[depth + 1] = begin + len + 1;
	return (ssize_t)(begin + len);
}

static int folded_put_tree(FILE *out, struct flame *f, bool by_period, struct folded_line *line)
{
	int r = flame_finish(f, 0);

	for (struct flame_step s = { 0 }; r >= 0 && flame_next(f, &s);) {
		const struct flame_node *n = &f->nodes[s.node];
		const uint64_t value =
			by_period ? n->self[FLAME_NOW].weight : n->self[FLAME_NOW].count;
		ssize_t len;

		if (!s.depth)
			continue; /* the root, which has no frame */
		len = folded_put_name(line, s.depth - 1, f->names.text[f->frames[n->frame].name]);
		if (len < 0)
			return -ENOMEM;
		if (!value)
			continue;
		fwrite(line->text, 1, (size_t)len, out);
		fprintf(out, " %" PRIu64 "\n", value);
	}
	return r;
}

int report_folded(FILE *out, struct sonde_profile *p, const char *weight)
{
	const bool by_period = weight && !strcmp(weight, "period");
	struct flames fs = { .by = "comm" };
	struct folded_line line = { 0 };
	int r = flames_fill_profile(&fs, p, FLAME_NOW);

	for (size_t i = 0; i < fs.nr && r >= 0; i++)
		r = folded_put_tree(out, fs.graphs[i], by_period, &line);
	free(line.text);
	free(line.begins);
	flames_done(&fs);
	return r;
}
