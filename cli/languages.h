/* SPDX-License-Identifier: MIT */
/*
 * The languages of scripts: one table, in which a language is found by its name, by a file's suffix
 * or first line.
 */
#ifndef SONDE_CLI_LANGUAGES_H
#define SONDE_CLI_LANGUAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "interpreter.h"

struct skeleton;

/* A language whose scripts we know of, whether or not its module is there. */
struct language {
	const char *name; /* for people; NULL ends the table */
	const char *const
		*prefixes; /* what may stand before ':' in -s, any case; NULL-terminated */
	const char *const *suffixes; /* of files, without the dot */
	const char *const *programs; /* what a script's first line calls it: beginnings of names */
	const char *folder;          /* perf's, below scripts/ of PERF_EXEC_PATH; NULL none */
	/* NULL while sonde has no module for it; then what follows is not used. */
	int (*find)(const struct interpreter_wish *w, const char *file, char **ret_path,
		    const char **ret_why);
	const char *prelude; /* below the folder of bindings */
	/*
	 * The prelude is this module, which the interpreter loads before the script; NULL: a
	 * program that runs the script.
	 */
	const char *module;
	/* The interpreter starts with SIGINT blocked, and the prelude unblocks it. */
	bool holds_interrupts;
	const char *package; /* what is missing when the prelude is */
	/* Writes a skeleton (skeleton.h); NULL: none can be made. */
	int (*generate)(FILE *out, const struct skeleton *sk);
};

extern const struct language script_languages[];
#define each_language(l) for (const struct language *l = script_languages; l->name; l++)

/* The one of that prefix, any case; NULL. */
const struct language *script_language_called(const char *name, size_t len);
/* The one of a file's suffix; NULL. */
const struct language *script_language_by_suffix(const char *name);
/* The one that a script's first line calls; NULL. */
const struct language *script_language_by_first_line(const char *file);
/* Its module is installed, or built next to this program. */
bool script_language_is_ready(const struct language *l);
/*
 * Where its prelude is: $SONDE_LIBDIR, else with this program. To be released with free(), NULL
 * when it is nowhere.
 */
char *script_language_prelude(const struct language *l);
/*
 * The folder below which its scripts find scripts/LANGUAGE/..., by its prelude; NULL: no memory. To
 * be released with free().
 */
char *script_language_lib(const struct language *l, const char *prelude);
void script_languages_print(FILE *out);
void script_languages_print_json(void);

#endif
