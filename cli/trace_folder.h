/* SPDX-License-Identifier: MIT */
/* The folder of a CTF trace that sonde convert wrote: its metadata and files of packets. */
#ifndef SONDE_CLI_TRACE_FOLDER_H
#define SONDE_CLI_TRACE_FOLDER_H

#include <stdbool.h>

/* True if the folder has only files with the names of such a trace, or none. */
bool trace_folder_is_ours(const char *path);
/* Removes such a folder with its files. Anything else is kept. Returns 0 or a negative errno. */
int trace_folder_remove(const char *path);
/*
 * Gives a complete folder its name. replace: also if such a folder has the name. Returns 0 or a
 * negative errno: -EEXIST if the name is taken.
 */
int trace_folder_rename(const char *from, const char *to, bool replace);

#endif
