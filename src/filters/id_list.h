/* SPDX-License-Identifier: MIT */
/* A set of process or thread ids from a list such as `1,4711`: sorted, found by binary search. */
#ifndef SONDE_FILTERS_ID_LIST_H
#define SONDE_FILTERS_ID_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_list {
	int32_t *ids; /* owned, ascending; NULL if no list was given: it contains everything */
	size_t nr;
};

/* what: "pid", for messages. -EINVAL or -ENOMEM. ret is written only on success. */
int id_list_parse(const char *text, const char *what, struct id_list *ret);
void id_list_done(struct id_list *l);

static inline bool id_list_holds(const struct id_list *l, int32_t id)
{
	size_t lo = 0, hi = l->nr;

	if (!l->ids)
		return true;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->ids[mid] == id)
			return true;
		if (l->ids[mid] < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

#endif
