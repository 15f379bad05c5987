/* SPDX-License-Identifier: MIT */
/*
 * The mappings of a process, sorted by address. A forked process or a kept event holds a reference
 * to the same space. A change to a space with further references is made to a copy (copy on write),
 * so a holder keeps the mappings as they were when it took the reference.
 *
 * They are a balanced tree (AVL). A change copies only the nodes on its path: spaces that differ in
 * one mapping share the others, and a thousand forks of a process with ten thousand mappings cost a
 * few nodes each. Adding a mapping costs the logarithm of their number, also when it replaces many
 * others, which are taken out as a subtree.
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
	uint64_t inode;      /* 0 if unknown */
	uint32_t name;       /* id in the session's string pool */
	int32_t pid;         /* the process that mapped it, possibly a parent of the current one */
	/* a cache for recording/locate_user.c: the dso's id; 0 if not looked up yet */
	uint32_t dso;
	uint32_t major, minor; /* the file's device; 0 if unknown */
	bool executable;
	bool shared;      /* mapped with MAP_SHARED */
	bool out_of_line; /* a symbol: its code is in no file */
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
	 * For the kernel: symbols registered at run time. They hide the mappings below them and
	 * never split one.
	 */
	struct map_node *symbols;
	/* For the kernel: code written at run time, in pieces of CODE_PIECE_BYTES. */
	struct map_node *code;
	size_t nr_code; /* number of pieces */
	/*
	 * The mappings from before an exec, until something shows that the new program runs. It has
	 * no `before` itself. A reference; NULL if none.
	 */
	struct address_space *before;
};

int address_space_new(struct address_space **ret, uint64_t stamp);
struct address_space *address_space_ref(struct address_space *a);
void address_space_unref(struct address_space *a); /* a may be NULL */
/*
 * Adds a mapping, which replaces the mappings that it overlaps. *a may become another (copied)
 * space. stamp: the new stamp. After -ENOMEM mappings may be missing.
 */
int address_space_add(struct address_space **a, const struct mapping *m, uint64_t stamp);
/* The new program runs: from now on lookups ignore the mappings from before the exec. */
void address_space_settle(struct address_space *a);
/* NULL if nothing is mapped */
const struct mapping *address_space_find(const struct address_space *a, uint64_t addr);
/*
 * The first mapping that ends after addr; NULL if there is none. Starting at 0 this visits all in
 * order.
 */
const struct mapping *address_space_behind(const struct address_space *a, uint64_t addr);
/*
 * Registers a symbol named m->name. It replaces overlapping symbols completely. Its code is unknown
 * until it is written.
 */
int address_space_add_symbol(struct address_space **a, const struct mapping *m, uint64_t stamp);
/* Unregisters the symbol at addr; the space does not change if there is none. */
int address_space_remove_symbol(struct address_space **a, uint64_t addr, uint64_t stamp);
/* NULL if there is none */
const struct mapping *address_space_symbol(const struct address_space *a, uint64_t addr);
/*
 * Sets the bytes of the code at addr; NULL makes them unknown. The stamp does not change, because
 * names do not. Returns 1 if there are already MAX_CODE_PIECES: bytes outside of them are dropped.
 */
int address_space_write_code(struct address_space **a, uint64_t addr, const uint8_t *code,
			     size_t len);
/*
 * Copies the known bytes of the code at addr; other bytes of buf are not changed. Returns the
 * number of known bytes from the first on.
 */
size_t address_space_code(const struct address_space *a, uint64_t addr, uint8_t *buf, size_t len);

#endif
