/* SPDX-License-Identifier: MIT */
/* Filters in shared objects (--dlfilter): where they are found, and the list of those there are. */
#ifndef SONDE_CLI_DLFILTERS_H
#define SONDE_CLI_DLFILTERS_H

/*
 * The path to load a filter by, to be released with free(): as given when it has a slash, else in the current folder, else
 * in dlfilters/ below perf's exec path (PERF_EXEC_PATH, else where perf is usually installed), else left to the dynamic
 * linker's folders. NULL: no memory.
 */
char *dlfilter_find(const char *name);
/*
 * Lists the filters of the current folder and of perf's, with their descriptions, as text or as a
 * JSON object. Text has the long descriptions only if verbose.
 */
void dlfilter_list(int verbose, bool json);

#endif
