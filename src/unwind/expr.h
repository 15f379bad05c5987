/* SPDX-License-Identifier: MIT */
/* DWARF expressions of unwind tables, over registers and memory as a walk knows them. Bounded in steps and depth. */
#ifndef SONDE_UNWIND_EXPR_H
#define SONDE_UNWIND_EXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/cfi.h"

/* What an expression reads; both false when the value is not known. */
struct expr_machine {
	void *ctx;
	bool (*reg)(void *ctx, uint64_t reg, uint64_t *ret);
	bool (*memory)(void *ctx, uint64_t addr, unsigned bytes, uint64_t *ret);
	uint64_t
		cfa; /* for DW_OP_call_frame_cfa, with which libdw begins the expressions of registers */
	unsigned word_bytes;
	unsigned *budget; /* operations left, to all expressions of a walk together */
};

/* The top of the stack at the end; false for expressions that cannot be followed. */
bool expr_run(const struct cfi_op *ops, unsigned nr, const struct expr_machine *m, uint64_t *ret);

#endif
