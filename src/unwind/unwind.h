/* SPDX-License-Identifier: MIT */
/*
 * Registers and stack bytes of a sample -> the addresses of its chain of calls. Each frame's caller is found by the unwind
 * tables of the file that its code was mapped from (cfi.h); memory that is not in the recorded piece of stack is read
 * from the mapped files. What a sample holds is not trusted: each frame must lie above the one it called, and nothing
 * outside the recorded bytes and the files is read.
 *
 *	| sp                       sp + stack_len |        frames lie upwards, the innermost at sp
 */
#ifndef SONDE_UNWIND_UNWIND_H
#define SONDE_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compat/rules.h"
#include "sonde/sonde.h"
#include "symbols/dso.h"
#include "unwind/registers.h"

/* Why a chain ends where it does. */
enum unwind_end {
	UNWIND_OUTERMOST, /* the tables say that nobody called this one */
	UNWIND_FULL,      /* as many frames as were asked for */
	UNWIND_NO_MAP,    /* nothing is mapped at the address */
	UNWIND_NO_FILE,   /* the file is not found, or has no unwind tables */
	UNWIND_NO_ROW,    /* the tables tell nothing of the address */
	UNWIND_NO_STACK,  /* what is needed lies outside the recorded piece of stack */
	UNWIND_BROKEN     /* registers or tables lead nowhere */
};

struct unwind_input {
	const struct unwind_arch *arch;
	uint64_t regs_mask; /* perf's: which registers are recorded */
	const uint64_t *regs;
	const uint8_t *stack;
	uint64_t stack_len;
	bool swap; /* the stack's words are in the other byte order */
	/* The file mapped at an address of the process, and the place in it; NULL: nothing is. */
	struct dso *(*dso_at)(void *ctx, uint64_t addr, uint64_t *ret_offset);
	void *ctx;
};

struct unwind_result {
	const uint64_t *ips; /* lent until the next call */
	size_t nr;
	enum unwind_end end;
	uint64_t end_addr; /* the address at which it ended */
};

struct unwinder;

bool unwind_supported(void);
int unwind_new(struct unwinder **ret, const struct rules *rules);
void unwind_free(struct unwinder *u); /* NULL is fine */
/*
 * At most `max` frames, the innermost first: its pc, then of each caller a place in its call instruction (the return
 * address - 1), of an interrupted function its pc. -ENOMEM only.
 */
int unwind_walk(struct unwinder *u, const struct unwind_input *in, size_t max,
		struct unwind_result *ret);
const char *unwind_end_text(enum unwind_end end);

#endif
