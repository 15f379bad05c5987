/* SPDX-License-Identifier: MIT */
/*
 * The unwind tables of a file (.eh_frame, else .debug_frame), as rows: how at one address of the code the registers of the
 * caller are found. A row is made once per address and kept.
 */
#ifndef SONDE_UNWIND_CFI_H
#define SONDE_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/dso.h"

enum { CFI_MAX_REGS = 64 }; /* DWARF's numbers below this are followed */

/* One operation of a DWARF expression; of jumps `number` is the index of the operation to go on with. */
struct cfi_op {
	uint64_t number, number2;
	uint8_t atom; /* DW_OP_* */
};

enum cfi_rule_kind {
	CFI_AT_CFA,   /* in memory at CFA + offset */
	CFI_VAL_CFA,  /* is CFA + offset */
	CFI_REGISTER, /* is in register reg, plus offset */
	CFI_AT_EXPR,  /* in memory at what the expression gives */
	CFI_VAL_EXPR  /* is what the expression gives */
};

struct cfi_rule {
	const struct cfi_op *ops; /* of the EXPR kinds */
	int64_t offset;
	uint16_t nr_ops;
	uint8_t kind; /* enum cfi_rule_kind */
	uint8_t of;   /* the register that the rule is for */
	uint8_t reg;
};

struct cfi_row {
	struct cfi_rule cfa;          /* REGISTER or VAL_EXPR */
	const struct cfi_rule *rules; /* registers without one keep their value, */
	uint64_t lost;                /* or lose it: bit per register */
	uint8_t nr_rules;
	uint8_t return_reg;
	bool is_signal; /* the caller was interrupted, not called from */
};

struct cfi;

/*
 * Never fails but for memory: a file without tables has no rows. as_perf: passed over are an .eh_frame without the table
 * that makes it searchable (.eh_frame_hdr), as in files linked statically, and the .debug_frame of what is not linked to
 * a fixed address.
 */
int cfi_open(struct cfi **ret, struct dso *d, bool as_perf);
void cfi_close(struct cfi *c); /* NULL is fine */
bool cfi_has_tables(const struct cfi *c);
/* The row for a file address; NULL: the tables tell nothing of it. Lent as long as c. */
const struct cfi_row *cfi_row_at(struct cfi *c, uint64_t file_addr);

#endif
