/* SPDX-License-Identifier: MIT */
/*
 * The parts of a script's skeleton. A language's own file (generate_python.c, generate_perl.c)
 * writes the text and is in the table of languages (languages.c). Names are from recordings: they
 * may contain any bytes.
 */
#ifndef SONDE_CLI_SKELETON_H
#define SONDE_CLI_SKELETON_H

#include <stddef.h>
#include <stdio.h>

#include <sonde/sonde.h>

/* The recording's events: each list is sorted by name and has no duplicates. */
struct skeleton {
	/* samples: events other than tracepoints */
	const struct sonde_schema **tracepoints, **samples;
	size_t nr_tracepoints, nr_samples;
};

/* The fields of a tracepoint without the common_* ones. */
const struct sonde_field *skeleton_fields(const struct sonde_schema *sc, size_t *ret_nr);
/*
 * The definition step which shows that a number has names (SONDE_DEFINE_FLAG_FIELD,
 * _SYMBOLIC_FIELD); NULL if it has none.
 */
const struct sonde_define *skeleton_names(const struct sonde_schema *sc,
					  const struct sonde_field *f);

/*
 * These write a language's text to out. Return -1 if there is no memory; the caller checks out for
 * errors.
 */
int generate_python(FILE *out, const struct skeleton *sk);
int generate_perl(FILE *out, const struct skeleton *sk);
/* The beginning of the handler of a tracepoint, with its parameters; -1 if there is no memory. */
int generate_python_signature(FILE *out, const struct sonde_schema *sc);
int generate_perl_signature(FILE *out, const struct sonde_schema *sc);

#endif
