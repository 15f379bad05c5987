/* SPDX-License-Identifier: MIT */
/*
 * The data of viewer/flamegraph.js: {title, inverted, graphs: [{event, unit, counted, names, files,
 * name, file, kind, depth, frame, self, count}]}. Frame f is names[name[f]] in files[file[f]] (-1:
 * none) of kind[f]. Node i, callers before callees, is frame[i] at depth[i]. A graph that is
 * compared with another one has its weights in base.
 */
#include "flame_draw.h"

#include "pages.h"

#include <inttypes.h>

static int flame_html_texts(FILE *out, const char *key, const struct flame_texts *texts)
{
	int r = 0;

	fprintf(out, ",\n\"%s\":[", key);
	for (uint32_t i = 0; i < texts->nr && r >= 0; i++) {
		fputs(i ? ",\n" : "\n", out);
		r = page_put_json(out, texts->text[i]);
	}
	if (r >= 0)
		putc(']', out);
	return r;
}

static void flame_html_frames(FILE *out, const struct flame *f)
{
	fputs(",\n\"name\":[", out);
	for (uint32_t i = 0; i < f->nr_frames; i++)
		fprintf(out, "%s%" PRIu32, i ? "," : "", f->frames[i].name);
	fputs("],\n\"file\":[", out);
	for (uint32_t i = 0; i < f->nr_frames; i++)
		fprintf(out, "%s%" PRId32, i ? "," : "", f->frames[i].file);
	fputs("],\n\"kind\":\"", out);
	for (uint32_t i = 0; i < f->nr_frames; i++)
		putc(f->frames[i].kind, out);
	putc('"', out);
}

enum flame_html_member { MEMBER_DEPTH, MEMBER_FRAME, MEMBER_SELF, MEMBER_COUNT, MEMBER_BASE };

static uint64_t flame_html_value(const struct flame *f, const struct flame_step *s,
				 enum flame_html_member member)
{
	switch (member) {
	case MEMBER_DEPTH:
		return s->depth;
	case MEMBER_FRAME:
		return f->nodes[s->node].frame;
	case MEMBER_SELF:
		return flame_self(f, s->node, FLAME_NOW).weight;
	case MEMBER_COUNT:
		return flame_self(f, s->node, FLAME_NOW).count;
	case MEMBER_BASE:
		return flame_self(f, s->node, FLAME_BASE).weight;
	}
	return 0;
}

static void flame_html_nodes(FILE *out, const struct flame *f)
{
	static const char *const keys[] = { "depth", "frame", "self", "count", "base" };

	for (int m = MEMBER_DEPTH; m <= (f->compared ? MEMBER_BASE : MEMBER_COUNT); m++) {
		fprintf(out, ",\n\"%s\":[", keys[m]);
		for (struct flame_step s = { 0 }; flame_next(f, &s);)
			fprintf(out, "%s%" PRIu64, s.node ? "," : "",
				flame_html_value(f, &s, (enum flame_html_member)m));
		putc(']', out);
	}
}

static int flame_html_graph(FILE *out, const struct flame *f)
{
	const char *const texts[] = { "{\"event\":", f->event,        ",\"unit\":",
				      f->unit,       ",\"counted\":", f->counted };
	int r = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts) && r >= 0; i += 2) {
		fputs(texts[i], out);
		r = page_put_json(out, texts[i + 1]);
	}
	if (r >= 0)
		r = flame_html_texts(out, "names", &f->names);
	if (r >= 0)
		r = flame_html_texts(out, "files", &f->files);
	if (r < 0)
		return r;
	flame_html_frames(out, f);
	flame_html_nodes(out, f);
	putc('}', out);
	return 0;
}

static int flame_html_data(FILE *out, const void *ctx)
{
	const struct flame_picture *p = ctx;
	int r;

	fputs("{\"title\":", out);
	r = page_put_json(out, p->title);
	if (r < 0)
		return r;
	fprintf(out, ",\"inverted\":%s,\"graphs\":[", p->inverted ? "true" : "false");
	for (size_t i = 0; i < p->nr && r >= 0; i++) {
		fputs(i ? ",\n" : "\n", out);
		r = flame_html_graph(out, p->graphs[i]);
	}
	if (r >= 0)
		fputs("]}", out);
	return r;
}

int flame_put_html(FILE *out, const void *ctx)
{
	const struct flame_picture *p = ctx;

	return page_put(out, page_flamegraph,
			(struct page_mark[]){ { "@TITLE@", page_put_title, p->title },
					      { "@DATA@", flame_html_data, p },
					      { 0 } });
}
