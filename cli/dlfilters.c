/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include "dlfilters.h"
#include "script_find.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define USUAL_EXEC_PATH "/usr/lib/perf-core"

static const char *exec_path(void)
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
	if (asprintf(&path, "%s/dlfilters/%s", exec_path(), name) < 0)
		return NULL;
	if (!access(path, R_OK))
		return path;
	free(path);
	return strdup(name);
}

static void list_one(const char *folder, const char *name, int verbose)
{
	const char *(*describe)(const char **) = NULL;
	const char *text = NULL, *details = NULL;
	char *path;
	void *handle;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return;
	handle = dlopen(path, RTLD_NOW);
	free(path);
	if (!handle)
		return;
	if (dlsym(handle, "filter_event") || dlsym(handle, "filter_event_early")) {
		*(void **)&describe = dlsym(handle, "filter_description");
		if (describe)
			text = describe(&details);
		printf("  %-36s %s\n", name, text ? text : "");
		while (verbose > 0 && details && *details) {
			size_t len = strcspn(details, "\n");

			printf("%39s%.*s\n", "", (int)len, details);
			details += len + (details[len] == '\n');
		}
	}
	dlclose(handle);
}

/* Loading runs code, and anybody may have put a file where the user happens to be. */
static void list_unloaded(const char *name)
{
	printf("  %-36s ./%s: not loaded to be listed\n", name, name);
}

static bool is_current_folder(const char *folder)
{
	struct stat here, there;

	return !stat(".", &here) && !stat(folder, &there) && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

static void list_folder(const char *folder, int verbose)
{
	DIR *dir = opendir(folder);
	bool is_here = is_current_folder(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);

		if (entry->d_type == DT_DIR || len <= 3 || strcmp(entry->d_name + len - 3, ".so"))
			continue;
		if (is_here)
			list_unloaded(entry->d_name);
		else
			list_one(folder, entry->d_name, verbose);
	}
	if (dir)
		closedir(dir);
}

void dlfilter_list(int verbose)
{
	char *perfs;

	puts("List of available dlfilters:");
	list_folder(".", verbose);
	if (asprintf(&perfs, "%s/dlfilters", exec_path()) < 0)
		return;
	if (!is_current_folder(perfs))
		list_folder(perfs, verbose);
	free(perfs);
}
