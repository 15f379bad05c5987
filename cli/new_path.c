/* SPDX-License-Identifier: MIT */
#include "new_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NEW_PATH_TRIES = 1000 };

static int new_path_try(const char *path, bool is_folder)
{
	int fd;

	if (is_folder)
		return mkdir(path, 0777) < 0 ? -errno : 0;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return fd < 0 ? -errno : (close(fd), 0);
}

int new_path_make(char **ret, const char *path, bool is_folder)
{
	size_t len = strlen(path);
	int r = -EEXIST;

	while (len > 1 && path[len - 1] == '/') /* a folder's name may end in '/' */
		len--;
	for (int i = 0; i < NEW_PATH_TRIES && r == -EEXIST; i++) {
		char number[16] = "", *made;

		if (i)
			snprintf(number, sizeof(number), "-%d", i);
		if (asprintf(&made, "%.*s.tmp-%d%s", (int)len, path, (int)getpid(), number) < 0)
			return -ENOMEM;
		r = new_path_try(made, is_folder);
		if (r)
			free(made);
		else
			*ret = made;
	}
	return r;
}

int new_path_rename(const char *from, const char *to, bool replace)
{
	struct stat st;

	if (replace)
		return rename(from, to) < 0 ? -errno : 0;
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	/* The file system does not support RENAME_NOREPLACE. */
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (lstat(to, &st) == 0)
		return -EEXIST;
	return rename(from, to) < 0 ? -errno : 0;
}
