/* SPDX-License-Identifier: MIT */
#include "script_find.h"

#include "programs.h"
#include "script_about.h"
#include "settings.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the list of places ---------------------------------------------------------------------- */

static const struct language *find_language_of_folder(const char *name)
{
	for (const struct language *l = script_languages; l->name; l++)
		if (l->folder && !strcmp(l->folder, name))
			return l;
	return NULL;
}

static bool find_is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static bool find_has_place(const struct script_places *p, const char *folder)
{
	struct stat st, other;

	if (stat(folder, &st))
		return false;
	for (size_t i = 0; i < p->nr; i++)
		if (!stat(p->v[i].folder, &other) && other.st_dev == st.st_dev &&
		    other.st_ino == st.st_ino)
			return true;
	return false;
}

/*
 * Adds a place and takes ownership of take_folder. A missing or already listed folder is skipped.
 * Returns 0, or -1 if there is no memory.
 */
static int find_take_place(struct script_places *p, enum script_origin origin, char *take_folder,
			   const char *exec_path)
{
	struct script_place place = { .origin = origin, .folder = take_folder };
	struct script_place *grown;

	if (!take_folder || !find_is_folder(take_folder) || find_has_place(p, take_folder)) {
		free(take_folder);
		return take_folder ? 0 : -1;
	}
	if (exec_path) {
		place.exec_path = strdup(exec_path);
		place.language = find_language_of_folder(strrchr(take_folder, '/') + 1);
	}
	if (p->nr == p->room) {
		grown = realloc(p->v, (p->room + 8) * sizeof(*grown));
		if (grown) {
			p->v = grown;
			p->room += 8;
		}
	}
	if (p->nr == p->room || (exec_path && !place.exec_path)) {
		free(place.exec_path);
		free(take_folder);
		return -1;
	}
	p->v[p->nr++] = place;
	return 0;
}

