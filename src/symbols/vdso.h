/* SPDX-License-Identifier: MIT */
/* The vdso of the running kernel: a file that exists only in memory. */
#ifndef SONDE_SYMBOLS_VDSO_H
#define SONDE_SYMBOLS_VDSO_H

#include "formats/elf/file.h"

/* -ENOENT if this process has none. */
int vdso_open(struct elf_file **ret);

#endif
