/* SPDX-License-Identifier: MIT */
#include "sinks/text/code_columns.h"

#include <stdlib.h>
#include <string.h>

#include "recording/code.h"
#include "model/callchain.h"
#include "recording/locate.h"

void text_code_init(struct text_code *c, const struct text_options *o, const struct rules *rules)
{
	*c = (struct text_code){ .o = o, .rules = rules };
}

void text_code_done(struct text_code *c)
{
	hash64_done(&c->by_tid);
	vec_done(&c->shown);
	free(c->block);
}

/* ---- source lines ---------------------------------------------------------------------------- */

static const char *code_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void code_put_line(const struct text_code *c, const char *file, uint32_t line,
			  const char *before, struct outbuf *out)
{
	outbuf_str(out, before);
	outbuf_str(out, c->o->full_source_path ? file : code_base_name(file));
	outbuf_char(out, ':');
	outbuf_u64(out, line);
}

/* Prints "wl[1175]", with the address in the file. The kernel's addresses are used unchanged. */
static void code_put_no_line(const struct event *ev, uint64_t addr, uint32_t cpumode,
			     const char *before, struct outbuf *out)
{
	const struct sonde_location loc = *recording_located(ev, addr, cpumode);
	uint64_t offset;
	struct dso *d;

	if (!loc.dso)
		return;
	outbuf_str(out, before);
	outbuf_str(out, *loc.dso == '[' ? loc.dso : code_base_name(loc.dso));
	d = cpumode == CPUMODE_KERNEL ? NULL : recording_dso_at(ev, addr, &offset);
	outbuf_char(out, '[');
	outbuf_hex(out, d ? dso_file_address(d, offset) : addr);
	outbuf_char(out, ']');
}

static void code_put_place(const struct text_code *c, const struct event *ev, uint64_t addr,
			   uint32_t cpumode, bool called, const char *before, struct outbuf *out)
{
	const struct line_place *places;
	size_t nr = recording_lines(ev, addr, cpumode, called, &places);

	if (!nr || !places[0].file)
		code_put_no_line(ev, addr, cpumode, before, out);
	else if (places[0].line || strcmp(places[0].file, "??") != 0)
		code_put_line(c, places[0].file, places[0].line, before, out);
	/*
	 * Otherwise perf's addr2line has a symbol without file and line, for which perf prints
	 * nothing.
	 */
}

void text_srcline_put(const struct text_code *c, const struct event *ev, uint64_t addr,
		      uint32_t cpumode, const char *before, struct outbuf *out)
{
	code_put_place(c, ev, addr, cpumode, false, before, out);
}

void text_frame_srcline_put(const struct text_code *c, const struct event *ev,
			    const struct sonde_frame *f, bool innermost, struct outbuf *out)
{
	bool called = !innermost && !(f->flags & (SONDE_FRAME_UNWOUND | SONDE_FRAME_BRANCH)) &&
		      !c->rules->lines_behind_calls;

	if (f->file)
		code_put_line(c, f->file, f->line, "\n  ", out);
	else
		code_put_place(c, ev, f->ip, f->cpumode, called, "\n  ", out);
}

/* ---- source text ----------------------------------------------------------------------------- */

static struct shown_line *code_shown_by(struct text_code *c, int32_t tid)
{
	uint64_t known = hash64_find(&c->by_tid, (uint32_t)tid);

	if (known != HASH64_EMPTY)
		return &c->shown.v[known];
	if (vec_push(&c->shown, (struct shown_line){ 0 }) < 0)
		return NULL;
	if (hash64_put(&c->by_tid, (uint32_t)tid, c->shown.n - 1) < 0) {
		c->shown.n--;
		return NULL;
	}
	return &c->shown.v[c->shown.n - 1];
}

bool text_srccode_put(struct text_code *c, const struct event *ev, uint64_t addr, uint32_t cpumode,
		      struct outbuf *out)
{
	struct shown_line *last = code_shown_by(c, ev->pub.tid);
	const struct line_place *p;
	const char *text;
	size_t len, start;

	if (!recording_lines(ev, addr, cpumode, false, &p) || !p->file ||
	    (last && last->file && last->line == p->line && !strcmp(last->file, p->file)) ||
	    !recording_source_line(ev->recording, p->file, p->line, &text, &len))
		return false;
	start = out->len;
	outbuf_char(out, '|');
	outbuf_u64(out, p->line);
	if (out->len - start < 9)
		outbuf_pad(out, ' ', 9 - (out->len - start));
	outbuf_char(out, ' ');
	outbuf_put(out, text, len);
	if (last)
		*last = (struct shown_line){ .file = p->file, .line = p->line };
	return true;
}

/* ---- instructions ---------------------------------------------------------------------------- */

void text_insn_put(const struct event *ev, uint64_t addr, uint32_t cpumode, bool length, bool bytes,
		   struct outbuf *out)
{
	struct code_insn insn;

	recording_insn(ev, addr, cpumode, &insn);
	if (length) {
		outbuf_str(out, " ilen: ");
		outbuf_u64(out, insn.len);
	}
	if (!bytes || !insn.len)
		return;
	outbuf_str(out, " insn:");
	for (unsigned i = 0; i < insn.len; i++) {
		outbuf_char(out, ' ');
		outbuf_hex_width(out, insn.bytes[i], 2, '0');
	}
}
