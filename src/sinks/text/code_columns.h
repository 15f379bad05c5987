/* SPDX-License-Identifier: MIT */
/* Columns about the code at an address: source lines and text, instructions. */
#ifndef SONDE_SINKS_TEXT_CODE_COLUMNS_H
#define SONDE_SINKS_TEXT_CODE_COLUMNS_H

#include <stdbool.h>

#include "base/hash.h"
#include "base/outbuf.h"
#include "base/vec.h"
#include "compat/rules.h"
#include "model/event.h"
#include "sinks/text/options.h"

struct shown_line {
	const char *file; /* borrowed from the session */
	uint32_t line;
};

struct text_code {
	const struct text_options *o;
	const struct rules *rules;
	/* The source line last shown for each task; it is not repeated directly. */
	struct hash64 by_tid; /* tid -> index in shown */
	VEC(struct shown_line) shown;
	uint8_t *block; /* owned; buffer for the code between two branches; NULL until first used */
};

void text_code_init(struct text_code *c, const struct text_options *o, const struct rules *rules);
void text_code_done(struct text_code *c);

/*
 * Prints the srcline of an ip: `before`, then "file.c:12" (with --full-source-path including the
 * folder), or "dso[addr]" if the line is unknown. Prints nothing if there is no dso.
 */
void text_srcline_put(const struct text_code *c, const struct event *ev, uint64_t addr,
		      uint32_t cpumode, const char *before, struct outbuf *out);
/*
 * The same for a frame of a chain, after a newline and two blanks. The ip of the innermost frame is
 * the executing instruction; in other frames it is a return address.
 */
void text_frame_srcline_put(const struct text_code *c, const struct event *ev,
			    const struct sonde_frame *f, bool innermost, struct outbuf *out);
/*
 * srccode: prints "|12       the line's text" without a newline. Prints nothing and returns false
 * if this line was the last one shown for the task.
 */
bool text_srccode_put(struct text_code *c, const struct event *ev, uint64_t addr, uint32_t cpumode,
		      struct outbuf *out);
/*
 * insnlen and insn: prints " ilen: 4" if `length` is set and " insn: 48 83 c0 01" if `bytes` is
 * set.
 */
void text_insn_put(const struct event *ev, uint64_t addr, uint32_t cpumode, bool length, bool bytes,
		   struct outbuf *out);
/*
 * brstackinsn: prints the code between the branches of the branch stack, with a newline before and
 * after it. Prints nothing if there are no branches. `columns` adds TEXT_BRSTACKINSNLEN,
 * TEXT_SRCLINE and TEXT_SRCCODE.
 */
void text_brstackinsn_put(struct text_code *c, const struct event *ev,
			  const struct sonde_sample *sample, uint64_t columns, struct outbuf *out);

#endif
