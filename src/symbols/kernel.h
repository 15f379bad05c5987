/* SPDX-License-Identifier: MIT */
/*
 * Finds kernel symbols for a recording. Tried in this order: the file that the user named; the
 * recording's own kallsyms; the build-id cache; the running kernel's, if its build id is the
 * recorded one; a vmlinux of that build; the functions that the recording itself names, which are
 * only some. Under perf's rules a vmlinux is first, and the running kernel is also used if the
 * recording has no build id. Symbols of another kernel are never used.
 */
#ifndef SONDE_SYMBOLS_KERNEL_H
#define SONDE_SYMBOLS_KERNEL_H

#include "symbols/kallsyms.h"
#include "symbols/kernel_options.h"

/*
 * If there are no symbols, the result is 0 and *ret is NULL; err_text() then says why. ret_path, of
 * PATH_MAX bytes, receives the path of the kernel's file; "" if the symbols are from a kallsyms
 * text.
 */
int kernel_symbols_open(struct kallsyms **ret, const struct kernel_symbols_options *opts,
			char *ret_path);

#endif
