/* SPDX-License-Identifier: MIT */
/*
 * Words of machines: kinds of branches as perf writes them; by default also what it does not know.
 */
#ifndef SONDE_SINKS_TEXT_MACHINE_WORDS_H
#define SONDE_SINKS_TEXT_MACHINE_WORDS_H

#include <stdint.h>

#include "compat/rules.h"
#include "sonde/sonde.h"

/*
 * Of the flags of a branch (sonde_branch.flags): "CALL", "FAULT_ALGN"; "" when the cpu does not
 * say.
 */
const char *branch_type_name(const struct rules *rules, uint64_t flags, char room[24]);

#endif
