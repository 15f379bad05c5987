/* SPDX-License-Identifier: MIT */
/*
 * struct strpool: interns text as dense 32-bit ids; compare ids, not text. Id 0 is "". A string
 * lives as long as its pool, at an address that does not move.
 */
#ifndef SONDE_BASE_STRPOOL_H
#define SONDE_BASE_STRPOOL_H

#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"

struct strpool_entry {
	const char *text;
	uint32_t len;
	uint32_t next_same_hash; /* id of the next string with the same 64-bit hash; 0 if none */
};

struct strpool {
	struct arena arena;
	struct hash64 by_hash;
	VEC(struct strpool_entry) entries; /* indexed by id */
};

int strpool_init(struct strpool *p);
int strpool_intern(struct strpool *p, const char *text, size_t len, uint32_t *ret_id);
void strpool_done(struct strpool *p);

static inline const char *strpool_text(const struct strpool *p, uint32_t id)
{
	return id < p->entries.n ? p->entries.v[id].text : "";
}

#endif
