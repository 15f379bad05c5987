/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include "dlfilters.h"
#include "json.h"
#include "script_find.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define USUAL_EXEC_PATH "/usr/lib/perf-core"

static const char *dlfilters_exec_path(void)
{
	const char *path = script_exec_path_said();

	return path ? path : USUAL_EXEC_PATH;
}

char *dlfilter_find(const char *name)
{
	char *path;

	if (strchr(name, '/'))
		return strdup(name);
	if (!access(name, R_OK))
		return asprintf(&path, "./%s", name) < 0 ? NULL : path;
	if (asprintf(&path, "%s/dlfilters/%s", dlfilters_exec_path(), name) < 0)
		return NULL;
	if (!access(path, R_OK))
		return path;
	free(path);
	return strdup(name);
}

struct dlfilters_listing {
	bool json;
	int verbose;
	size_t nr; /* filters printed so far */
};

/* text and details are NULL if the filter does not describe itself. */
static void dlfilters_print_json(struct dlfilters_listing *l, const char *path, const char *name,
				 bool loaded, const char *text, const char *details)
{
	fputs(l->nr++ ? ",\n{\"name\":" : "\n{\"name\":", stdout);
	json_put_string(name);
	json_put_member("file", path);
	printf(",\"loaded\":%s", loaded ? "true" : "false");
	json_put_member("description", text);
	json_put_member("details", details);
	putchar('}');
}

static void dlfilters_print_text(const struct dlfilters_listing *l, const char *name,
				 const char *text, const char *details)
{
	printf("  %-36s %s\n", name, text ? text : "");
	while (l->verbose > 0 && details && *details) {
		size_t len = strcspn(details, "\n");

		printf("%39s%.*s\n", "", (int)len, details);
		details += len + (details[len] == '\n');
	}
}

static void dlfilters_list_one(struct dlfilters_listing *l, const char *path, const char *name)
{
	const char *(*describe)(const char **) = NULL;
	const char *text = NULL, *details = NULL;
	void *handle = dlopen(path, RTLD_NOW);

	if (!handle)
		return;
	if (dlsym(handle, "filter_event") || dlsym(handle, "filter_event_early")) {
		*(void **)&describe = dlsym(handle, "filter_description");
		if (describe)
			text = describe(&details);
		if (l->json)
			dlfilters_print_json(l, path, name, true, text, details);
		else
			dlfilters_print_text(l, name, text, details);
	}
	dlclose(handle);
}

/* Loading a filter runs its code, and the current folder may hold files of other users. */
static void dlfilters_list_unloaded(struct dlfilters_listing *l, const char *path, const char *name)
{
	if (l->json)
		dlfilters_print_json(l, path, name, false, NULL, NULL);
	else
		printf("  %-36s %s: not loaded, so not described\n", name, path);
}

static bool dlfilters_is_current_folder(const char *folder)
{
	struct stat here, there;

	return !stat(".", &here) && !stat(folder, &there) && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

static void dlfilters_list_folder(struct dlfilters_listing *l, const char *folder)
{
	DIR *dir = opendir(folder);
	bool is_here = dlfilters_is_current_folder(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);
		char *path;

		if (entry->d_type == DT_DIR || len <= 3 || strcmp(entry->d_name + len - 3, ".so"))
			continue;
		if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
			break;
		if (is_here)
			dlfilters_list_unloaded(l, path, entry->d_name);
		else
			dlfilters_list_one(l, path, entry->d_name);
		free(path);
	}
	if (dir)
		closedir(dir);
}

void dlfilter_list(int verbose, bool json)
{
	struct dlfilters_listing l = { .json = json, .verbose = verbose };
	char *perfs;

	if (json) {
		json_begin("dlfilters");
		fputs(",\"filters\":[", stdout);
	} else {
		puts("List of available dlfilters:");
	}
	dlfilters_list_folder(&l, ".");
	if (asprintf(&perfs, "%s/dlfilters", dlfilters_exec_path()) >= 0) {
		if (!dlfilters_is_current_folder(perfs))
			dlfilters_list_folder(&l, perfs);
		free(perfs);
	}
	if (json)
		puts("]}");
}
