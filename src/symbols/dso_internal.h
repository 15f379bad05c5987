/* SPDX-License-Identifier: MIT */
/*
 * Interface between the files of a dso and its table. dso_table.c keeps dsos and their descriptors,
 * dso.c finds the files of a dso, dso_symbols.c the symbols in them.
 */
#ifndef SONDE_SYMBOLS_DSO_INTERNAL_H
#define SONDE_SYMBOLS_DSO_INTERNAL_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "formats/elf/file.h"
#include "symbols/dso.h"
#include "symbols/dso_files.h"
#include "symbols/symbol_set.h"

enum {
	MAX_OPEN_FILES = 64,      /* per table; beyond that the least recently used files rest */
	MAX_HELD_DESCRIPTORS = 64 /* ... by readers that keep them */
};

struct dso {
	struct dso_table *table;
	struct dso *next;         /* with the same hash */
	struct build_id build_id; /* as recorded */
	struct dso_place place;   /* the build id is the recorded one, or else the file's */
	enum { DSO_FILE, DSO_VDSO, DSO_JIT, DSO_NONE, DSO_KERNEL } kind;
	uint32_t id;
	uint64_t inode; /* as recorded; 0 if unknown */
	/* borrowed; NULL if the recording names no function of it */
	const struct named_file *named;
	uint64_t named_off; /* offset of the first address in `named` */
	bool files_tried, symbols_tried, debug_tried, lacks_descriptor, other_build, no_right,
		stripped, too_large, was_reported;
	struct elf_file *code;              /* owned; NULL if not found */
	const char *code_path, *debug_path; /* NULL if not found */
	struct symbol_set symbols;
	struct hash64 answers; /* offset -> struct dso_symbol *, 0 if unknown */
};

struct dso_table {
	struct dso_table_options opts;
	const char *symfs, *cache;
	struct arena arena;
	struct hash64 by_key;
	VEC(struct dso *) all; /* owned by the arena, except for what they own */
	struct dso_ids own_ids;
	struct elf_file *open[MAX_OPEN_FILES]; /* borrowed; a ring */
	unsigned next_open, held;
	uint64_t map_bytes_left; /* bytes that maps of JITs may still use */
	/* a file could not be opened for lack of a descriptor since this was last cleared */
	bool starved;
	bool was_starved; /* ... ever */
	bool reported_starved;
};

/* dso_table.c. All of them record in the table that no descriptor was free. */
int dso_table_note_starved(struct dso_table *t, int r); /* returns r */
int dso_table_open_elf(struct dso_table *t, struct elf_file **ret, const char *path);
/* Reopens a file if it rests. False if it can no longer be read. */
bool dso_table_wake(struct dso_table *t, struct elf_file *f);

/* dso.c. The dso is not in the table yet and has no id. NULL if out of memory. */
struct dso *dso_new(struct dso_table *t, const struct dso_key *key);
void dso_done(struct dso *d); /* frees what d owns; the rest is in the table's arena */
/*
 * Finds the mapped file: the file at its path, or the copy in the cache if that is gone or
 * replaced.
 */
void dso_find_code(struct dso *d);
bool dso_wake(struct dso *d); /* wakes its code file: see dso_table_wake() */
/* A file of one kind, if it exists and is the recorded build; otherwise NULL. */
struct elf_file *dso_try_file(struct dso *d, enum dso_file which, const char *debuglink);

#endif
