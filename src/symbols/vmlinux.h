/* SPDX-License-Identifier: MIT */
/* Kernel symbols from the kernel's own ELF file, moved to the address of the recorded kernel. */
#ifndef SONDE_SYMBOLS_VMLINUX_H
#define SONDE_SYMBOLS_VMLINUX_H

#include "symbols/kallsyms.h"
#include "symbols/kernel_options.h"

/* -ESTALE if it is a different build than the recorded one. */
int vmlinux_open(struct kallsyms **ret, const char *path,
		 const struct kernel_symbols_options *opts);
/*
 * The first file that is the recorded kernel, at the places that distributions use. Writes its
 * path. -ENOENT if there is none.
 */
int vmlinux_find(struct kallsyms **ret, const struct kernel_symbols_options *opts, char *ret_path,
		 size_t path_size);

#endif
