/* SPDX-License-Identifier: MIT */
#include "folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[256];

static void folder_remove(void)
{
	DIR *d = opendir(folder);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (entry->d_type == DT_REG)
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	rmdir(folder);
}

const char *fuzz_folder(void)
{
	const char *parent = getenv("TMPDIR");

	if (*folder)
		return folder;
	snprintf(folder, sizeof(folder), "%s/sonde-fuzz-XXXXXX",
		 parent && *parent ? parent : "/tmp");
	if (!mkdtemp(folder)) {
		*folder = '\0';
		return NULL;
	}
	atexit(folder_remove);
	return folder;
}

int fuzz_folder_write(const char *name, const uint8_t *p, size_t size)
{
	const char *parent = fuzz_folder();
	char path[300];
	int fd, r;

	if (!parent)
		return -1;
	snprintf(path, sizeof(path), "%s/%s", parent, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_TRUNC, 0600);
	if (fd < 0)
		return -1;
	r = write(fd, p, size) == (ssize_t)size ? 0 : -1;
	close(fd);
	return r;
}
