/* SPDX-License-Identifier: MIT */
/*
 * An ELF file: its segments, its sections and their bytes. Supports both classes and both byte
 * orders. Reads use pread, so that a file that shrinks causes a short read. The file is not
 * trusted: every size is limited by the size of the file, and a table that does not fit counts as
 * empty. Only the first 1024 segments count.
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
	const char *name; /* borrowed from the file; "" if unknown */
	uint32_t type, link;
	uint64_t flags, addr, offset, size, align, entsize;
};

struct elf_file {
	int fd; /* owned; -1 if at rest, or if the bytes are in memory */
	uint64_t dev, ino, mtime_ns;
	uint8_t *image;   /* owned; set if the file is in memory */
	uint64_t size;    /* bytes */
	const char *path; /* owned; for a file in memory, a name for messages */
	bool swap;        /* not this machine's byte order */
	bool is64;
	uint16_t type, machine;
	struct elf_segment *segments; /* owned */
	size_t nr_segments;
	const struct elf_segment *last_code; /* the last answer of elf_file_address() */
	struct elf_section *sections;        /* owned */
	size_t nr_sections;
	char *names; /* owned; section names */
};

/* Opens for reading, without blocking; regular files only. */
int elf_file_open(struct elf_file **ret, const char *path);
/* Takes over the malloc'd image, even on failure. */
int elf_file_from_memory(struct elf_file **ret, uint8_t *take_image, size_t len, const char *name);
void elf_file_close(struct elf_file *f); /* NULL is fine */
/*
 * Closes the descriptor until the file is woken. -ESTALE: another file has taken its place. Both
 * may be called at any time.
 */
void elf_file_rest(struct elf_file *f);
int elf_file_wake(struct elf_file *f);

/* The first section of that name; NULL if there is none. */
const struct elf_section *elf_file_section(const struct elf_file *f, const char *name);
/* The bytes of a section, malloc'd, with a NUL after them. -ENODATA if it has none in the file. */
int elf_file_load(const struct elf_file *f, const struct elf_section *s, uint8_t **ret);
/* Returns how many of len bytes at an offset of the file were read. */
size_t elf_file_read(const struct elf_file *f, uint64_t offset, void *buf, size_t len);
struct build_id elf_file_build_id(const struct elf_file *f);
/*
 * The loaded segment that contains an address, including parts that are only in memory; NULL if
 * none.
 */
const struct elf_segment *elf_file_segment_at(const struct elf_file *f, uint64_t vaddr);
/* The file address of an offset, by the segment that maps it; false if no segment does. */
bool elf_file_address(struct elf_file *f, uint64_t offset, uint64_t *ret_vaddr);

#endif
