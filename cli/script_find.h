/* SPDX-License-Identifier: MIT */
/*
 * Where scripts lie. First those folders in which a file of one's own may be, then what was
 * installed:
 *
 *	PERF_EXEC_PATH (--exec-path), a tree of perf's	when it was said
 *	sonde's own scripts
 *	SONDE_SCRIPT_PATH or script.path of the configuration: folders, separated by ':'
 *	~/.config/sonde/scripts
 *	perf's installed trees				when PERF_EXEC_PATH was not said
 *
 * perf's installed trees come first if its rule perfs_scripts_first says so. A tree of perf's is
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
	char *exec_path; /* of perf's tree; else NULL */
	const struct language
		*language; /* the only one of its scripts; NULL: their suffixes tell */
};

struct script_places {
	struct script_place *v;
	size_t nr, room;
};

/* 0, or -1 when there is no memory, after telling. */
int script_places_list(const struct cli *cli, struct script_places *ret);
void script_places_done(struct script_places *p);

/*
 * The first file of that name in a place for this language (NULL: any); NULL; to be released with
 * free().
 */
char *script_places_file(const struct script_places *p, const struct language *l, const char *file);

/* A script by its name: what there is of it in one place. */
struct script_entry {
	char *name; /* of its file without the suffix, of its wrappers without -record and -report */
	const struct script_place *place;
	char *file;                      /* NULL: there are only wrappers */
	const struct language *language; /* of the file */
	char *record, *report;           /* wrappers, NULL: none */
};

struct script_entries {
	struct script_entry *v;
	size_t nr, room;
};

/*
 * The first one of that name. needs_wrappers: perf's rule, which takes them from wherever they are.
 * 1 found, 0 there is none, -1 no memory. The entry lends its place.
 */
int script_entry_find(const struct script_places *p, const char *name, bool needs_wrappers,
		      struct script_entry *ret);
/*
 * The one whose file this is, "NAME.pl": of two languages' scripts of one name script_entry_find()
 * finds but one. As that.
 */
int script_entry_find_file(const struct script_places *p, const char *file,
			   struct script_entry *ret);
/* LANG:NAME, that language's script of that name. As that. */
int script_entry_find_language(const struct script_places *p, const char *name,
			       struct script_entry *ret);
/*
 * A file anywhere, by its path, with the wrappers in bin/ beside it. As that; its place is none of
 * the list.
 */
int script_entry_at_path(const char *path, struct script_entry *ret);
void script_entry_done(struct script_entry *e);

/*
 * All: in the order of places, by name; files without wrappers only if they have handlers. 0, or
 * -1: no memory.
 */
int script_entries_list(const struct script_places *p, struct script_entries *ret);
void script_entries_done(struct script_entries *e);

/*
 * What PERF_EXEC_PATH says, if the user said it, and not sonde to what it runs (script_env.h);
 * NULL. Lent.
 */
const char *script_exec_path_said(void);
/*
 * The folder below which scripts find scripts/LANG/..., as told to them in PERF_EXEC_PATH; NULL; to
 * be freed.
 */
char *script_exec_path(void);

#endif
