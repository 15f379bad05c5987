/* SPDX-License-Identifier: MIT */
/*
 * perf's names of registers, by their bit in a mask. The bits are those of the kernel's
 * asm/perf_regs.h.
 */
#ifndef SONDE_MODEL_REGISTERS_H
#define SONDE_MODEL_REGISTERS_H

#include "compat/rules.h"
#include "sonde/sonde.h"

/*
 * Returns "unknown" if the register has no name. arch is the recorded machine; NULL means this
 * machine. The name may be written to room.
 */
const char *register_name(const struct rules *rules, const char *arch, unsigned nr, char room[16]);

#endif
