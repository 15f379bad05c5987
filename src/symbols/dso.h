/* SPDX-License-Identifier: MIT */
/*
 * Files that code was mapped from ("dso": perf's word), as they are found on this machine: looked for once, opened when
 * first asked for something, kept as long as the table. A file counts only if its build id is the recorded one; without a
 * recorded build id the file of that path counts if it has the recorded inode (below --symfs, and in perf's way, any).
 * Names in the recording itself belong to the recorded file for certain. They are used instead of
 * those of a local file without a recorded build id. A local file with the recorded build id and a
 * symbol table is used instead of them: its table is complete.
 *
 * Addresses: an *offset* is a place in the file (address - map start + pgoff); a *file address* is where the file's own
 * tables (symbols, DWARF, unwind tables) say that place is. What is mapped from no file (perf's maps of JITs) has its
 * addresses for offsets.
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
 * Ids of dsos: dense, from 1, in the order in which they were asked for. The tables of all
 * recordings of a session share one of these, so an id means one dso of one recording.
 */
struct dso_ids {
	VEC(struct dso *) list; /* lent by their tables; the one with id 1 first */
};
struct dso *dso_of_id(const struct dso_ids *ids, uint64_t id); /* NULL: nobody has it */
void dso_ids_done(struct dso_ids *ids);

struct dso_table_options {
	const char *symfs;       /* NULL: / */
	const char *buildid_dir; /* NULL: ~/.debug */
	struct dso_ids *ids;     /* borrowed; NULL: the table has its own */
	bool demangle;
	bool no_follow; /* nothing is opened by a recorded path: the cache and build ids are all there is */
	bool force; /* maps of JITs also when another user owns them */
	const struct rules *rules;
};

/* What a mapping says of its file. */
struct dso_key {
	const char *
		name; /* as recorded: "/usr/bin/x", "[vdso]", "//anon"; for JITs "/tmp/perf-12.map" */
	/* The kernel, a module or code registered at run time: has an id, and is looked for nowhere. */
	bool is_kernel;
	struct build_id build_id;
	uint64_t inode; /* of a file without a recorded build id; 0 unknown */
	/*
	 * Functions that the recording itself names, borrowed from the table; NULL: none. pgoff
	 * is the asking mapping's, for addresses that are counted from its begin.
	 */
	const struct named_file *named;
	uint64_t pgoff;
};

struct dso_symbol {
	const char *name;    /* demangled if asked for; lent as long as the table */
	uint64_t start, end; /* file addresses */
	uint64_t offset;     /* of start */
	uint8_t binding;     /* 0 local, 1 global, 2 weak */
};

int dso_table_new(struct dso_table **ret, const struct dso_table_options *opts);
void dso_table_free(struct dso_table *t); /* NULL is fine */
/* The dso of a mapping, the same one for the same key; opens nothing. NULL: no memory. */
struct dso *dso_get(struct dso_table *t, const struct dso_key *key);

/* Of memory that no file lies in: "//anon", "[heap]" ... */
bool dso_name_is_anonymous(const char *name);
uint32_t dso_id(const struct dso *d);
const char *dso_name(const struct dso *d);
/* Both lent as long as the table. The recorded one; */
const struct build_id *dso_build_id(const struct dso *d);
/* ... if none is recorded, that of the file in which symbols were looked for. */
const struct build_id *dso_build_id_found(const struct dso *d);
/* False for what is mapped from no file: its offsets are addresses. */
bool dso_is_file(const struct dso *d);

/*
 * True if a file of its path is here, whatever build it is, or one of the cache; perf dumps a
 * [vdso] for itself.
 */
bool dso_is_here(struct dso *d);

/* The symbol that holds an offset of the mapped file; NULL unknown. Lent as long as the table. */
const struct dso_symbol *dso_symbol_at(struct dso *d, uint64_t offset);
/* Offset of the file -> file address; the same number when the file is not found. */
uint64_t dso_file_address(struct dso *d, uint64_t offset);
/*
 * Files: the one whose code ran (with its unwind tables), and the one with its DWARF (the same, or apart); NULL when not
 * found. Paths are to be opened as DESIGN's section 6 says: read-only, non-blocking, regular files. Lent.
 */
const char *dso_code_path(struct dso *d);
const char *dso_debug_path(struct dso *d);
/* The bytes of what is in no file (the vdso of this kernel); NULL. Lent. */
const uint8_t *dso_image(struct dso *d, size_t *ret_len);
/* Bytes of code at an offset: how many of len could be read. */
size_t dso_read(struct dso *d, uint64_t offset, void *buf, size_t len);
/*
 * Descriptors. dso_open_file() opens a regular file's path as above, giving back those of files at rest when there are no
 * more; -EMFILE, -ENFILE then: nothing is remembered, and dso_tell_no_descriptor() is true once for the table.
 * A reader that keeps one for long asks first; what it was given it releases.
 */
int dso_open_file(struct dso *d, const char *path);
bool dso_hold_descriptor(struct dso *d); /* false: the table's share is used up */
void dso_release_descriptor(struct dso *d);
bool dso_lacks_descriptor(const struct dso *d); /* why the last path asked for was NULL */
bool dso_tell_no_descriptor(struct dso *d);
/* Why an address in it has no symbol; SONDE_UNKNOWN_NO_SYMBOL if its symbol table is here. */
enum sonde_unknown dso_unknown(struct dso *d);
/* The same for the file: SONDE_KNOWN if its symbol table is here. */
enum sonde_unknown dso_unknown_file(struct dso *d);
/* True once: such an address was met. */
bool dso_tell_unknown(struct dso *d);

#endif
