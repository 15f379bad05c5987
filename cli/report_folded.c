/* SPDX-License-Identifier: MIT */
#include "report_folded.h"

#include "flame_fill.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The names of a path, outermost first: names[0..depth]. */
struct folded_line {
	uint32_t *names; /* owned; indexes into the names of the tree */
	uint32_t room;
};

/* A semicolon separates names and a line ends with a number: neither may be read inside a name. */
static void folded_put_name(FILE *out, const char *name)
{
	for (; *name; name++)
		putc(*name == ';' ? ':' : *name == '\n' ? ' ' : *name, out);
}

static int folded_set(struct folded_line *line, uint32_t depth, uint32_t name)
{
	if (depth >= line->room) {
		const uint32_t room = depth + depth / 2 + 64;
		uint32_t *more = reallocarray(line->names, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		line->names = more;
		line->room = room;
	}
	line->names[depth] = name;
	return 0;
}

static int folded_put_tree(FILE *out, struct flame *f, bool by_period, struct folded_line *line)
{
	int r = flame_finish(f, 0);

	for (struct flame_step s = { 0 }; r >= 0 && flame_next(f, &s);) {
		const struct flame_sums *self = &f->nodes[s.node].self[FLAME_NOW];
		const uint64_t n = by_period ? self->weight : self->count;

		if (!s.depth)
			continue; /* the root, which has no frame */
		r = folded_set(line, s.depth, f->frames[f->nodes[s.node].frame].name);
		if (r < 0 || !n)
			continue;
		for (uint32_t i = 1; i <= s.depth; i++) {
			folded_put_name(out, f->names.text[line->names[i]]);
			putc(i < s.depth ? ';' : ' ', out);
		}
		fprintf(out, "%" PRIu64 "\n", n);
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
	free(line.names);
	flames_done(&fs);
	return r;
}
