/* SPDX-License-Identifier: MIT */
/* A set of process or thread numbers out of a list like `1,4711`: sorted, looked up by binary search. */
#ifndef SONDE_FILTERS_ID_LIST_H
#define SONDE_FILTERS_ID_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_list {
	int32_t *ids; /* owned, ascending; NULL: no list was given, everything is in it */
	size_t nr;
};

/* what: "pid", for messages. -EINVAL, -ENOMEM; ret is written only on success. */
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
