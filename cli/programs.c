/* SPDX-License-Identifier: MIT */
#include "programs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool programs_is_one(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

const char *programs_path(void)
{
	const char *dirs = getenv("PATH");

	return dirs ? dirs : "/usr/local/bin:/usr/bin:/bin";
}

char *programs_next(const char **dirs, const char *name)
{
	while (*dirs && *name) {
		size_t len = strcspn(*dirs, ":");
		char *path = NULL;

		if (asprintf(&path, "%.*s%s%s", (int)len, *dirs, len ? "/" : "./", name) < 0)
			return NULL;
		*dirs = (*dirs)[len] ? *dirs + len + 1 : NULL;
		if (programs_is_one(path))
			return path;
		free(path);
	}
	return NULL;
}

char *programs_find(const char *name)
{
	const char *dirs = programs_path();

	if (strchr(name, '/'))
		return programs_is_one(name) ? strdup(name) : NULL;
	return programs_next(&dirs, name);
}

char *programs_own_file(const char *built, const char *dir, const char *installed)
{
	char exe[PATH_MAX], real[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *tries[2] = { NULL, NULL }, *found = NULL;

	exe[n < 0 ? 0 : n] = 0;
	if (strrchr(exe, '/'))
		*strrchr(exe, '/') = 0;
	if (asprintf(&tries[0], "%s/%s", exe, built) < 0)
		return NULL;
	if (dir[0] == '/')
		n = asprintf(&tries[1], "%s/%s", dir, installed);
	else
		n = asprintf(&tries[1], "%s/../%s/%s", exe, dir, installed);
	if (n < 0)
		tries[1] = NULL;
	for (int i = 0; i < 2 && !found; i++)
		if (tries[i] && realpath(tries[i], real) && !access(real, R_OK))
			found = strdup(real);
	free(tries[0]);
	free(tries[1]);
	return found;
}

bool programs_is_own(const char *path)
{
	struct stat own, st;

	return !stat("/proc/self/exe", &own) && !stat(path, &st) && own.st_dev == st.st_dev &&
	       own.st_ino == st.st_ino;
}
