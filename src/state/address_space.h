/* SPDX-License-Identifier: MIT */
/*
 * The mappings of a process, sorted by address. A forked process or a kept event holds a reference
 * to the same space. A change to a space with further references is made to a copy (copy on write),
 * so a holder keeps the mappings as of the time when it took the reference.
 *
 * They are a balanced tree (AVL). A change copies only the nodes on its path: spaces that differ in
 * one mapping share the others, and a thousand forks of a process with ten thousand mappings cost a
 * few nodes each. Adding a mapping costs the logarithm of their number, also when it replaces many
 * others, which are cut out as a subtree.
 */
#ifndef SONDE_STATE_ADDRESS_SPACE_H
#define SONDE_STATE_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/build_id.h"


struct mapping {
	uint64_t start, end; /* avma */
	uint64_t pgoff;      /* bytes */
	uint64_t inode;      /* 0 unknown */
	uint32_t name;       /* id in the session's string pool */
	int32_t pid;         /* the process that mapped it, maybe a parent of the one at hand */
	uint32_t dso;        /* a cache for recording/locate_user.c: its id; 0 not looked up yet */
	bool executable;
	bool out_of_line; /* a symbol: code of no file */
	struct build_id build_id;
};

/* Code is kept in aligned pieces, at most this many: 4 MiB of code in 17 MB of memory. */
enum { CODE_PIECE_BYTES = 32, MAX_CODE_PIECES = 131072 };

struct map_node;
struct address_space {
	unsigned refs;  /* a session and its events are used by one thread at a time */
	uint64_t stamp; /* unique in a session; changes with each change of the space */
	struct map_node *root;
	/*
	 * The kernel's: symbols registered at run time. They hide the mappings below them and never
	 * split one.
	 */
	struct map_node *symbols;
	/* The kernel's: code that was written while it ran, in pieces of CODE_PIECE_BYTES. */
	struct map_node *code;
	size_t nr_code; /* pieces */
	/*
	 * What was mapped before exec, while nothing shows that the new program runs; it has none
	 * itself. A reference. NULL: none.
	 */
	struct address_space *before;
};

int address_space_new(struct address_space **ret, uint64_t stamp);
struct address_space *address_space_ref(struct address_space *a);
void address_space_unref(struct address_space *a); /* a may be NULL */
/*
 * Adds a mapping, which replaces what it overlaps; *a may become another (copied) space. stamp: the
 * new one. After -ENOMEM mappings may be missing.
 */
int address_space_add(struct address_space **a, const struct mapping *m, uint64_t stamp);
/* The new program runs: lookups ignore what was mapped before exec. */
void address_space_settle(struct address_space *a);
const struct mapping *address_space_find(const struct address_space *a,
					 uint64_t addr); /* NULL: nothing there */
/*
 * The first mapping that ends after addr; NULL if there is none. Starting at 0 this visits all in
 * order.
 */
const struct mapping *address_space_behind(const struct address_space *a, uint64_t addr);
/*
 * Registers a symbol, m->name its name. It replaces the symbols that it overlaps as a whole. The
 * code there is not known until it is written.
 */
int address_space_add_symbol(struct address_space **a, const struct mapping *m, uint64_t stamp);
/* Unregisters the symbol at addr; the space does not change if there is none. */
int address_space_remove_symbol(struct address_space **a, uint64_t addr, uint64_t stamp);
const struct mapping *address_space_symbol(const struct address_space *a,
					   uint64_t addr); /* NULL: none there */
/*
 * Code at addr is these bytes from now on; NULL: it is not known any more. The stamp stays: names
 * do not change. Returns 1 if there are MAX_CODE_PIECES already: bytes outside of them are left
 * out.
 */
int address_space_write_code(struct address_space **a, uint64_t addr, const uint8_t *code,
			     size_t len);
/*
 * Copies what is known of the code at addr; bytes not known stay as they are. Returns how many are
 * known from the first on.
 */
size_t address_space_code(const struct address_space *a, uint64_t addr, uint8_t *buf, size_t len);

#endif
