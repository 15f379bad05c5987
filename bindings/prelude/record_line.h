/* SPDX-License-Identifier: MIT */
/* The command line of `sonde record` that records what a script needs. */
#ifndef SONDE_PRELUDE_RECORD_LINE_H
#define SONDE_PRELUDE_RECORD_LINE_H

#include <stddef.h>

#include "sonde/sonde.h"

/*
 * The length of the first name of a list: it ends at a comma outside of parentheses, braces and
 * slashes, "pair(a:b,c:d)", "{a,b}", "cpu/a=1,b=2/".
 */
size_t prelude_name_length(const char *list);
/*
 * The line: events, settings (lines KEY=VALUE) and command of r, and the name of an output, which
 * may be NULL. NULL if there is no memory; free() frees it.
 */
char *prelude_record_line(const struct sonde_record_options *r, const char *output);

#endif
