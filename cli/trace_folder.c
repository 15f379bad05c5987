/* SPDX-License-Identifier: MIT */
#include "trace_folder.h"

#include "new_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool folder_is_name(const char *name)
{
	return !strcmp(name, "metadata") || !strncmp(name, "cpu_", 4) ||
	       !strncmp(name, "no_cpu", 6);
}

static bool folder_is_file(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

/* Looks at all files, or removes them. False with errno if one is not of a trace, or cannot be. */
static bool folder_walk(const char *path, bool removes)
{
	DIR *d = opendir(path);
	struct dirent *e;
	bool is_ours = true;

	if (!d)
		return false;
	while (is_ours && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		is_ours = folder_is_name(e->d_name) && folder_is_file(dirfd(d), e->d_name);
		if (!is_ours)
			errno = EEXIST;
		else if (removes)
			is_ours = unlinkat(dirfd(d), e->d_name, 0) == 0;
	}
	closedir(d);
	return is_ours;
}

bool trace_folder_is_ours(const char *path)
{
	return folder_walk(path, false);
}

int trace_folder_remove(const char *path)
{
	return folder_walk(path, false) && folder_walk(path, true) && rmdir(path) == 0 ? 0 : -errno;
}

int trace_folder_rename(const char *from, const char *to, bool replace)
{
	int r = new_path_rename(from, to, false);

	if (r != -EEXIST || !replace || !trace_folder_is_ours(to))
		return r;
	/* The old trace is removed when the new one has its name. */
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0)
		return trace_folder_remove(from);
	/* The file system does not support RENAME_EXCHANGE. */
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	r = trace_folder_remove(to);
	return r ? r : new_path_rename(from, to, false);
}
