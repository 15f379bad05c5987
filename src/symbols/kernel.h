/* SPDX-License-Identifier: MIT */
/*
 * Where kernel symbols for a recording come from, tried in this order: the file the user named; the recording's own
 * kallsyms; the build-id cache; the running kernel's, if it is the recorded one by build id; a
 * vmlinux of that build; the functions that the recording itself names, which are only some. Under
 * perf's rules: a vmlinux first, the running kernel's also where the recording names no
 * build id. Never wrong names.
 */
#ifndef SONDE_SYMBOLS_KERNEL_H
#define SONDE_SYMBOLS_KERNEL_H

#include "symbols/kallsyms.h"
#include "symbols/kernel_options.h"

/*
 * *ret may be NULL with result 0: no symbols are to be had; err_text() then says why. ret_path, of PATH_MAX bytes: the
 * kernel's file that they are out of, "" when they are of a kallsyms text.
 */
int kernel_symbols_open(struct kallsyms **ret, const struct kernel_symbols_options *opts,
			char *ret_path);

#endif
