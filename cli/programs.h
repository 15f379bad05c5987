/* SPDX-License-Identifier: MIT */
/*
 * Programs in PATH, and files installed with ours.
 *
 *	const char *dirs = programs_path();
 *	while ((path = programs_next(&dirs, "perf")))
 *		...
 */
#ifndef SONDE_CLI_PROGRAMS_H
#define SONDE_CLI_PROGRAMS_H

#include <stdbool.h>

/* True for a file that may be executed. */
bool programs_is_one(const char *path);
/* PATH, or its default if it is not set. Borrowed. */
const char *programs_path(void);
/*
 * The next program in *dirs of this name, which has no slash; advances *dirs. Released with free();
 * NULL after the last.
 */
char *programs_next(const char **dirs, const char *name);
/*
 * Finds a program by its path, or by its name in PATH. Released with free(); NULL if there is none.
 */
char *programs_find(const char *name);

/*
 * Finds a file that belongs to this program, relative to the program, so that an installation may
 * be moved. The file is `built` next to the program in a build folder, or else `installed` below
 * dir. dir is meson's value, absolute or relative to the prefix. Released with free(); NULL if
 * neither file exists.
 */
char *programs_own_file(const char *built, const char *dir, const char *installed);
/* True if path leads to the running program. */
bool programs_is_own(const char *path);

#endif
