/* SPDX-License-Identifier: MIT */
/*
 * Names of registers by their bit in a mask of registers: the numbers of the kernel's asm/perf_regs.h, perf's words. With
 * compat those of that perf, by default also what it does not know.
 */
#ifndef SONDE_FORMATS_PERFDATA_REGISTERS_H
#define SONDE_FORMATS_PERFDATA_REGISTERS_H

#include "sonde/sonde.h"

/* "unknown": it has none. arch: as the recording has it, NULL: this machine's. `room` serves names that are made. */
const char *perfdata_register_name(enum sonde_compat compat, const char *arch, unsigned nr,
				   char room[16]);

#endif
