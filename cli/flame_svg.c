/* SPDX-License-Identifier: MIT */
#include "flame_draw.h"

#include "pages.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In pixels; flamegraph.svg.js knows LEFT and WIDTH. */
enum { LEFT = 10, WIDTH = 1180, TOP = 52, ROW = 16, FOOT = 10 };
static const double letter = 6.7; /* width of a letter */

struct flame_svg {
	const struct flame *f;
	const struct flame_picture *picture;
	uint32_t deepest;
};

static uint32_t flame_svg_deepest(const struct flame *f)
{
	uint32_t deepest = 0;

	for (struct flame_step s = { 0 }; flame_next(f, &s);)
		deepest = s.depth > deepest ? s.depth : deepest;
	return deepest;
}

static int flame_svg_height(FILE *out, const void *ctx)
{
	const struct flame_svg *svg = ctx;

	fprintf(out, "%" PRIu32, TOP + (svg->deepest + 1) * ROW + FOOT);
	return 0;
}

/* One channel of a colour given by hue (degrees), saturation and lightness (0 to 1). */
static unsigned flame_svg_channel(double hue, double saturation, double light, double which)
{
	const double k = fmod(which + hue / 30, 12);
	const double a = saturation * fmin(light, 1 - light);
	const double c = light - a * fmax(-1, fmin(fmin(k - 3, 9 - k), 1));

	return (unsigned)lrint(255 * c);
}

static void flame_svg_color(FILE *out, double hue, double saturation, double light)
{
	fprintf(out, " fill=\"#%02x%02x%02x\"", flame_svg_channel(hue, saturation, light, 0),
		flame_svg_channel(hue, saturation, light, 8),
		flame_svg_channel(hue, saturation, light, 4));
}

static double flame_svg_share(const struct flame *f, uint32_t node, enum flame_side side)
{
	const uint64_t all = flame_total(f, 0, side).weight;

	return all ? (double)flame_total(f, node, side).weight / (double)all : 0;
}

/* Colours by the change of a share: red if it is larger, blue if smaller. */
static void flame_svg_difference(FILE *out, const struct flame *f, uint32_t node)
{
	const double now = flame_svg_share(f, node, FLAME_NOW);
	const double before = flame_svg_share(f, node, FLAME_BASE), most = fmax(now, before);
	const double strength = most > 0 ? fabs(now - before) / most : 0;

	flame_svg_color(out, now >= before ? 8 : 216, .2 + .65 * strength, .95 - .4 * strength);
}

static void flame_svg_fill(FILE *out, const struct flame *f, uint32_t node)
{
	static const struct {
		char kind;
		double hue, saturation, light;
	} kinds[] = { { FLAME_USER, 36, .88, .68 },     { FLAME_KERNEL, 12, .80, .68 },
		      { FLAME_INLINED, 186, .50, .66 }, { FLAME_JIT, 128, .45, .64 },
		      { FLAME_GROUP, 220, .14, .80 },   { FLAME_WAKER, 272, .50, .77 },
		      { FLAME_REST, 0, 0, .86 },        { FLAME_UNKNOWN, 50, .10, .76 } };
	const struct flame_frame *frame = &f->frames[f->nodes[node].frame];
	size_t i = 0;
	uint32_t hash = 0;

	if (f->compared) {
		flame_svg_difference(out, f, node);
		return;
	}
	while (kinds[i].kind != frame->kind && kinds[i].kind != FLAME_UNKNOWN)
		i++;
	for (const char *p = f->names.text[frame->name]; *p; p++)
		hash = hash * 31 + (unsigned char)*p;
	flame_svg_color(out, fmod(kinds[i].hue + hash % 15 + 353, 360), kinds[i].saturation,
			kinds[i].light + ((hash >> 8) % 9 - 4.) / 100);
}

