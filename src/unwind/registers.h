/* SPDX-License-Identifier: MIT */
/*
 * The user-space registers in samples: perf's numbers (uapi asm/perf_regs.h of each architecture)
 * and DWARF's (each architecture's psABI).
 */
#ifndef SONDE_UNWIND_REGISTERS_H
#define SONDE_UNWIND_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_arch {
	uint16_t machine;            /* EM_* of its code */
	uint8_t word_bytes;          /* size of addresses and registers */
	uint8_t perf_pc;             /* perf's number of the program counter */
	uint8_t sp, fp;              /* DWARF's numbers; fp is x86's frame pointer, otherwise 255 */
	uint8_t nr;                  /* DWARF registers 0..nr-1 are tracked */
	const int8_t *dwarf_to_perf; /* -1 if not recorded */
};

/*
 * The registers of a machine; NULL if the machine is unknown, or if the sample has no registers.
 * recorded_on: the machine's name from uname ("x86_64"). abi: PERF_SAMPLE_REGS_ABI_* of the sample.
 */
const struct unwind_arch *unwind_arch_of(const char *recorded_on, uint64_t abi);

#endif
