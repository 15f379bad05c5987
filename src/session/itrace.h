/* SPDX-License-Identifier: MIT */
/* The value of perf's --itrace, which says what to make of the trace of a processor. */
#ifndef SONDE_ITRACE_H
#define SONDE_ITRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "compat/rules.h"

/* Whether perf takes it; if not, *ret_at is where it goes wrong. */
bool itrace_valid(const char *text, const struct rules *rules, size_t *ret_at);

#endif
