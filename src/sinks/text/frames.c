/* SPDX-License-Identifier: MIT */
#include "sinks/text/frames.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "model/callchain.h"
#include "sinks/text/code_columns.h"
#include "sinks/text/fields.h"

#define CACHE_SLOTS     1024u
#define PERF_MAX_FRAMES 127u

struct frame_text {
	char text[112];
	uint64_t addr;
	uint32_t columns;
	uint8_t len; /* 0: a free slot */
};

/* perf shows no more frames than this machine's kernel would record. */
static unsigned perf_max_frames(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_stack", "re");
	unsigned max;

	if (!f)
		return PERF_MAX_FRAMES;
	if (fscanf(f, "%u", &max) != 1)
		max = PERF_MAX_FRAMES;
	fclose(f);
	return max;
}

void text_frames_init(struct text_frames *f, enum sonde_compat compat, const struct text_code *code)
{
	*f = (struct text_frames){ .compat = compat,
				   .code = code,
				   .max_frames = compat ? perf_max_frames() : UINT_MAX };
}

void text_frames_done(struct text_frames *f)
{
	free(f->cache);
	f->cache = NULL;
}

void text_symbol_put(const struct sonde_location *loc, uint32_t columns, struct outbuf *out)
{
	outbuf_str(out, loc->sym ? loc->sym : "[unknown]");
	if (loc->sym && columns & TEXT_SYMOFF) {
		outbuf_put(out, "+0x", 3);
		outbuf_hex(out, loc->sym_off);
	}
}

void text_dso_put(const struct sonde_location *loc, uint32_t columns, struct outbuf *out)
{
	outbuf_char(out, '(');
	outbuf_str(out, loc->dso ? loc->dso : "[unknown]");
	/* Those of the kernel are not offsets in a file. */
	if (columns & TEXT_DSOFF && loc->map_end > loc->map_start && *loc->dso != '[') {
		outbuf_put(out, "+0x", 3);
		outbuf_hex(out, loc->addr - loc->map_start + loc->map_pgoff);
	}
	outbuf_char(out, ')');
}

static void put_names(const struct sonde_location *loc, uint32_t columns, struct outbuf *out)
{
	if (columns & TEXT_SYM) {
		outbuf_char(out, ' ');
		text_symbol_put(loc, columns, out);
	}
	if (columns & TEXT_DSO) {
		outbuf_char(out, ' ');
		text_dso_put(loc, columns, out);
	}
}

void text_locate(const struct event *ev, uint64_t addr, uint32_t cpumode,
		 struct sonde_location *ret)
{
	if (sonde_event_locate(&ev->pub, addr, cpumode, ret) < 0)
		*ret = (struct sonde_location){ .size = sizeof(*ret), .addr = addr };
}

/* The upper half of 64 bits is the kernel's; a 32-bit kernel's part is not known: what is not mapped is its. */
uint32_t text_address_mode(const struct event *ev, uint64_t addr)
{
	uint32_t mode = ev->pub.cpumode;
	bool guest = mode == CPUMODE_GUEST_KERNEL || mode == CPUMODE_GUEST_USER;
	bool kernel = addr >> 63;
	struct sonde_location loc;

	if (!guest && mode != CPUMODE_KERNEL && mode != CPUMODE_USER)
		return mode;
	if (ev->schema && ev->schema->abi.long_bytes == 4) {
		text_locate(ev, addr, CPUMODE_USER, &loc);
		kernel = !loc.dso;
	}
	return guest ? (kernel ? CPUMODE_GUEST_KERNEL : CPUMODE_GUEST_USER)
		     : (kernel ? CPUMODE_KERNEL : CPUMODE_USER);
}

/* Copied in pieces of 16 bytes, the last one to its end: cheaper than a copy of just any length. */
static void put_slot(const struct frame_text *slot, struct outbuf *out)
{
	char *to = outbuf_room(out, sizeof(slot->text));

	if (!to)
		return;
	for (unsigned i = 0; i < slot->len; i += 16)
		memcpy(to + i, slot->text + i, 16);
	outbuf_advance(out, slot->len);
}

