/* SPDX-License-Identifier: MIT */
/*
 * The folders of scripts. Folders with the user's own files are first, installed ones last:
 *
 *	PERF_EXEC_PATH (--exec-path), a tree of perf's	if it was given
 *	sonde's own scripts
 *	SONDE_SCRIPT_PATH or script.path of the configuration: folders, separated by ':'
 *	~/.config/sonde/scripts
 *	perf's installed trees				if PERF_EXEC_PATH was not given
 *
 * perf's installed trees are first if its rule perfs_scripts_first says so. A tree of perf's is
 * scripts/LANGUAGE/ below its exec path; the other folders hold scripts of any language. Both have
 * wrappers in bin/ below: NAME-record and NAME-report, for /bin/sh.
 */
#ifndef SONDE_CLI_SCRIPT_FIND_H
#define SONDE_CLI_SCRIPT_FIND_H

#include "cli.h"
#include "languages.h"

enum script_origin { SCRIPT_OURS, SCRIPT_OF_USER, SCRIPT_OF_PERF };

struct script_place {
	enum script_origin origin;
	char *folder;
	char *exec_path; /* set for a tree of perf's; else NULL */
	/* The language of all scripts in the folder; NULL if their suffixes decide. */
	const struct language *language;
};

struct script_places {
	struct script_place *v;
	size_t nr, room;
};

/* Returns 0, or -1 after reporting that there is no memory. */
int script_places_list(const struct cli *cli, struct script_places *ret);
void script_places_done(struct script_places *p);

/*
 * The first file of that name in a place for this language (NULL for any language). Released with
 * free(); NULL if there is none.
 */
char *script_places_file(const struct script_places *p, const struct language *l, const char *file);

/* A script by its name: its files in one place. */
struct script_entry {
	char *name; /* file name without suffix, wrapper names without -record and -report */
	const struct script_place *place;
	char *file;                      /* NULL if there are only wrappers */
	const struct language *language; /* language of the file */
	char *record, *report;           /* wrappers; NULL if missing */
};

struct script_entries {
	struct script_entry *v;
	size_t nr, room;
};

/*
 * Finds the first script of that name. needs_wrappers selects perf's rule, which takes wrappers
 * from all places. Returns 1 if found, 0 if not, -1 if there is no memory. The place is borrowed.
 */
int script_entry_find(const struct script_places *p, const char *name, bool needs_wrappers,
		      struct script_entry *ret);
/*
 * Finds a script by its file name, "NAME.pl": if two languages have scripts of one name,
 * script_entry_find() finds only one. Returns like script_entry_find().
 */
int script_entry_find_file(const struct script_places *p, const char *file,
			   struct script_entry *ret);
/* Finds a script by LANG:NAME, in that language only. Returns like script_entry_find(). */
int script_entry_find_language(const struct script_places *p, const char *name,
			       struct script_entry *ret);
/*
 * Makes the entry of a file at any path, with the wrappers in bin/ next to it. Returns like
 * script_entry_find(); the entry's place is not in the list.
 */
int script_entry_at_path(const char *path, struct script_entry *ret);
void script_entry_done(struct script_entry *e);

/*
 * Lists all scripts in the order of places, then by name. Files without wrappers are listed only if
 * they have handlers. Returns 0, or -1 if there is no memory.
 */
int script_entries_list(const struct script_places *p, struct script_entries *ret);
void script_entries_done(struct script_entries *e);

/*
 * PERF_EXEC_PATH if the user set it; NULL if sonde set it for its children (script_env.h) or if it
 * is not set. Borrowed.
 */
const char *script_exec_path_said(void);
/*
 * The folder below which scripts find scripts/LANG/..., passed to them in PERF_EXEC_PATH; released
 * with free(). NULL if there is none.
 */
char *script_exec_path(void);

#endif
