/* SPDX-License-Identifier: MIT */
/*
 * A set of comms, from a list of names (name_list.h). The names are interned in the session's
 * strings, so that an event is tested by comparing ids.
 */
#ifndef SONDE_FILTERS_COMM_LIST_H
#define SONDE_FILTERS_COMM_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strpool;

struct comm_list {
	uint32_t *comms; /* owned; NULL if no list was given: it contains everything */
	size_t nr;
};

/*
 * what: "comm", for messages. -ENOMEM, or the reason why a file cannot be read. ret is written only
 * on success.
 */
int comm_list_parse(const char *text, const char *what, struct strpool *strings,
		    struct comm_list *ret);
void comm_list_done(struct comm_list *l);

static inline bool comm_list_holds(const struct comm_list *l, uint32_t comm)
{
	if (!l->comms)
		return true;
	for (size_t i = 0; i < l->nr; i++) {
		if (l->comms[i] == comm)
			return true;
	}
	return false;
}

#endif
