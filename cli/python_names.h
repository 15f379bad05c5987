/* SPDX-License-Identifier: MIT */
/* Names of a recording as names in a Python script: always identifiers, never one that means something there. */
#ifndef SONDE_CLI_PYTHON_NAMES_H
#define SONDE_CLI_PYTHON_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Names given out in one scope: NAME itself where it can be, else NAME_ (sonde binds a parameter FIELD_ to the field
 * FIELD); bytes that no identifier has become '_'.
 *
 *	struct python_names n = { 0 };
 *	const char *name = python_names_take(&n, "from");      "from_"; lent until done; NULL: no memory
 *	python_names_done(&n);
 */
struct python_names {
	char **taken; /* owned */
	size_t nr;
	bool functions; /* of the file itself, not parameters: only keywords and equal names are in the way */
};

/* Whether it would be given out as it is. */
bool python_names_valid(const struct python_names *n, const char *wanted);
const char *python_names_take(struct python_names *n, const char *wanted);
void python_names_done(struct python_names *n);

#endif
