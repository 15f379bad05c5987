/* SPDX-License-Identifier: MIT */
/* Filters in shared objects (--dlfilter): their search and their list. */
#ifndef SONDE_CLI_DLFILTERS_H
#define SONDE_CLI_DLFILTERS_H

/*
 * Finds the path to load a filter by: as given if it has a slash, else in the current folder, else
 * in dlfilters/ below perf's exec path (PERF_EXEC_PATH, or perf's usual folder), else by the
 * dynamic linker's search. Released with free(); NULL if there is no memory.
 */
char *dlfilter_find(const char *name);
/*
 * Lists the filters of the current folder and of perf's folder with their descriptions, as text or
 * as a JSON object. The text has the long descriptions only with verbose.
 */
void dlfilter_list(int verbose, bool json);

#endif