/* Text of an address of the kernel, found by the address alone. Only resolved ones are kept: a module may come later. */
static void put_kernel(struct text_frames *f, const struct event *ev, uint64_t addr,
		       uint32_t columns, struct outbuf *out)
{
	struct frame_text *slot;
	struct sonde_location loc;
	size_t start = out->len;

	if (!f->cache)
		f->cache = calloc(CACHE_SLOTS, sizeof(*f->cache));
	slot = f->cache ? &f->cache[(addr ^ addr >> 10) % CACHE_SLOTS] : NULL;
	if (slot && slot->len && slot->addr == addr && slot->columns == columns) {
		put_slot(slot, out);
		return;
	}
	text_locate(ev, addr, CPUMODE_KERNEL, &loc);
	outbuf_hex_width(out, addr, 16, ' ');
	put_names(&loc, columns, out);
	if (slot && loc.sym && !out->failed && out->len - start <= sizeof(slot->text)) {
		slot->addr = addr;
		slot->columns = columns;
		slot->len = (uint8_t)(out->len - start);
		memcpy(slot->text, out->data + start, slot->len);
	}
}

void text_address_put(struct text_frames *f, const struct event *ev, uint64_t addr,
		      uint32_t cpumode, uint32_t columns, struct outbuf *out)
{
	uint32_t names = columns & ~(uint32_t)TEXT_SRCLINE;
	struct sonde_location loc;

	if (!(names & (TEXT_SYM | TEXT_DSO))) {
		outbuf_hex_width(out, addr, 16, ' ');
	} else if (cpumode == CPUMODE_KERNEL) {
		put_kernel(f, ev, addr, names, out);
	} else {
		text_locate(ev, addr, cpumode, &loc);
		outbuf_hex_width(out, addr, 16, ' ');
		put_names(&loc, names, out);
	}
	if (columns & TEXT_SRCLINE)
		text_srcline_put(f->code, ev, addr, cpumode, "\n  ", out);
}

/* ---- call chains ------------------------------------------------------------------------------------------------- */

/* Mappings of no file: perf shows their addresses as they are. */
static bool is_anonymous(const char *dso)
{
	static const char *const names[] = { "//anon", "/dev/zero", "/anon_hugepage",
					     "[stack", "[heap]",    "/SYSV" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strncmp(dso, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

/* perf 6.1 shows offsets into the mapped file for frames of user space, the address only where nothing is mapped. */
static uint64_t shown_by_perf_6_1(const struct sonde_location *loc, uint64_t addr)
{
	if (!loc->dso || loc->map_end <= loc->map_start || is_anonymous(loc->dso))
		return addr;
	return addr - loc->map_start + loc->map_pgoff;
}

static void put_user_frame(struct text_frames *f, const struct event *ev,
			   const struct sonde_frame *frame, uint32_t columns, struct outbuf *out)
{
	uint64_t addr = frame->ip;
	struct sonde_location loc;

	text_locate(ev, addr, frame->cpumode, &loc);
	if (f->compat == SONDE_COMPAT_PERF_6_1)
		addr = shown_by_perf_6_1(&loc, addr);
	/* A name in place of the symbol's goes with the symbol's offset. */
	if (frame->sym) {
		if (!loc.sym)
			columns &= ~(uint32_t)TEXT_SYMOFF;
		loc.sym = frame->sym;
	}
	if (frame->flags & SONDE_FRAME_INLINED)
		columns &= ~(uint32_t)TEXT_DSO;
	outbuf_hex_width(out, addr, 16, ' ');
	put_names(&loc, columns, out);
}

static void put_frame(struct text_frames *f, const struct event *ev,
		      const struct sonde_frame *frame, bool innermost, uint32_t columns,
		      struct outbuf *out)
{
	uint32_t names = columns & ~(uint32_t)TEXT_SRCLINE;
	bool named = names & (TEXT_SYM | TEXT_DSO);

	outbuf_char(out, '\t');
	if (frame->cpumode == CPUMODE_KERNEL && named)
		put_kernel(f, ev, frame->ip, names, out);
	else if (frame->cpumode != CPUMODE_KERNEL && (named || f->compat == SONDE_COMPAT_PERF_6_1))
		put_user_frame(f, ev, frame, names, out);
	else
		outbuf_hex_width(out, frame->ip, 16, ' ');
	if (columns & TEXT_SRCLINE)
		text_frame_srcline_put(f->code, ev, frame, innermost, out);
	if (frame->flags & SONDE_FRAME_INLINED)
		outbuf_str(out, " (inlined)");
	outbuf_char(out, '\n');
}

void text_callchain_put(struct text_frames *f, const struct event *ev, uint32_t columns,
			struct outbuf *out)
{
	const struct sonde_frame *frames = NULL;
	int nr = session_chain(ev, f->max_frames, &frames);

	for (int i = 0; i < nr; i++) {
		/* Where the kernel's frames end, those of user space begin with a place that is no return address. */
		bool innermost = !i || frames[i].cpumode != frames[i - 1].cpumode;

		put_frame(f, ev, &frames[i], innermost, columns, out);
	}
}
