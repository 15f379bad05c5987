/* SPDX-License-Identifier: MIT */
/*
 * The languages of scripts: one table; a language is found by its name, by a file's suffix or by
 * its first line.
 */
#ifndef SONDE_CLI_LANGUAGES_H
#define SONDE_CLI_LANGUAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "interpreter.h"

struct skeleton;
struct starter;

/* A known language of scripts, with or without a module. */
struct language {
	const char *name; /* shown to users; NULL ends the table */
	/* Names before ':' in -s, in any case; NULL-terminated. */
	const char *const *prefixes;
	const char *const *suffixes; /* of files, without the dot */
	const char *const *programs; /* beginnings of program names in a script's first line */
	/* perf's folder, below scripts/ of PERF_EXEC_PATH; NULL if none */
	const char *folder;
	/* NULL if sonde has no module for it; the members below are then unused. */
	int (*find)(const struct interpreter_wish *w, const char *file, char **ret_path,
		    const char **ret_why);
	const char *prelude; /* path below the folder of bindings */
	/*
	 * The interpreter loads the prelude as this module before the script. NULL if the prelude
	 * is a program that runs the script.
	 */
	const char *module;
	/* The interpreter starts with SIGINT blocked; the prelude unblocks it. */
	bool holds_interrupts;
	/* A line before a program of -e, so that messages name -e; NULL if the prelude does it. */
	const char *code_line;
	const char *package; /* the package to install if the prelude is missing */
	/* Writes a skeleton (skeleton.h); NULL if the language has none. */
	int (*generate)(FILE *out, const struct skeleton *sk);
	/* Writes a starter (starter.h); NULL if the language has none. */
	int (*start)(FILE *out, const struct starter *s);
};

extern const struct language script_languages[];
#define each_language(l) for (const struct language *l = script_languages; l->name; l++)

/* Finds a language by its prefix, in any case; NULL if there is none. */
const struct language *script_language_called(const char *name, size_t len);
/* Finds a language by a file's suffix; NULL if there is none. */
const struct language *script_language_by_suffix(const char *name);
/* Finds a language by a script's first line; NULL if there is none. */
const struct language *script_language_by_first_line(const char *file);
/* True if the language's module is installed, or built next to this program. */
bool script_language_is_ready(const struct language *l);
/*
 * The path of a language's prelude: in $SONDE_LIBDIR if set, else next to this program. Released
 * with free(); NULL if it is missing.
 */
char *script_language_prelude(const struct language *l);
/*
 * The folder below which a language's scripts find scripts/LANGUAGE/..., derived from the
 * language's prelude. Released with free(); NULL if there is no memory.
 */
char *script_language_lib(const struct language *l, const char *prelude);
void script_languages_print(FILE *out);
void script_languages_print_json(void);

#endif
