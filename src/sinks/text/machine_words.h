/* SPDX-License-Identifier: MIT */
/*
 * Hardware-specific words: branch types in perf's words, by default also types that perf does not
 * know.
 */
#ifndef SONDE_SINKS_TEXT_MACHINE_WORDS_H
#define SONDE_SINKS_TEXT_MACHINE_WORDS_H

#include <stdint.h>

#include "compat/rules.h"
#include "sonde/sonde.h"

/*
 * The branch type in a branch's flags (sonde_branch.flags): "CALL", "FAULT_ALGN"; "" if the cpu
 * does not report it.
 */
const char *branch_type_name(const struct rules *rules, uint64_t flags, char room[24]);

#endif
