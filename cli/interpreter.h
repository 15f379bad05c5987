/* SPDX-License-Identifier: MIT */
/* Which interpreter runs a script. */
#ifndef SONDE_CLI_INTERPRETER_H
#define SONDE_CLI_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>

struct interpreter_wish {
	const char *given;  /* --interpreter, or NULL */
	const char *python; /* what the files of configuration say, or NULL */
};

/*
 * A language's find(): 0, the interpreter's path (to be released with free()) and why it is this
 * one; -1 after telling that there is none.
 */
int interpreter_python(const struct interpreter_wish *w, const char *file, char **ret_path,
		       const char **ret_why);
int interpreter_perl(const struct interpreter_wish *w, const char *file, char **ret_path,
		     const char **ret_why);
/*
 * The program and its first argument that a file's first line names, after "env"; false when there
 * is no such line.
 */
bool interpreter_shebang(const char *file, char *buf, size_t size);

#endif
