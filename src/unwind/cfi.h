/* SPDX-License-Identifier: MIT */
/*
 * The unwind tables of a file (.eh_frame, or else .debug_frame), as rows. A row says for one code
 * address how to find the caller's registers. It is made once per address and kept.
 */
#ifndef SONDE_UNWIND_CFI_H
#define SONDE_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/dso.h"

enum { CFI_MAX_REGS = 64 }; /* only DWARF registers with smaller numbers are tracked */

/* One operation of a DWARF expression. For jumps, `number` is the index of the target operation. */
struct cfi_op {
	uint64_t number, number2;
	uint8_t atom; /* DW_OP_* */
};

enum cfi_rule_kind {
	CFI_AT_CFA,   /* value is in memory at CFA + offset */
	CFI_VAL_CFA,  /* value is CFA + offset */
	CFI_REGISTER, /* value is in register reg, plus offset */
	CFI_AT_EXPR,  /* value is in memory at the expression's result */
	CFI_VAL_EXPR  /* value is the expression's result */
};

struct cfi_rule {
	const struct cfi_op *ops; /* for the EXPR kinds */
	int64_t offset;
	uint16_t nr_ops;
	uint8_t kind; /* enum cfi_rule_kind */
	uint8_t of;   /* the register that the rule restores */
	uint8_t reg;
};

struct cfi_row {
	struct cfi_rule cfa;          /* kind REGISTER or VAL_EXPR */
	const struct cfi_rule *rules; /* registers without a rule keep their value, */
	uint64_t lost;                /* or lose it: one bit per register */
	uint8_t nr_rules;
	uint8_t return_reg;
	bool is_signal; /* the caller was interrupted; it did not call */
};

struct cfi;

/*
 * Fails only if out of memory: a file without tables has no rows. as_perf: ignores an .eh_frame
 * without its search table (.eh_frame_hdr), as in statically linked files, and the .debug_frame of
 * files that are not linked to a fixed address.
 */
int cfi_open(struct cfi **ret, struct dso *d, bool as_perf);
void cfi_close(struct cfi *c); /* NULL is fine */
bool cfi_has_tables(const struct cfi *c);
/* The row for a file address; NULL if the tables do not cover it. Borrowed as long as c. */
const struct cfi_row *cfi_row_at(struct cfi *c, uint64_t file_addr);

#endif