static char *find_joined(const char *folder, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/*
 * Lists a tree, which has a folder for each language. Folders of languages unknown to sonde may
 * contain wrappers.
 */
static int find_list_tree(struct script_places *p, const char *exec_path)
{
	char *scripts = find_joined(exec_path, "scripts");
	DIR *dir = scripts ? opendir(scripts) : NULL;
	struct dirent *entry;
	int r = scripts ? 0 : -1;

	for (const struct language *l = script_languages; dir && !r && l->name; l++)
		if (l->folder)
			r = find_take_place(p, SCRIPT_OF_PERF, find_joined(scripts, l->folder),
					    exec_path);
	while (dir && !r && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			r = find_take_place(p, SCRIPT_OF_PERF, find_joined(scripts, entry->d_name),
					    exec_path);
	if (dir)
		closedir(dir);
	free(scripts);
	return r;
}

/*
 * Finds perf's exec path without running perf: next to each perf in PATH, then in the folders that
 * distributions use. A perf that is sonde has none.
 */
static int find_list_installed_trees(struct script_places *p)
{
	static const char *const below[] = { "libexec/perf-core", "lib/perf-core" };
	static const char *const usual[] = { "/usr/libexec/perf-core", "/usr/lib/perf-core",
					     "/usr/local/libexec/perf-core" };
	const char *dirs = programs_path();
	char *perf;
	int r = 0;

	while (!r && (perf = programs_next(&dirs, "perf"))) {
		char real[PATH_MAX], *slash = realpath(perf, real) ? strrchr(real, '/') : NULL;

		if (programs_is_own(perf))
			slash = NULL;
		if (slash)
			*slash = 0;
		slash = slash ? strrchr(real, '/') : NULL;
		for (size_t i = 0; slash && !r && i < sizeof(below) / sizeof(below[0]); i++) {
			snprintf(slash, sizeof(real) - (size_t)(slash - real), "/%s", below[i]);
			r = find_list_tree(p, real);
		}
		free(perf);
	}
	for (size_t i = 0; !r && i < sizeof(usual) / sizeof(usual[0]); i++)
		r = find_list_tree(p, usual[i]);
	return r;
}

static int find_list_own(struct script_places *p)
{
	char *folder = programs_own_file("scripts", SONDE_DATADIR, "sonde/scripts");

	return folder ? find_take_place(p, SCRIPT_OURS, folder, NULL) : 0;
}

/* Lists folders separated by ':'. "~/" is the home folder. */
static int find_list_folders(struct script_places *p, const char *folders)
{
	const char *home = getenv("HOME");
	int r = 0;

	for (size_t len; !r && *folders; folders += len + (folders[len] == ':')) {
		bool at_home = home && !strncmp(folders, "~/", 2);
		char *folder;

		len = strcspn(folders, ":");
		if (!len)
			continue;
		if (asprintf(&folder, "%s%.*s", at_home ? home : "", (int)len - at_home,
			     folders + at_home) < 0)
			folder = NULL;
		r = find_take_place(p, SCRIPT_OF_USER, folder, NULL);
	}
	return r;
}

static int find_list_users(struct script_places *p, const struct cli *cli)
{
	const char *said = getenv("SONDE_SCRIPT_PATH"), *xdg = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	int r;

	if (!said || !*said)
		said = settings_script_path(cli);
	r = said ? find_list_folders(p, said) : 0;
	if (r)
		return r;
	if (xdg && *xdg)
		return find_take_place(p, SCRIPT_OF_USER, find_joined(xdg, "sonde/scripts"), NULL);
	return home && *home ? find_take_place(p, SCRIPT_OF_USER,
					       find_joined(home, ".config/sonde/scripts"), NULL)
			     : 0;
}

const char *script_exec_path_said(void)
{
	const char *path = getenv("PERF_EXEC_PATH"), *ours = getenv("SONDE_EXEC_PATH");

	return path && *path && (!ours || strcmp(path, ours)) ? path : NULL;
}

char *script_exec_path(void)
{
	const char *said = script_exec_path_said();
	char *prelude = said ? NULL : script_language_prelude(script_languages), *path;

	if (said)
		return strdup(said);
	path = prelude ? script_language_lib(script_languages, prelude) : NULL;
	free(prelude);
	return path;
}

int script_places_list(const struct cli *cli, struct script_places *ret)
{
	struct script_places p = { 0 };
	const char *said = script_exec_path_said();
	int r = said                                  ? find_list_tree(&p, said)
		: cli_rules(cli)->perfs_scripts_first ? find_list_installed_trees(&p)
						      : 0;

	r = r ? r : find_list_own(&p);
	r = r ? r : find_list_users(&p, cli);
	if (!r && !said && !cli_rules(cli)->perfs_scripts_first)
		r = find_list_installed_trees(&p);
	if (r) {
		cli_say("out of memory");
		script_places_done(&p);
		return -1;
	}
	*ret = p;
	return 0;
}

void script_places_done(struct script_places *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		free(p->v[i].folder);
		free(p->v[i].exec_path);
	}
	free(p->v);
	*p = (struct script_places){ 0 };
}

/* ---- files in them --------------------------------------------------------------------------- */

static bool find_is_readable_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, R_OK);
}

char *script_places_file(const struct script_places *p, const struct language *l, const char *file)
{
	for (size_t i = 0; i < p->nr; i++) {
		char *path;

		if (l && p->v[i].language && p->v[i].language != l)
			continue;
		path = find_joined(p->v[i].folder, file);
		if (path && find_is_readable_file(path))
			return path;
		free(path);
	}
	return NULL;
}

/* ---- scripts by name ------------------------------------------------------------------------- */

/* Stores the path FOLDER/[bin/]NAME-OR-FILE in *ret if it exists, else NULL. Returns 0, or -1. */
static int find_look(char **ret, const struct script_place *place, const char *bin,
		     const char *name, const char *ending)
{
	char *path;

	if (asprintf(&path, "%s/%s%s%s", place->folder, bin, name, ending) < 0)
		return -1;
	if (find_is_readable_file(path)) {
		*ret = path;
	} else {
		*ret = NULL;
		free(path);
	}
	return 0;
}

static int find_look_for_file(struct script_entry *e, const struct script_place *place,
			      const char *name, const struct language *only)
{
	for (const struct language *l = script_languages; l->name && !e->file; l++) {
		if ((place->language && place->language != l) || (only && only != l))
			continue;
		e->language = l;
		for (const char *const *s = l->suffixes; *s && !e->file; s++) {
			char ending[16];

			snprintf(ending, sizeof(ending), ".%s", *s);
			if (find_look(&e->file, place, "", name, ending) < 0)
				return -1;
		}
	}
	if (!e->file)
		e->language = place->language;
	return 0;
}

