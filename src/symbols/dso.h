/* SPDX-License-Identifier: MIT */
/*
 * Files that code was mapped from ("dso": perf's word), as found on this machine. A file is looked
 * for once, opened on first use, and kept as long as the table. A file is used only if its build id
 * is the recorded one. Without a recorded build id, the file at the path is used if it has the
 * recorded inode (any inode below --symfs, under perf's rules, or if none is recorded). Names in
 * the recording itself certainly belong to the recorded file. Without a recorded build id, they are
 * used instead of a local file's names. A local file with the recorded build id and a symbol table
 * is used instead of them, because its table is complete.
 *
 * Addresses: an *offset* is a place in the file (address - map start + pgoff). A *file address* is
 * the address of that place in the file's own tables (symbols, DWARF, unwind tables). If code is
 * not mapped from a file (perf's maps of JITs), its offsets are its addresses.
 */
#ifndef SONDE_SYMBOLS_DSO_H
#define SONDE_SYMBOLS_DSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/build_id.h"
#include "base/vec.h"
#include "compat/rules.h"
#include "model/named_file.h"
#include "sonde/sonde.h"

struct dso;
struct dso_table;

/*
 * Ids of dsos: dense, from 1, in the order of their creation. The tables of all recordings of a
 * session share one of these, so an id identifies one dso of one recording.
 */
struct dso_ids {
	VEC(struct dso *) list; /* borrowed from their tables; the one with id 1 first */
};
struct dso *dso_of_id(const struct dso_ids *ids, uint64_t id); /* NULL if no dso has the id */
void dso_ids_done(struct dso_ids *ids);

struct dso_table_options {
	const char *symfs;       /* NULL means / */
	const char *buildid_dir; /* NULL means ~/.debug */
	struct dso_ids *ids;     /* borrowed; NULL means that the table uses its own */
	bool demangle;
	bool no_follow; /* opens no recorded path: only the cache and build ids are used */
	bool force;     /* reads maps of JITs even if another user owns them */
	const struct rules *rules;
};

/* The facts about a file in a mapping. */
struct dso_key {
	/* as recorded: "/usr/bin/x", "[vdso]", "//anon"; "/tmp/perf-12.map" for JITs */
	const char *name;
	/*
	 * The kernel, a module or code registered at run time. It has an id, but no file is looked
	 * for.
	 */
	bool is_kernel;
	struct build_id build_id;
	uint64_t inode; /* inode of a file without a recorded build id; 0 if unknown */
	/*
	 * Functions that the recording itself names, borrowed from the table; NULL if none. pgoff
	 * is the mapping's, for addresses that count from its start.
	 */
	const struct named_file *named;
	uint64_t pgoff;
};

struct dso_symbol {
	const char *name;    /* demangled if requested; borrowed as long as the table */
	uint64_t start, end; /* file addresses */
	uint64_t offset;     /* offset of `start` */
	uint8_t binding;     /* 0 local, 1 global, 2 weak */
	bool is_object;      /* a variable, not a function */
};

int dso_table_new(struct dso_table **ret, const struct dso_table_options *opts);
void dso_table_free(struct dso_table *t); /* NULL is fine */
/* The dso of a mapping; the same key gives the same dso. Opens nothing. NULL if out of memory. */
struct dso *dso_get(struct dso_table *t, const struct dso_key *key);

/* True if the name is for memory that is not mapped from a file: "//anon", "[heap]" ... */
bool dso_name_is_anonymous(const char *name);
uint32_t dso_id(const struct dso *d);
const char *dso_name(const struct dso *d);
/* The recorded build id. The results of both functions are borrowed as long as the table. */
const struct build_id *dso_build_id(const struct dso *d);
/* The recorded build id. If none was recorded, that of the file whose symbols are used. */
const struct build_id *dso_build_id_found(const struct dso *d);
/* False if it is not mapped from a file: its offsets are addresses. */
bool dso_is_file(const struct dso *d);

/*
 * True if a file exists at its path, of any build, or in the cache. A [vdso] always exists, because
 * perf writes a copy of it.
 */
bool dso_is_here(struct dso *d);

/*
 * The symbol that contains an offset of the mapped file; NULL if unknown. Borrowed as long as the
 * table.
 */
const struct dso_symbol *dso_symbol_at(struct dso *d, uint64_t offset);
/* Converts an offset to a file address. Returns the offset if the file is not found. */
uint64_t dso_file_address(struct dso *d, uint64_t offset);
/*
 * Paths of files: the file with the code (and its unwind tables), and the file with its DWARF (the
 * same or a separate one). NULL if not found. The recording names them, so open only regular files,
 * read-only and non-blocking. Borrowed.
 */
const char *dso_code_path(struct dso *d);
const char *dso_debug_path(struct dso *d);
/* The bytes of code without a file (the vdso of this kernel); NULL if none. Borrowed. */
const uint8_t *dso_image(struct dso *d, size_t *ret_len);
/* Reads code at an offset. Returns how many of len bytes were read. */
size_t dso_read(struct dso *d, uint64_t offset, void *buf, size_t len);
/*
 * Descriptors. dso_open_file() opens a regular file as above. If no descriptor is free, it closes
 * those of resting files. If there is still none, it fails with -EMFILE or -ENFILE, remembers
 * nothing, and dso_report_no_descriptor() is true once for the table. A reader that keeps a
 * descriptor for long calls dso_hold_descriptor() before, and releases it afterwards.
 */
int dso_open_file(struct dso *d, const char *path);
bool dso_hold_descriptor(struct dso *d); /* False if the table may keep no more descriptors. */
void dso_release_descriptor(struct dso *d);
/* True if the last requested path was NULL for this reason. */
bool dso_lacks_descriptor(const struct dso *d);
bool dso_report_no_descriptor(struct dso *d);
/*
 * Why an address in the dso has no symbol. SONDE_UNKNOWN_NO_SYMBOL if its symbol table is
 * available.
 */
enum sonde_unknown dso_unknown(struct dso *d);
/* The same for the file. SONDE_KNOWN if its symbol table is available. */
enum sonde_unknown dso_unknown_file(struct dso *d);
/* True once, after the first such address. */
bool dso_report_unknown(struct dso *d);

#endif
