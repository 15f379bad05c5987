/* SPDX-License-Identifier: MIT */
/*
 * A file opened by libdw. Regular files only, read with pread (never mapped: a file that shrinks
 * must not kill its reader). The first files of a table keep their descriptors and are read as
 * needed; later ones are read completely. -EMFILE, -ENFILE: no descriptor was free, so another try
 * may succeed. -ENOTSUP in a build without libdw.
 */
#ifndef SONDE_SYMBOLS_DWARF_FILE_H
#define SONDE_SYMBOLS_DWARF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/dso.h"

struct dwarf_file {
	int fd;           /* -1 if none, or if all of the file is in memory */
	struct dso *held; /* borrowed; counts the descriptor; NULL if it is not counted */
	void *image;      /* owned; the bytes of an image without a file (the vdso) */
	struct Elf *elf;
	struct Dwarf *dwarf; /* NULL if it has none */
	/* owned, without links; NULL if unknown. libdw looks for further files next to it. */
	char *path;
	uint16_t machine;  /* EM_* */
	uint16_t type;     /* ET_* */
	uint8_t elf_class; /* ELFCLASS32, ELFCLASS64 */
};

/* The file with the code, or its bytes as known to the dso. */
int dwarf_file_open_code(struct dwarf_file *ret, struct dso *d);
/* The file with the DWARF. `dwarf` may be NULL nevertheless. */
int dwarf_file_open_debug(struct dwarf_file *ret, struct dso *d);
/*
 * True if the files that libdw would open for the other half of a unit (of a program built with
 * -gsplit-dwarf) are regular or missing. libdw opens them without a check, and a FIFO would block
 * it forever.
 */
bool dwarf_file_may_open_split(const struct dwarf_file *f, void *dwarf_die);
void dwarf_file_close(struct dwarf_file *f); /* {.fd = -1} and a closed file are allowed */

#endif
