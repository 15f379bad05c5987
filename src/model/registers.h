/* SPDX-License-Identifier: MIT */
/*
 * perf's words for registers, by their bit in a mask: the numbers of the kernel's asm/perf_regs.h.
 */
#ifndef SONDE_MODEL_REGISTERS_H
#define SONDE_MODEL_REGISTERS_H

#include "compat/rules.h"
#include "sonde/sonde.h"

/*
 * "unknown": it has none. arch: as the recording has it, NULL: this machine's. `room` serves names
 * that are made.
 */
const char *register_name(const struct rules *rules, const char *arch, unsigned nr, char room[16]);

#endif
