/* SPDX-License-Identifier: MIT */
/*
 * Programs, and what was installed beside ours.
 *
 *	const char *dirs = programs_path();
 *	while ((path = programs_next(&dirs, "perf")))
 *		...
 */
#ifndef SONDE_CLI_PROGRAMS_H
#define SONDE_CLI_PROGRAMS_H

#include <stdbool.h>

/* A file that may be run. */
bool programs_is_one(const char *path);
/* PATH, or what stands for it where there is none. Lent. */
const char *programs_path(void);
/* The next one in *dirs with this name, which holds no slash; *dirs moves on. To be released with free(); NULL: no more. */
char *programs_next(const char **dirs, const char *name);
/* By path, or the first by name in PATH. To be released with free(); NULL: there is none. */
char *programs_find(const char *name);

/*
 * What belongs to this program, found from where it lies, so that an installation may be moved: built, beside it in a
 * build folder; else installed, below dir. dir: as meson tells it, absolute or below the prefix. To be released with free(),
 * NULL when it is neither here nor there.
 */
char *programs_own_file(const char *built, const char *dir, const char *installed);
/* Whether path leads to the program that runs. */
bool programs_is_own(const char *path);

#endif
