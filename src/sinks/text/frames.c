/* SPDX-License-Identifier: MIT */
#include "sinks/text/frames.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording/code.h"
#include "model/callchain.h"
#include "recording/locate.h"
#include "sinks/text/code_columns.h"
#include "sinks/text/fields.h"

#define CACHE_SLOTS      4096u
#define CACHE_TEXT_BYTES (4u << 20) /* the cache is cleared at this size */
#define COPY_BYTES       16u
/* in addition to columns: an address in text_callchain_put()'s layout */
#define IN_CHAIN (1u << 31)

struct frame_text {
	uint64_t stamp; /* stamp of the valid mappings; 0 if the slot is free */
	uint64_t addr;
	uint32_t columns;
	uint32_t len;
	const char *text; /* in the arena; the memory is a multiple of COPY_BYTES */
};

void text_frames_init(struct text_frames *f, const struct rules *rules,
		      const struct text_code *code)
{
	*f = (struct text_frames){ .rules = rules, .code = code };
}

void text_frames_done(struct text_frames *f)
{
	free(f->cache);
	f->cache = NULL;
	arena_done(&f->texts);
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
	/*
	 * No offset for the kernel, or for a symbol that is its own dso: they have no offset in a
	 * file.
	 */
	if (columns & TEXT_DSOFF && loc->map_end > loc->map_start && *loc->dso != '[' &&
	    loc->dso != loc->sym) {
		outbuf_put(out, "+0x", 3);
		outbuf_hex(out, loc->addr - loc->map_start + loc->map_pgoff);
	}
	outbuf_char(out, ')');
}

static void frames_put_names(const struct sonde_location *loc, uint32_t columns, struct outbuf *out)
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
	*ret = *recording_located(ev, addr, cpumode);
}

/* ---- texts that are kept --------------------------------------------------------------------- */

/* The stamp of the mappings that an address belongs to; 0 if its text cannot be cached. */
static uint64_t frames_stamp_of(const struct event *ev, uint32_t cpumode)
{
	const struct address_space *space = recording_space(ev, cpumode);

	return space ? space->stamp : 0;
}

static struct frame_text *frames_slot_of(struct text_frames *f, uint64_t stamp, uint64_t addr)
{
	if (!f->cache)
		f->cache = calloc(CACHE_SLOTS, sizeof(*f->cache));
	return f->cache && stamp ? &f->cache[hash_u64(addr ^ stamp << 48) % CACHE_SLOTS] : NULL;
}

static void frames_keep(struct text_frames *f, struct frame_text *slot, const char *text,
			size_t len)
{
	size_t room = (len + COPY_BYTES - 1) / COPY_BYTES * COPY_BYTES;
	char *copy;

	if (f->kept_bytes + room > CACHE_TEXT_BYTES) {
		arena_done(&f->texts);
		f->kept_bytes = 0;
		for (size_t i = 0; i < CACHE_SLOTS; i++)
			f->cache[i].stamp = 0;
	}
	copy = room <= CACHE_TEXT_BYTES ? arena_alloc(&f->texts, room) : NULL;
	if (!copy) {
		slot->stamp = 0;
		return;
	}
	memcpy(copy, text, len);
	f->kept_bytes += room;
	slot->text = copy;
	slot->len = (uint32_t)len;
}

/* Copies complete pieces of COPY_BYTES, which is cheaper than a copy of variable length. */
static void frames_put_slot(const struct frame_text *slot, struct outbuf *out)
{
	size_t room = (slot->len + COPY_BYTES - 1) / COPY_BYTES * COPY_BYTES;
	char *to = outbuf_room(out, room);

	if (!to)
		return;
	for (size_t i = 0; i < room; i += COPY_BYTES)
		memcpy(to + i, slot->text + i, COPY_BYTES);
	outbuf_advance(out, slot->len);
}

/*
 * For frames of user space perf 6.1 shows the offset in the mapped file; it shows the address only
 * if nothing is mapped.
 */
static uint64_t frames_file_offset(const struct sonde_location *loc, uint64_t addr)
{
	if (!loc->dso || loc->map_end <= loc->map_start || dso_name_is_anonymous(loc->dso) ||
	    !strncmp(loc->dso, "/tmp/perf-", 10))
		return addr;
	return addr - loc->map_start + loc->map_pgoff;
}

static void frames_make_text(const struct text_frames *f, const struct event *ev, uint64_t addr,
			     uint32_t cpumode, uint32_t columns, struct outbuf *out)
{
	struct sonde_location loc;

	text_locate(ev, addr, cpumode, &loc);
	if (columns & IN_CHAIN) {
		outbuf_char(out, '\t');
		if (f->rules->shows_file_offsets && cpumode != CPUMODE_KERNEL)
			addr = frames_file_offset(&loc, addr);
	}
	outbuf_hex_width(out, addr, 16, ' ');
	frames_put_names(&loc, columns, out);
}

