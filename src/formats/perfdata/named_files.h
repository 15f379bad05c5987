/* SPDX-License-Identifier: MIT */
/*
 * Names of functions in a recording of Android's simpleperf: the header sections FILE (binary) and
 * FILE2 (protobuf). Both are a sequence of files, each preceded by its size. They contain only
 * functions that samples hit.
 *
 *	FILE   { u32 size | char path[] | u32 kind | u64 first_addr | u32 n
 *	         | n x { u64 addr | u32 len | char name[] }
 *	         | kind DEX: u32 n | n x u64
 *	         | kind ELF, MODULE: u64 first_off, not in old recordings }
 *	FILE2  { u32 size | message: 1 path, 2 kind, 3 first_addr,
 *	         4 repeated { 1 addr, 2 len, 3 name }, 6 or 7 { 1 first_off } }
 */
#ifndef SONDE_FORMATS_PERFDATA_NAMED_FILES_H
#define SONDE_FORMATS_PERFDATA_NAMED_FILES_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/vec.h"
#include "model/named_file.h"

/*
 * Symbols without a name or a length do not count. FILE2's shortest symbol that counts has 7 bytes
 * and takes 40 in memory: a section of n bytes needs at most 6 n, and 7 n more while a single file
 * that has all of it is read. simpleperf writes some 100 KiB per 1,000 functions.
 */
enum { PERFDATA_MAX_NAMED_BYTES = 32 << 20 };

struct named_files { /* a vec, see base/vec.h */
	struct named_file *v;
	size_t n, capacity;
};

/*
 * Appends the section's files to files. Names may be borrowed from the section's bytes; the rest is
 * in the arena. Damage ends the reading: files before it are kept, the damaged one is left out.
 */
int perfdata_named_files_read(struct bytes *b, struct arena *a, struct named_files *files);
int perfdata_named_files2_read(struct bytes *b, struct arena *a, struct named_files *files);

#endif
