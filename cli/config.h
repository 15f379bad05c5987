/* SPDX-License-Identifier: MIT */
/*
 * Configuration files: perf's, then sonde's own. Later files override earlier ones.
 *
 *	/etc/perfconfig, ~/.perfconfig	or the file that PERF_CONFIG names, instead of both
 *	~/.config/sonde/config		or the file that SONDE_CONFIG names
 *
 * The syntax is git's: sections, `name = value`, quotes, backslashes, '#' and ';' before comments.
 * PERF_CONFIG_NOSYSTEM and PERF_CONFIG_NOGLOBAL disable perf's first and second file. A file in a
 * home folder is read only if it belongs to the user or to root.
 */
#ifndef SONDE_CLI_CONFIG_H
#define SONDE_CLI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct config_entry {
	char *name; /* "section.name", "section.subsection.name" */
	char *value;
	const char *file; /* borrowed from the config */
	int line;
	bool ours; /* from one of sonde's files */
};

struct config {
	struct config_entry *entries;
	size_t nr_entries;
	char *files[3]; /* the files that were read */
	size_t nr_files;
};

/*
 * Reads all existing files. A syntax error in a file of perf's is reported and ends that file; the
 * result is still 0. A syntax error in a file of sonde's, or lack of memory, is reported; the
 * result is -1.
 */
int config_read(struct config *ret);
void config_done(struct config *c);
/* Finds the value of a name in sonde's files (ours) or in perf's; NULL if it is not set. */
const struct config_entry *config_find(const struct config *c, const char *name, bool ours);
/* Returns 1 or 0 for words and numbers that mean yes or no, -1 for anything else. */
int config_bool(const char *value);

/*
 * Parses one file's text and appends its entries to c. Returns 0, the number of a wrong line, or -1
 * if there is no memory.
 */
int config_parse(struct config *c, const char *file, bool ours, const char *text, size_t len);

#endif