/*
 * only is the script's language, NULL for any. Returns 1, 0 if there is nothing of that name, or
 * -1.
 */
static int find_look_at(const struct script_place *place, const char *name,
			const struct language *only, struct script_entry *ret)
{
	struct script_entry e = { .place = place, .name = strdup(name) };

	if (!e.name || find_look(&e.record, place, "bin/", name, "-record") < 0 ||
	    find_look(&e.report, place, "bin/", name, "-report") < 0 ||
	    find_look_for_file(&e, place, name, only) < 0) {
		script_entry_done(&e);
		return -1;
	}
	if (!e.file && (only || (!e.record && !e.report))) {
		script_entry_done(&e);
		return 0;
	}
	*ret = e;
	return 1;
}

/*
 * True if the entry misses a wrapper that may be in this place. perf searches each wrapper in the
 * folders of all languages. By default only the recorder's wrapper may be in another language's
 * folder of the same tree.
 */
static bool find_is_to_complete(const struct script_entry *e, const struct script_place *place,
				bool needs_wrappers)
{
	if (!place->exec_path)
		return false;
	if (needs_wrappers)
		return !e->record || !e->report;
	return !e->record && e->place->exec_path && !strcmp(e->place->exec_path, place->exec_path);
}

int script_entry_find(const struct script_places *p, const char *name, bool needs_wrappers,
		      struct script_entry *ret)
{
	struct script_entry e = { 0 };
	int r = 0;

	if (!*name || *name == '.' || strchr(name, '/'))
		return 0;
	for (size_t i = 0; i < p->nr && r >= 0; i++) {
		struct script_entry more;

		if (e.name && !find_is_to_complete(&e, &p->v[i], needs_wrappers))
			continue;
		r = find_look_at(&p->v[i], name, NULL, e.name ? &more : &e);
		if (r != 1 || e.place == &p->v[i])
			continue;
		if (!e.record) {
			e.record = more.record;
			more.record = NULL;
		}
		if (!e.report && needs_wrappers) {
			e.report = more.report;
			more.report = NULL;
		}
		script_entry_done(&more);
	}
	if (r < 0 || !e.name) {
		script_entry_done(&e);
		return r < 0 ? -1 : 0;
	}
	*ret = e;
	return 1;
}

void script_entry_done(struct script_entry *e)
{
	free(e->name);
	free(e->file);
	free(e->record);
	free(e->report);
	*e = (struct script_entry){ 0 };
}

/* Removes the suffix and returns its language; NULL if there is none. */
static const struct language *find_strip_suffix(char *file)
{
	char *dot = strrchr(file, '.');

	for (const struct language *l = script_languages; dot && dot > file && l->name; l++)
		for (const char *const *s = l->suffixes; *s; s++)
			if (!strcmp(dot + 1, *s)) {
				*dot = 0;
				return l;
			}
	return NULL;
}

int script_entry_find_file(const struct script_places *p, const char *file,
			   struct script_entry *ret)
{
	char *name = strdup(file);
	const struct language *l =
		name && *name != '.' && !strchr(name, '/') ? find_strip_suffix(name) : NULL;
	int r = name ? 0 : -1;

	for (size_t i = 0; l && i < p->nr && !r; i++)
		r = find_look_at(&p->v[i], name, l, ret);
	free(name);
	return r;
}

int script_entry_find_language(const struct script_places *p, const char *name,
			       struct script_entry *ret)
{
	const char *colon = strchr(name, ':');
	const struct language *l =
		colon ? script_language_called(name, (size_t)(colon - name)) : NULL;
	int r = 0;

	if (!l || !colon[1] || colon[1] == '.' || strchr(colon, '/'))
		return 0;
	for (size_t i = 0; i < p->nr && !r; i++)
		r = find_look_at(&p->v[i], colon + 1, l, ret);
	return r;
}

