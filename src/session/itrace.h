/* SPDX-License-Identifier: MIT */
/* Checks the value of perf's --itrace, which selects the events to make from an AUX trace. */
#ifndef SONDE_ITRACE_H
#define SONDE_ITRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "compat/rules.h"

/* True if perf accepts the value; otherwise *ret_at is the offset of the error. */
bool itrace_valid(const char *text, const struct rules *rules, size_t *ret_at);

#endif
