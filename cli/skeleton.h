/* SPDX-License-Identifier: MIT */
/*
 * What the skeleton of a script is made of. A language's own file (generate_python.c,
 * generate_perl.c) makes the text and is in the table of languages (languages.c). Names come from
 * recordings: any bytes may be in them.
 */
#ifndef SONDE_CLI_SKELETON_H
#define SONDE_CLI_SKELETON_H

#include <stddef.h>
#include <stdio.h>

#include <sonde/sonde.h>

/* The recording's events: each list by name, no two of one name. */
struct skeleton {
	const struct sonde_schema **tracepoints, **samples; /* samples: of other events */
	size_t nr_tracepoints, nr_samples;
};

/* The fields of a tracepoint without the common_* ones. */
const struct sonde_field *skeleton_fields(const struct sonde_schema *sc, size_t *ret_nr);
/*
 * The step that says whether a number has names (SONDE_DEFINE_FLAG_FIELD, _SYMBOLIC_FIELD); NULL:
 * it has none.
 */
const struct sonde_define *skeleton_names(const struct sonde_schema *sc,
					  const struct sonde_field *f);

/* A language's text, written to out (the caller looks at its errors); -1 when memory ran out. */
int generate_python(FILE *out, const struct skeleton *sk);
int generate_perl(FILE *out, const struct skeleton *sk);

#endif