static void frames_put_named(struct text_frames *f, const struct event *ev, uint64_t stamp,
			     uint64_t addr, uint32_t cpumode, uint32_t columns, struct outbuf *out)
{
	struct frame_text *slot = frames_slot_of(f, stamp, addr);
	size_t start = out->len;

	if (slot && slot->stamp == stamp && slot->addr == addr && slot->columns == columns) {
		frames_put_slot(slot, out);
		return;
	}
	frames_make_text(f, ev, addr, cpumode, columns, out);
	if (!slot || out->failed)
		return;
	slot->stamp = stamp;
	slot->addr = addr;
	slot->columns = columns;
	frames_keep(f, slot, out->data + start, out->len - start);
}

void text_address_put(struct text_frames *f, const struct event *ev, uint64_t addr,
		      uint32_t cpumode, uint32_t columns, struct outbuf *out)
{
	uint32_t names = columns & ~(uint32_t)TEXT_SRCLINE;

	if (names & (TEXT_SYM | TEXT_DSO))
		frames_put_named(f, ev, frames_stamp_of(ev, cpumode), addr, cpumode, names, out);
	else
		outbuf_hex_width(out, addr, 16, ' ');
	if (columns & TEXT_SRCLINE)
		text_srcline_put(f->code, ev, addr, cpumode, "\n  ", out);
}

/* ---- call chains ----------------------------------------------------------------------------- */

/*
 * Prints an inlined function: its name replaces the symbol's name, but the symbol's offset is kept.
 */
static void frames_put_inlined(struct text_frames *f, const struct event *ev,
			       const struct sonde_frame *frame, uint32_t columns,
			       struct outbuf *out)
{
	uint64_t addr = frame->ip;
	struct sonde_location loc;

	text_locate(ev, addr, frame->cpumode, &loc);
	if (f->rules->shows_file_offsets)
		addr = frames_file_offset(&loc, addr);
	if (!loc.sym)
		columns &= ~(uint32_t)TEXT_SYMOFF;
	loc.sym = frame->sym;
	if (frame->flags & SONDE_FRAME_INLINED)
		columns &= ~(uint32_t)TEXT_DSO;
	outbuf_char(out, '\t');
	outbuf_hex_width(out, addr, 16, ' ');
	frames_put_names(&loc, columns, out);
}

static void frame_put(struct text_frames *f, const struct event *ev,
		      const struct sonde_frame *frame, uint64_t stamp, uint32_t names,
		      struct outbuf *out)
{
	bool is_kernel = frame->cpumode == CPUMODE_KERNEL;

	if (frame->sym) {
		frames_put_inlined(f, ev, frame, names, out);
	} else if (names & (TEXT_SYM | TEXT_DSO) || (f->rules->shows_file_offsets && !is_kernel)) {
		frames_put_named(f, ev, stamp, frame->ip, frame->cpumode, names | IN_CHAIN, out);
	} else {
		outbuf_char(out, '\t');
		outbuf_hex_width(out, frame->ip, 16, ' ');
	}
}

/* True if the chain ends with this frame (--stop-bt). */
static bool frames_is_last(const struct event *ev, const struct sonde_frame *f)
{
	const char *name = f->sym;
	struct sonde_location loc;

	if (!name) {
		text_locate(ev, f->ip, f->cpumode, &loc);
		name = loc.sym;
	}
	return name && recording_stops_chain(ev->recording, name);
}

void text_callchain_put(struct text_frames *f, const struct event *ev, uint32_t columns,
			struct outbuf *out)
{
	uint32_t names = columns & ~(uint32_t)TEXT_SRCLINE;
	const struct sonde_frame *frames = NULL;
	int nr = recording_chain(ev, &frames);
	uint64_t stamp = 0;

	for (int i = 0; i < nr; i++) {
		/*
		 * The first frame of user space after the kernel's frames is not a return address.
		 */
		bool innermost = !i || frames[i].cpumode != frames[i - 1].cpumode;

		if (innermost)
			stamp = frames_stamp_of(ev, frames[i].cpumode);
		frame_put(f, ev, &frames[i], stamp, names, out);
		if (columns & TEXT_SRCLINE)
			text_frame_srcline_put(f->code, ev, &frames[i], innermost, out);
		if (frames[i].flags & SONDE_FRAME_INLINED)
			outbuf_str(out, " (inlined)");
		outbuf_char(out, '\n');
		if (ev->recording->opts->stop_bt.comms && frames_is_last(ev, &frames[i]))
			break;
	}
}
