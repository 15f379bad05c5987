/* SPDX-License-Identifier: MIT */
/* The vdso of the running kernel: a file that is in memory only. */
#ifndef SONDE_SYMBOLS_VDSO_H
#define SONDE_SYMBOLS_VDSO_H

#include "formats/elf/file.h"

/* -ENOENT: this process has none. */
int vdso_open(struct elf_file **ret);

#endif
