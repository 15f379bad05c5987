/* SPDX-License-Identifier: MIT */
/* Chooses the interpreter of a script. */
#ifndef SONDE_CLI_INTERPRETER_H
#define SONDE_CLI_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>

struct interpreter_wish {
	const char *given;  /* --interpreter, or NULL */
	const char *python; /* from the configuration, or NULL */
};

/*
 * The find() functions of languages. Return 0 with the interpreter's path (released with free())
 * and the reason for choosing it, or -1 after reporting that there is none.
 */
int interpreter_python(const struct interpreter_wish *w, const char *file, char **ret_path,
		       const char **ret_why);
int interpreter_perl(const struct interpreter_wish *w, const char *file, char **ret_path,
		     const char **ret_why);
/*
 * Stores the program that a file's "#!" line names in buf; after "env", the program that env runs.
 * False if there is no such line.
 */
bool interpreter_shebang(const char *file, char *buf, size_t size);

#endif