int script_entry_at_path(const char *path, struct script_entry *ret)
{
	static const struct script_place nowhere = { .origin = SCRIPT_OF_USER };
	const char *slash = strrchr(path, '/');
	struct script_place place = { .folder = strndup(path, slash ? (size_t)(slash - path) : 0) };
	struct script_entry e = { .place = &nowhere, .name = strdup(slash ? slash + 1 : path) };
	int r = 0;

	if (place.folder && !slash) {
		free(place.folder);
		place.folder = strdup(".");
	}
	if (!place.folder || !e.name)
		r = -1;
	else if (find_is_readable_file(path) && (e.language = find_strip_suffix(e.name)))
		r = 1;
	if (r > 0 && (!(e.file = strdup(path)) ||
		      find_look(&e.record, &place, "bin/", e.name, "-record") < 0 ||
		      find_look(&e.report, &place, "bin/", e.name, "-report") < 0))
		r = -1;
	free(place.folder);
	if (r > 0)
		*ret = e;
	else
		script_entry_done(&e);
	return r;
}

/*
 * Adds the script `name` unless the list already has it. only is the language of the file that was
 * found; NULL if a wrapper in bin/ was found.
 */
static int find_add_entry(struct script_entries *all, const struct script_place *place,
			  const char *name, const struct language *only)
{
	struct script_entry e;
	struct script_about about;
	int r;

	for (size_t i = all->nr; i && all->v[i - 1].place == place; i--)
		if (!strcmp(all->v[i - 1].name, name) && (!only || all->v[i - 1].language == only))
			return 0;
	r = find_look_at(place, name, only, &e);
	if (r != 1)
		return r;
	if (!e.record && !e.report) {
		if (script_about_read(e.file, &about) < 0) {
			script_entry_done(&e);
			return -1;
		}
		r = about.has_handlers;
		script_about_done(&about);
	}
	if (r && all->nr == all->room) {
		struct script_entry *grown = realloc(all->v, (all->room + 32) * sizeof(*grown));

		r = grown ? 1 : -1;
		if (grown) {
			all->v = grown;
			all->room += 32;
		}
	}
	if (r != 1) {
		script_entry_done(&e);
		return r;
	}
	all->v[all->nr++] = e;
	return 0;
}

/* Cuts "NAME-record" or "NAME-report" to NAME. False if the name is not a wrapper's. */
static bool find_strip_wrapper_ending(char *name)
{
	static const char *const endings[] = { "-record", "-report" };

	for (int i = 0; i < 2; i++) {
		size_t len = strlen(name), ending = strlen(endings[i]);

		if (len > ending && !strcmp(name + len - ending, endings[i])) {
			name[len - ending] = 0;
			return true;
		}
	}
	return false;
}

/*
 * Compares by name. Equal names are in the order in which script_entry_find() searches their
 * languages.
 */
static int find_by_name(const void *a, const void *b)
{
	const struct script_entry *x = a, *y = b;
	const int order = strcmp(x->name, y->name);

	return order ? order : (x->language > y->language) - (x->language < y->language);
}

static int find_list_place(struct script_entries *all, const struct script_place *place,
			   bool wrappers)
{
	char *folder = find_joined(place->folder, wrappers ? "bin" : ".");
	DIR *dir = folder ? opendir(folder) : NULL;
	struct dirent *entry;
	int r = folder ? 0 : -1;

	while (dir && r >= 0 && (entry = readdir(dir))) {
		const struct language *l = NULL;

		if (*entry->d_name == '.')
			continue;
		if (wrappers ? find_strip_wrapper_ending(entry->d_name)
			     : (l = find_strip_suffix(entry->d_name)) != NULL)
			r = find_add_entry(all, place, entry->d_name, l);
	}
	if (dir)
		closedir(dir);
	free(folder);
	return r;
}

int script_entries_list(const struct script_places *p, struct script_entries *ret)
{
	struct script_entries all = { 0 };

	for (size_t i = 0; i < p->nr; i++) {
		size_t before = all.nr;

		if (find_list_place(&all, &p->v[i], true) < 0 ||
		    find_list_place(&all, &p->v[i], false) < 0) {
			script_entries_done(&all);
			return -1;
		}
		if (all.nr > before)
			qsort(all.v + before, all.nr - before, sizeof(*all.v), find_by_name);
	}
	*ret = all;
	return 0;
}

void script_entries_done(struct script_entries *e)
{
	for (size_t i = 0; i < e->nr; i++)
		script_entry_done(&e->v[i]);
	free(e->v);
	*e = (struct script_entries){ 0 };
}
