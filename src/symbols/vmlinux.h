/* SPDX-License-Identifier: MIT */
/* Kernel symbols out of the kernel's own ELF file, moved to where the recorded kernel lay. */
#ifndef SONDE_SYMBOLS_VMLINUX_H
#define SONDE_SYMBOLS_VMLINUX_H

#include "symbols/kallsyms.h"
#include "symbols/kernel_options.h"

/* -ESTALE: it is another build than the recorded one. */
int vmlinux_open(struct kallsyms **ret, const char *path,
		 const struct kernel_symbols_options *opts);
/* The first one that is the recorded kernel, at the places where distributions put it; writes its path. -ENOENT: none. */
int vmlinux_find(struct kallsyms **ret, const struct kernel_symbols_options *opts, char *ret_path,
		 size_t path_size);

#endif
