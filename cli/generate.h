/* SPDX-License-Identifier: MIT */
/*
 * Skeletons of scripts: a file that prints every event of a recording, to be changed into the script one wants.
 *
 *	sonde script -g python [-o FILE] [--force]
 *
 * generate.c opens the recording, gathers its events and writes the file; a language's own file (generate_python.c, generate_perl.c) makes the
 * text and stands in the table of languages (cli/script.c). Names come from recordings: any bytes may be in them.
 */
#ifndef SONDE_CLI_GENERATE_H
#define SONDE_CLI_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <sonde/sonde.h>

#include "cli.h"

struct generate {
	const char *language; /* as given to -g */
	const char *output;   /* NULL: perf-script.SUFFIX in the current directory; "-": stdout */
	const char *session;  /* text form */
	bool force;           /* an existing file may be overwritten */
};

/* The exit status; what went wrong was told. */
int generate_script(const struct cli *cli, const struct generate *g);

/* What a skeleton is made of: the recording's events, each list by name, no two of one name. */
struct skeleton {
	const struct sonde_schema **tracepoints, **samples; /* samples: of other events */
	size_t nr_tracepoints, nr_samples;
};

/* The fields of a tracepoint without the common_* ones. */
const struct sonde_field *skeleton_fields(const struct sonde_schema *sc, size_t *ret_nr);
/* The step that says whether a number has names (SONDE_DEFINE_FLAG_FIELD, _SYMBOLIC_FIELD); NULL: it has none. */
const struct sonde_define *skeleton_names(const struct sonde_schema *sc,
					  const struct sonde_field *f);

/* A language's text, written to out (the caller looks at its errors); -1 when memory ran out. */
int generate_python(FILE *out, const struct skeleton *sk);
int generate_perl(FILE *out, const struct skeleton *sk);

#endif
