/* SPDX-License-Identifier: MIT */
#include "base/strpool.h"

#include <string.h>

#include "base/err.h"

int strpool_init(struct strpool *p)
{
	*p = (struct strpool){ 0 };
	return vec_push(&p->entries, (struct strpool_entry){ .text = "" });
}

int strpool_intern(struct strpool *p, const char *text, size_t len, uint32_t *ret_id)
{
	uint64_t hash, first;
	struct strpool_entry e = { .len = (uint32_t)len };

	if (!len) {
		*ret_id = 0;
		return 0;
	}
	if (len > UINT32_MAX / 2 || p->entries.n >= UINT32_MAX)
		return err_set(-E2BIG, "a string of %zu bytes is too long to keep", len);
	hash = hash_bytes(text, len);
	first = hash64_find(&p->by_hash, hash);
	if (first != HASH64_EMPTY) {
		for (uint32_t id = (uint32_t)first; id; id = p->entries.v[id].next_same_hash) {
			if (p->entries.v[id].len == len &&
			    !memcmp(p->entries.v[id].text, text, len)) {
				*ret_id = id;
				return 0;
			}
		}
		e.next_same_hash = (uint32_t)first;
	}
	e.text = arena_strndup(&p->arena, text, len);
	if (!e.text)
		return err_nomem();
	TRY(vec_push(&p->entries, e));
	TRY(hash64_put(&p->by_hash, hash, p->entries.n - 1));
	*ret_id = (uint32_t)(p->entries.n - 1);
	return 0;
}

void strpool_done(struct strpool *p)
{
	arena_done(&p->arena);
	hash64_done(&p->by_hash);
	vec_done(&p->entries);
}
