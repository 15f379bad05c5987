/* SPDX-License-Identifier: MIT */
/*
 * A file opened by libdw: read with pread (never mapped: a file that shrinks must not kill its reader), regular files
 * only. The first files of a table keep their descriptors, which reads only what is needed; later ones are read whole.
 * -EMFILE, -ENFILE: there was no descriptor; another try may have one. The build without libdw has none: opening says -ENOTSUP.
 */
#ifndef SONDE_SYMBOLS_DWARF_FILE_H
#define SONDE_SYMBOLS_DWARF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/dso.h"

struct dwarf_file {
	int fd;           /* -1: none, or all of the file is in memory */
	struct dso *held; /* lent; counts the descriptor; NULL: it is not counted */
	void *image;      /* owned; bytes of a file that is no file (the vdso) */
	struct Elf *elf;
	struct Dwarf *dwarf; /* NULL: has none */
	char *path;          /* owned, without links; NULL: unknown. libdw looks for further files beside it */
	uint16_t machine;    /* EM_* */
	uint16_t type;       /* ET_* */
	uint8_t elf_class;   /* ELFCLASS32, ELFCLASS64 */
};

/* The file whose code ran, or its bytes as the dso knows them. */
int dwarf_file_open_code(struct dwarf_file *ret, struct dso *d);
/* The file with the DWARF; `dwarf` may be NULL all the same. */
int dwarf_file_open_debug(struct dwarf_file *ret, struct dso *d);
/*
 * Whether what libdw would open for the other half of a unit (of a program built with -gsplit-dwarf) are regular files, or not
 * there: it opens without looking, and a FIFO would hold it for ever.
 */
bool dwarf_file_may_open_split(const struct dwarf_file *f, void *dwarf_die);
void dwarf_file_close(struct dwarf_file *f); /* {.fd = -1} or closed is fine */

#endif
