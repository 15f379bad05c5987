/* SPDX-License-Identifier: MIT */
/*
 * Configuration files: perf's, then sonde's own; what is said later holds.
 *
 *	/etc/perfconfig, ~/.perfconfig	or instead of both the file that PERF_CONFIG names
 *	~/.config/sonde/config		or the file that SONDE_CONFIG names
 *
 * The syntax is git's: sections, `name = value`, quotes, backslashes, '#' and ';' before comments. PERF_CONFIG_NOSYSTEM
 * and PERF_CONFIG_NOGLOBAL leave perf's first and second file out. A file of one's home is read only when it belongs to
 * the user or to root.
 */
#ifndef SONDE_CLI_CONFIG_H
#define SONDE_CLI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct config_entry {
	char *name; /* "section.name", "section.subsection.name" */
	char *value;
	const char *file; /* lent by the config */
	int line;
	bool ours; /* from a file of sonde's */
};

struct config {
	struct config_entry *entries;
	size_t nr_entries;
	char *files[3]; /* those that were read */
	size_t nr_files;
};

/*
 * Reads all files that there are. A line of perf's that cannot be read ends its file and is told; 0. The same in a file
 * of sonde's, or out of memory, is -1 after telling.
 */
int config_read(struct config *ret);
void config_done(struct config *c);
/* What holds for a name, in a file of sonde's (ours) or of perf's; NULL when nothing is said. */
const struct config_entry *config_find(const struct config *c, const char *name, bool ours);
/* 1 and 0 for words and numbers that say yes or no, -1 for anything else. */
int config_bool(const char *value);

/* One file's text; entries are appended to c. The line that cannot be read, or 0; -1: out of memory. */
int config_parse(struct config *c, const char *file, bool ours, const char *text, size_t len);

#endif
