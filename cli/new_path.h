/* SPDX-License-Identifier: MIT */
/* A file or folder that is written under another name and gets its own name when it is complete. */
#ifndef SONDE_CLI_NEW_PATH_H
#define SONDE_CLI_NEW_PATH_H

#include <stdbool.h>

/*
 * Makes an empty file, or a folder, next to `path`: PATH.tmp-PID. Returns 0 and its path, which
 * free() frees, or a negative errno.
 */
int new_path_make(char **ret, const char *path, bool is_folder);
/* Gives it its name. Returns 0 or a negative errno: -EEXIST if there is one and not `replace`. */
int new_path_rename(const char *from, const char *to, bool replace);

#endif
