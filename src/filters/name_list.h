/* SPDX-License-Identifier: MIT */
/*
 * A set of names from a list such as `bash,make`. A member `file://PATH` stands for the lines of a
 * file. Blanks are part of the names.
 */
#ifndef SONDE_FILTERS_NAME_LIST_H
#define SONDE_FILTERS_NAME_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct name_list {
	/* owned, ascending, each once; NULL if no list was given: it contains everything */
	char **names;
	size_t nr;
	bool repeats; /* a name was given twice, which perf refuses */
};

/*
 * what: "comm", for messages. -ENOMEM, or the reason why a file cannot be read. ret is written only
 * on success.
 */
int name_list_parse(const char *text, const char *what, struct name_list *ret);
void name_list_done(struct name_list *l);
bool name_list_has(const struct name_list *l, const char *name);

static inline bool name_list_holds(const struct name_list *l, const char *name)
{
	return !l->names || name_list_has(l, name);
}

#endif
