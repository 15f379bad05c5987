/* SPDX-License-Identifier: MIT */
/* Columns made of what code lies at an address: source lines and text, instructions. */
#ifndef SONDE_SINKS_TEXT_CODE_COLUMNS_H
#define SONDE_SINKS_TEXT_CODE_COLUMNS_H

#include <stdbool.h>

#include "base/hash.h"
#include "base/outbuf.h"
#include "base/vec.h"
#include "model/event.h"

struct text_code {
	const struct session_options *opts; /* the session's */
	/* The source line that each task showed last: it is not shown twice on end. */
	struct hash64 by_tid; /* tid -> index in shown */
	VEC(struct shown_line) shown;
};

/* What goes with brstackinsn. */
enum text_insn_columns {
	TEXT_INSN_LENGTHS = 1, /* brstackinsnlen */
	TEXT_INSN_SRCLINE = 2,
	TEXT_INSN_SRCCODE = 4
};

void text_code_init(struct text_code *c, const struct session_options *opts);
void text_code_done(struct text_code *c);

/*
 * srcline: a newline, two blanks, "file.c:12" (with --full-source-path the file with its folder), or "dso[addr]" where no
 * line is known; nothing where no dso is. For an ip without a chain and for a frame of a chain alike: `called` says that
 * addr is one that a call returns to (any frame of a recorded chain but the innermost; not one unwound).
 */
void text_srcline_put(struct text_code *c, const struct event *ev, uint64_t addr, uint32_t cpumode,
		      bool called, struct outbuf *out);
/* srccode: "|12       the line's text" without a newline; false (nothing) when the task showed that line last. */
bool text_srccode_put(struct text_code *c, const struct event *ev, uint64_t addr, uint32_t cpumode,
		      struct outbuf *out);
/* insnlen and insn: " ilen: 4" and " insn: 48 83 c0 01", either one if wanted. */
void text_insn_put(struct text_code *c, const struct event *ev, uint64_t addr, uint32_t cpumode,
		   bool length, bool bytes, struct outbuf *out);
/* brstackinsn: the code between the branches of the branch stack; begun by a newline, ended by none. columns: of the enum. */
void text_brstackinsn_put(struct text_code *c, const struct event *ev,
			  const struct sonde_sample *sample, unsigned columns, struct outbuf *out);

#endif
