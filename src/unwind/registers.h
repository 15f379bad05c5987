/* SPDX-License-Identifier: MIT */
/*
 * Registers of user space as samples carry them: perf's numbers (uapi asm/perf_regs.h of each architecture) and DWARF's
 * (each architecture's psABI).
 */
#ifndef SONDE_UNWIND_REGISTERS_H
#define SONDE_UNWIND_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_arch {
	uint16_t machine;            /* EM_* of its code */
	uint8_t word_bytes;          /* of addresses and registers */
	uint8_t perf_pc;             /* perf's number of the program counter */
	uint8_t sp, fp;              /* DWARF's numbers; fp: of x86's frame pointer, else 255 */
	uint8_t nr;                  /* DWARF registers 0..nr-1 are followed */
	const int8_t *dwarf_to_perf; /* -1: not recorded */
};

/*
 * recorded_on: the machine's name as uname tells it ("x86_64"); abi: PERF_SAMPLE_REGS_ABI_* of the sample. NULL: not known
 * here, or there are no registers.
 */
const struct unwind_arch *unwind_arch_of(const char *recorded_on, uint64_t abi);

#endif