static void flame_svg_title(FILE *out, const struct flame *f, const struct flame_node *n,
			    uint32_t node)
{
	const struct flame_frame *frame = &f->frames[n->frame];

	fputs("<g><title>", out);
	page_put_text(out, f->names.text[frame->name]);
	if (frame->file >= 0) {
		putc('\n', out);
		page_put_text(out, f->files.text[frame->file]);
	}
	fprintf(out, "\n%.2f%%", 100 * flame_svg_share(f, node, FLAME_NOW));
	if (strcmp(f->unit, "samples")) {
		fprintf(out, ", %" PRIu64 " ", flame_total(f, node, FLAME_NOW).weight);
		page_put_text(out, f->unit);
	}
	fprintf(out, ", %" PRIu64 " %s", flame_total(f, node, FLAME_NOW).count, f->counted);
	if (f->compared)
		fprintf(out, "\nbefore: %.2f%%", 100 * flame_svg_share(f, node, FLAME_BASE));
	fputs("</title>", out);
}

/* Prints the part of a name that fits; the title has the complete name. */
static void flame_svg_label(FILE *out, const char *name, double width)
{
	const size_t room = width < 6 + 3 * letter ? 0 : (size_t)((width - 6) / letter);
	size_t chars = 0, at = 0;
	char *part;

	while (name[at] && chars < room) {
		at++;
		while ((name[at] & 0xc0) == 0x80)
			at++;
		chars++;
	}
	if (name[at] && room) /* the last character gives its room to the ellipsis */
		do
			at--;
		while (at && (name[at] & 0xc0) == 0x80);
	part = strndup(name, at);
	page_put_text(out, part ? part : "");
	if (name[at] && room)
		fputs("\xe2\x80\xa6", out);
	free(part);
}

static void flame_svg_frame(FILE *out, const struct flame_svg *svg, const struct flame_step *s,
			    double x)
{
	const struct flame *f = svg->f;
	const struct flame_node *n = &f->nodes[s->node];
	const double width = WIDTH * flame_svg_share(f, s->node, FLAME_NOW);
	const uint32_t row = svg->picture->inverted ? s->depth : svg->deepest - s->depth;
	const uint32_t y = TOP + row * ROW;

	flame_svg_title(out, f, n, s->node);
	fprintf(out, "<rect x=\"%.4f\" y=\"%" PRIu32 "\" width=\"%.4f\" height=\"%d\"", x, y, width,
		ROW - 1);
	flame_svg_fill(out, f, s->node);
	fprintf(out, " rx=\"1\"/><text x=\"%.2f\" y=\"%" PRIu32 "\">", x + 3, y + ROW - 5);
	flame_svg_label(out, f->names.text[f->frames[n->frame].name], width);
	fputs("</text></g>\n", out);
}

static int flame_svg_frames(FILE *out, const void *ctx)
{
	const struct flame_svg *svg = ctx;
	const struct flame *f = svg->f;
	/* By depth: where the next callee of the current caller begins. */
	double *next = calloc(svg->deepest + 2, sizeof(*next));

	if (!next)
		return -ENOMEM;
	next[0] = LEFT;
	for (struct flame_step s = { 0 }; flame_next(f, &s);) {
		const double x = next[s.depth];

		next[s.depth] += WIDTH * flame_svg_share(f, s.node, FLAME_NOW);
		next[s.depth + 1] = x;
		if (flame_total(f, s.node, FLAME_NOW).weight || !s.node)
			flame_svg_frame(out, svg, &s, x);
	}
	free(next);
	return 0;
}

int flame_put_svg(FILE *out, const void *ctx)
{
	const struct flame_picture *p = ctx;
	const struct flame_svg svg = { p->graphs[0], p, flame_svg_deepest(p->graphs[0]) };

	return page_put(out, page_flamegraph_svg,
			(struct page_mark[]){ { "@TITLE@", page_put_title, p->title },
					      { "@HEIGHT@", flame_svg_height, &svg },
					      { "@DATA@", flame_svg_frames, &svg },
					      { 0 } });
}
