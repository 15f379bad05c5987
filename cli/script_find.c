/* SPDX-License-Identifier: MIT */
#include "script_find.h"

#include "programs.h"
#include "settings.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the list of places ------------------------------------------------------------------------------------------ */

static const struct language *language_of_folder(const char *name)
{
	for (const struct language *l = script_languages; l->name; l++)
		if (l->folder && !strcmp(l->folder, name))
			return l;
	return NULL;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static bool has_place(const struct script_places *p, const char *folder)
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

/* Takes folder. A folder that is not there, or is listed already, is passed over. 0, or -1 without memory. */
static int take_place(struct script_places *p, enum script_origin origin, char *take_folder,
		      const char *exec_path)
{
	struct script_place place = { .origin = origin, .folder = take_folder };
	struct script_place *grown;

	if (!take_folder || !is_folder(take_folder) || has_place(p, take_folder)) {
		free(take_folder);
		return take_folder ? 0 : -1;
	}
	if (exec_path) {
		place.exec_path = strdup(exec_path);
		place.language = language_of_folder(strrchr(take_folder, '/') + 1);
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

static char *joined(const char *folder, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* Each language has a folder; in the order of the folder, which is that of perf's list. */
static int list_tree(struct script_places *p, const char *exec_path)
{
	char *scripts = joined(exec_path, "scripts");
	DIR *dir = scripts ? opendir(scripts) : NULL;
	struct dirent *entry;
	int r = scripts ? 0 : -1;

	while (dir && !r && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			r = take_place(p, SCRIPT_OF_PERF, joined(scripts, entry->d_name),
				       exec_path);
	if (dir)
		closedir(dir);
	free(scripts);
	return r;
}

/*
 * What `perf --exec-path` would say, without asking it: beside each perf in PATH, then where distributions put it. A perf
 * that is sonde leads nowhere.
 */
static int list_installed_trees(struct script_places *p)
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
			r = list_tree(p, real);
		}
		free(perf);
	}
	for (size_t i = 0; !r && i < sizeof(usual) / sizeof(usual[0]); i++)
		r = list_tree(p, usual[i]);
	return r;
}

static int list_own(struct script_places *p)
{
	char *folder = programs_own_file("scripts", SONDE_DATADIR, "sonde/scripts");

	return folder ? take_place(p, SCRIPT_OURS, folder, NULL) : 0;
}

/* Folders separated by ':'; "~/" is one's home. */
static int list_folders(struct script_places *p, const char *folders)
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
		r = take_place(p, SCRIPT_OF_USER, folder, NULL);
	}
	return r;
}

static int list_users(struct script_places *p, const struct cli *cli)
{
	const char *said = getenv("SONDE_SCRIPT_PATH"), *xdg = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	int r;

	if (!said || !*said)
		said = settings_script_path(cli);
	r = said ? list_folders(p, said) : 0;
	if (r)
		return r;
	if (xdg && *xdg)
		return take_place(p, SCRIPT_OF_USER, joined(xdg, "sonde/scripts"), NULL);
	return home && *home
		       ? take_place(p, SCRIPT_OF_USER, joined(home, ".config/sonde/scripts"), NULL)
		       : 0;
}

const char *script_exec_path_said(void)
{
	const char *path = getenv("PERF_EXEC_PATH"), *ours = getenv("SONDE_EXEC_PATH");

	return path && *path && (!ours || strcmp(path, ours)) ? path : NULL;
}

int script_places_list(const struct cli *cli, struct script_places *ret)
{
	struct script_places p = { 0 };
	const char *said = script_exec_path_said();
	int r = said ? list_tree(&p, said) : cli_compat(cli) ? list_installed_trees(&p) : 0;

	r = r ? r : list_own(&p);
	r = r ? r : list_users(&p, cli);
	if (!r && !said && !cli_compat(cli))
		r = list_installed_trees(&p);
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

/* ---- files in them ----------------------------------------------------------------------------------------------- */

static bool is_readable_file(const char *path)
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
		path = joined(p->v[i].folder, file);
		if (path && is_readable_file(path))
			return path;
		free(path);
	}
	return NULL;
}
