/* SPDX-License-Identifier: MIT */
/*
 * Names of a recording as names in a Python script: always identifiers, and never a name that
 * already has a meaning there.
 */
#ifndef SONDE_CLI_PYTHON_NAMES_H
#define SONDE_CLI_PYTHON_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The names of one scope: NAME itself if possible, or else NAME_ (sonde binds a parameter FIELD_ to
 * the field FIELD). Bytes that are not allowed in identifiers become '_'.
 *
 *	struct python_names n = { 0 };
 *	const char *name = python_names_take(&n, "from"); "from_"; borrowed until done; NULL: no
 *	                    memory
 *	python_names_done(&n);
 */
struct python_names {
	char **taken; /* owned */
	size_t nr;
	/* Set for names of the file, not of parameters: only keywords and equal names conflict. */
	bool functions;
};

/* True if python_names_take() would return the name unchanged. */
bool python_names_valid(const struct python_names *n, const char *wanted);
const char *python_names_take(struct python_names *n, const char *wanted);
void python_names_done(struct python_names *n);

#endif
