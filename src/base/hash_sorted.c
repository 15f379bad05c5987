/* SPDX-License-Identifier: MIT */
#include "base/hash_sorted.h"

#include <stdlib.h>

#include "base/err.h"

static int hash_sorted_order(const void *a, const void *b)
{
	const struct hash64_slot *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

int hash64_sorted(const struct hash64 *h, struct hash64_slot **ret, size_t *ret_nr)
{
	struct hash64_slot *list = calloc(h->n + 1, sizeof(*list));
	size_t n = 0;

	if (!list)
		return err_nomem();
	for (size_t i = 0; h->slots && i <= h->mask; i++)
		if (h->slots[i].value != HASH64_EMPTY)
			list[n++] = h->slots[i];
	qsort(list, n, sizeof(*list), hash_sorted_order);
	*ret = list;
	*ret_nr = n;
	return 0;
}
