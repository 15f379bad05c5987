/* SPDX-License-Identifier: MIT */
/*
 * Computes a call chain from the registers and stack bytes of a sample. Each frame's caller is
 * found by the unwind tables of the file that its code was mapped from (cfi.h); memory outside the
 * recorded piece of stack is read from the mapped files. Samples are not trusted: each frame must
 * be above the frame that it called, and only the recorded bytes and the files are read.
 *
 *	| sp                       sp + stack_len |        frames upwards, the innermost at sp
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

/* Why a chain ended. */
enum unwind_end {
	UNWIND_OUTERMOST, /* the tables mark this frame as outermost */
	UNWIND_FULL,      /* the requested number of frames is reached */
	UNWIND_NO_MAP,    /* nothing is mapped at the address */
	UNWIND_NO_FILE,   /* the file is not found, or has no unwind tables */
	UNWIND_NO_ROW,    /* the tables do not cover the address */
	UNWIND_NO_STACK,  /* the needed bytes are outside the recorded piece of stack */
	UNWIND_BROKEN     /* registers or tables lead nowhere */
};

struct unwind_input {
	const struct unwind_arch *arch;
	uint64_t regs_mask; /* perf's mask: which registers are recorded */
	const uint64_t *regs;
	const uint8_t *stack;
	uint64_t stack_len;
	bool swap; /* the stack's words are in the other byte order */
	/* The file mapped at an address of the process, and the offset in it; NULL if none. */
	struct dso *(*dso_at)(void *ctx, uint64_t addr, uint64_t *ret_offset);
	void *ctx;
};

struct unwind_result {
	const uint64_t *ips; /* borrowed until the next call */
	size_t nr;
	enum unwind_end end;
	uint64_t end_addr; /* the address at which the chain ended */
};

struct unwinder;

bool unwind_supported(void);
int unwind_new(struct unwinder **ret, const struct rules *rules);
void unwind_free(struct unwinder *u); /* NULL is fine */
/*
 * Finds at most `max` frames, the innermost first. The first ip is its pc. The ip of each caller is
 * inside its call instruction (the return address - 1); the ip of an interrupted function is its
 * pc. Fails with -ENOMEM only.
 */
int unwind_walk(struct unwinder *u, const struct unwind_input *in, size_t max,
		struct unwind_result *ret);
const char *unwind_end_text(enum unwind_end end);

#endif
