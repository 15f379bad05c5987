/* SPDX-License-Identifier: MIT */
/*
 * The parts of a starter, the script that sonde new writes for sonde run. A language's own file
 * (starter_python.c, starter_perl.c) writes the text and is in the table of languages.
 */
#ifndef SONDE_CLI_STARTER_H
#define SONDE_CLI_STARTER_H

#include "skeleton.h"

#include <stdbool.h>

struct starter_event {
	const char *name; /* as sonde record -e takes it; it may contain any bytes */
	/* Its fields; NULL if it is no tracepoint, or a pattern that matches many. */
	const struct sonde_schema *sc;
};

struct starter {
	const char *file; /* the script, as its user calls it */
	const struct starter_event *events;
	size_t nr_events;
};

#define STARTER_FIELDS 5 /* limit on the fields that are shown of an event */

/*
 * The fields that say most about an event, in their order in it; returns their number. The names of
 * all others are left to the user.
 */
size_t starter_fields(const struct sonde_schema *sc, const struct sonde_field **ret,
		      bool (*is_name)(const char *name));

/* These write the text to out; -1 if there is no memory. The caller checks out for errors. */
int starter_python(FILE *out, const struct starter *s);
int starter_perl(FILE *out, const struct starter *s);

#endif
