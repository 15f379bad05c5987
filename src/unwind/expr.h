/* SPDX-License-Identifier: MIT */
/*
 * DWARF expressions of unwind tables, evaluated over the registers and memory of a walk. Steps and
 * depth are limited.
 */
#ifndef SONDE_UNWIND_EXPR_H
#define SONDE_UNWIND_EXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/cfi.h"

/* The inputs of an expression. Both functions return false if the value is unknown. */
struct expr_machine {
	void *ctx;
	bool (*reg)(void *ctx, uint64_t reg, uint64_t *ret);
	bool (*memory)(void *ctx, uint64_t addr, unsigned bytes, uint64_t *ret);
	/* for DW_OP_call_frame_cfa, which libdw puts in front of register expressions */
	uint64_t cfa;
	unsigned word_bytes;
	unsigned *budget; /* operations left, shared by all expressions of a walk */
};

/*
 * Evaluates an expression; the result is the top of the stack at the end. False if it cannot be
 * evaluated.
 */
bool expr_run(const struct cfi_op *ops, unsigned nr, const struct expr_machine *m, uint64_t *ret);

#endif
