/* SPDX-License-Identifier: MIT */
/*
 * The mappings of a process, sorted by address. Shared by reference: a fork or a kept event holds the same one, and a
 * change made while others hold it is made to a copy (copy on write), so that a holder sees what was true when it took it.
 *
 * They are a balanced tree (AVL), of which only the nodes on the way to a change are copied: spaces that differ in a mapping
 * share all the others, so that a thousand forks of a process with ten thousand mappings cost a few nodes each, and
 * mappings in any order cost the logarithm of their number. A mapping that replaces many others
 * costs no more: they are cut out as a subtree.
 */
#ifndef SONDE_STATE_ADDRESS_SPACE_H
#define SONDE_STATE_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dso;

struct mapping {
	uint64_t start, end; /* avma */
	uint64_t pgoff;      /* bytes */
	uint32_t name;       /* id in the session's string pool */
	int32_t pid;         /* the process that mapped it, maybe a parent of the one at hand */
	struct dso *dso;     /* memo of who asks for symbols; NULL: not yet asked */
	uint64_t inode;      /* 0 unknown */
	bool executable;
	bool out_of_line; /* a symbol: code of no file */
	uint8_t build_id_len;
	uint8_t build_id[20];
};

/* Code is kept in aligned pieces, as many as this: 4 MiB of code in 17 MB of memory. */
enum { CODE_PIECE_BYTES = 32, MAX_CODE_PIECES = 131072 };

struct map_node;
struct address_space {
	unsigned refs;  /* a session and its events are used by one thread at a time */
	uint64_t stamp; /* another one after each change, and in each space of a session */
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
void address_space_unref(struct address_space *a); /* NULL is fine */
/*
 * Adds a mapping, which replaces what it overlaps; *a may become another (copied) space. stamp: the new one. After -ENOMEM
 * mappings may be missing.
 */
int address_space_add(struct address_space **a, const struct mapping *m, uint64_t stamp);
/* The new program runs: what was mapped before exec is not looked at any more. */
void address_space_settle(struct address_space *a);
const struct mapping *address_space_find(const struct address_space *a,
					 uint64_t addr); /* NULL: nothing there */
/* The first mapping that ends behind addr, wherever it begins; NULL: there is none. From 0 on, all in their order. */
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
