/* SPDX-License-Identifier: MIT */
/*
 * An ELF file: its segments, its sections and their bytes. Either class, either byte order; read with pread, so that a file
 * that shrinks is a short read. The file may be anybody's: every size is bounded by the file's own before it is used, and
 * a table that does not fit is taken as empty. Of more than 1024 segments the first ones count.
 *
 *	struct elf_file *f;
 *	TRY(elf_file_open(&f, "/usr/bin/x"));
 *	const struct elf_section *s = elf_file_section(f, ".symtab");
 */
#ifndef SONDE_FORMATS_ELF_FILE_H
#define SONDE_FORMATS_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/elf/notes.h"

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, filesz, memsz;
};

struct elf_section {
	const char *name; /* lent by the file; "" unknown */
	uint32_t type, link;
	uint64_t flags, addr, offset, size, align, entsize;
};

struct elf_file {
	int fd; /* owned; -1: at rest, or the bytes are in memory */
	uint64_t dev, ino, mtime_ns;
	uint8_t *image;   /* owned; of a file in memory */
	uint64_t size;    /* bytes */
	const char *path; /* owned; or what to call it */
	bool swap;        /* the other byte order than this machine's */
	bool is64;
	uint16_t type, machine;
	struct elf_segment *segments; /* owned */
	size_t nr_segments;
	const struct elf_segment *last_code; /* of elf_file_address() */
	struct elf_section *sections;        /* owned */
	size_t nr_sections;
	char *names; /* owned; of the sections */
};

/* Read-only, without waiting; regular files only. */
int elf_file_open(struct elf_file **ret, const char *path);
/* Takes the malloc'd image in, also when it fails. */
int elf_file_from_memory(struct elf_file **ret, uint8_t *take_image, size_t len, const char *name);
void elf_file_close(struct elf_file *f); /* NULL is fine */
/* Gives the descriptor back until it is woken; -ESTALE: another file has taken its place. Both may be called at any time. */
void elf_file_rest(struct elf_file *f);
int elf_file_wake(struct elf_file *f);

/* The first one of that name; NULL: there is none. */
const struct elf_section *elf_file_section(const struct elf_file *f, const char *name);
/* The bytes of a section, malloc'd, with a NUL behind them; -ENODATA when it has none in the file. */
int elf_file_load(const struct elf_file *f, const struct elf_section *s, uint8_t **ret);
/* How many of len bytes at an offset of the file could be read. */
size_t elf_file_read(const struct elf_file *f, uint64_t offset, void *buf, size_t len);
struct build_id elf_file_build_id(const struct elf_file *f);
/* The loaded segment that an address is in, counting what is in memory only; NULL: none. */
const struct elf_segment *elf_file_segment_at(const struct elf_file *f, uint64_t vaddr);
/* The same number as a place in the file, told by the segment that was mapped there; false: no segment. */
bool elf_file_address(struct elf_file *f, uint64_t offset, uint64_t *ret_vaddr);

#endif
