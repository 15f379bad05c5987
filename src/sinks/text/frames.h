/* SPDX-License-Identifier: MIT */
/*
 * Addresses in text: an ip with symbol, offset and dso, and call chains. Addresses repeat, so their
 * text is cached by address and by the mappings valid at the event.
 */
#ifndef SONDE_SINKS_TEXT_FRAMES_H
#define SONDE_SINKS_TEXT_FRAMES_H

#include "base/arena.h"
#include "base/outbuf.h"
#include "compat/rules.h"
#include "model/event.h"

struct frame_text;
struct text_code;

struct text_frames {
	const struct rules *rules;
	const struct text_code *code;
	struct frame_text *cache; /* owned; NULL until the first address */
	struct arena texts;       /* texts in the cache */
	size_t kept_bytes;        /* size of the cached texts */
};

void text_frames_init(struct text_frames *f, const struct rules *rules,
		      const struct text_code *code); /* code: borrowed, as long as f */
void text_frames_done(struct text_frames *f);

/* `columns` are bits of TEXT_NAMES in all functions below. */

void text_locate(const struct event *ev, uint64_t addr, uint32_t cpumode,
		 struct sonde_location *ret);
/* "sym+0x10"; "(dso)" */
void text_symbol_put(const struct sonde_location *loc, uint32_t columns, struct outbuf *out);
void text_dso_put(const struct sonde_location *loc, uint32_t columns, struct outbuf *out);
/* "ffffffff81000000 sym+0x10 (dso)", the address in 16 places; cpumode as in sonde_event. */
void text_address_put(struct text_frames *f, const struct event *ev, uint64_t addr,
		      uint32_t cpumode, uint32_t columns, struct outbuf *out);
/* Prints the chain, one line per frame. Each line begins with a tab and ends with a newline. */
void text_callchain_put(struct text_frames *f, const struct event *ev, uint32_t columns,
			struct outbuf *out);

#endif
