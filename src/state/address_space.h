/* SPDX-License-Identifier: MIT */
/*
 * The mappings of a process, sorted by address. Shared by reference: a fork or a kept event holds the same one, and a
 * change made while others hold it is made to a copy (copy on write), so that a holder sees what was true when it took it.
 */
#ifndef SONDE_STATE_ADDRESS_SPACE_H
#define SONDE_STATE_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct dso;

struct mapping {
	uint64_t start, end; /* avma */
	uint64_t pgoff;      /* bytes */
	uint32_t name;       /* id in the session's string pool */
	struct dso *dso;     /* memo of who asks for symbols; NULL: not yet asked */
	int32_t pid;         /* the process that mapped it, maybe a parent of the one at hand */
	bool executable;
	uint64_t inode; /* 0 unknown */
	uint8_t build_id_len;
	uint8_t build_id[20];
};

struct address_space {
	unsigned refs;  /* a session and its events are used by one thread at a time */
	uint64_t stamp; /* another one after each change, and in each space of a session */
	/* Ascending. There is room at both ends: kernels map downwards, /proc/PID/maps is told upwards. */
	struct {
		struct mapping *v;
		size_t n;
	} maps;
	struct mapping *room; /* owned; maps.v lies in it */
	size_t capacity;
};

int address_space_new(struct address_space **ret, uint64_t stamp);
struct address_space *address_space_ref(struct address_space *a);
void address_space_unref(struct address_space *a); /* NULL is fine */
/* Adds a mapping, which replaces what it overlaps; *a may become another (copied) space. stamp: the new one. */
int address_space_add(struct address_space **a, const struct mapping *m, uint64_t stamp);
const struct mapping *address_space_find(const struct address_space *a,
					 uint64_t addr); /* NULL: nothing there */

#endif
