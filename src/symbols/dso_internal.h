/* SPDX-License-Identifier: MIT */
/*
 * What the files of a dso know of it, and of its table: dso_table.c keeps dsos and their
 * descriptors, dso.c finds the files of one, dso_symbols.c the symbols in them.
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
	MAX_OPEN_FILES = 64,      /* of a table: those that were used longest ago rest */
	MAX_HELD_DESCRIPTORS = 64 /* ... of readers that keep them */
};

struct dso {
	struct dso_table *table;
	struct dso *next;         /* of the same hash */
	struct build_id build_id; /* as recorded */
	struct dso_place place;   /* where its build id is not recorded, with that of the file */
	enum { DSO_FILE, DSO_VDSO, DSO_JIT, DSO_NONE, DSO_KERNEL } kind;
	uint32_t id;
	uint64_t inode; /* recorded, 0 unknown */
	/* borrowed; NULL if the recording names no function of it */
	const struct named_file *named;
	uint64_t named_off; /* of their first address */
	bool files_tried, symbols_tried, debug_tried, lacks_descriptor, other_build, no_right,
		stripped, too_large, told;
	struct elf_file *code;              /* owned; NULL: not found */
	const char *code_path, *debug_path; /* NULL: not found */
	struct symbol_set symbols;
	struct hash64 answers; /* offset -> struct dso_symbol *, 0 unknown */
};

struct dso_table {
	struct dso_table_options opts;
	const char *symfs, *cache;
	struct arena arena;
	struct hash64 by_key;
	VEC(struct dso *) all; /* owned by the arena, but what they hold */
	struct dso_ids own_ids;
	struct elf_file *open[MAX_OPEN_FILES]; /* lent; a ring */
	unsigned next_open, held;
	uint64_t map_bytes_left; /* that maps of JITs may still have */
	bool starved;     /* since it was last set false there was no descriptor for a file */
	bool was_starved; /* ... ever */
	bool told_starved;
};

/* dso_table.c. All note in the table that there was no descriptor. */
int dso_table_note_starved(struct dso_table *t, int r); /* returns r */
int dso_table_open_elf(struct dso_table *t, struct elf_file **ret, const char *path);
/* Opens a file again if it rests; false when it cannot be read any more. */
bool dso_table_wake(struct dso_table *t, struct elf_file *f);

/* dso.c. Not yet in the table, and without an id; NULL: no memory. */
struct dso *dso_new(struct dso_table *t, const struct dso_key *key);
void dso_done(struct dso *d); /* what it holds; the table's arena has the rest */
/* What is mapped: the file of that path; if it is gone or replaced, the copy in the cache. */
void dso_find_code(struct dso *d);
bool dso_wake(struct dso *d); /* its code: dso_table_wake() */
/* A file of one kind if there is one and it is the recorded build; NULL. */
struct elf_file *dso_try_file(struct dso *d, enum dso_file which, const char *debuglink);

#endif
