/* SPDX-License-Identifier: MIT */
#include "record/output/recorded_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* "data", "data.12" */
static bool dir_is_part(const char *name)
{
	if (strncmp(name, "data", 4))
		return false;
	name += 4;
	if (!*name)
		return true;
	return *name == '.' && name[1] && !name[1 + strspn(name + 1, "0123456789")];
}

/*
 * True if `data` is a recorder's file: it begins with a perf.data header. It is empty or begins
 * with zeros if the recorder was killed early.
 */
static bool dir_has_header(int dir)
{
	static const char unwritten[8];
	char magic[8] = "";
	const int fd = openat(dir, "data", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, magic, sizeof(magic));
		close(fd);
	}
	return n == 0 || (n == sizeof(magic) && (!memcmp(magic, "PERFILE2", sizeof(magic)) ||
						 !memcmp(magic, unwritten, sizeof(magic))));
}

/* Checks all entries, and removes them if `removes` is set. */
static bool dir_walk(const char *path, bool removes)
{
	bool is_recording;
	struct dirent *e;
	DIR *d = opendir(path);

	if (!d)
		return false;
	is_recording = dir_has_header(dirfd(d));
	while (is_recording && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		is_recording = dir_is_part(e->d_name);
		if (removes && is_recording)
			is_recording = unlinkat(dirfd(d), e->d_name, 0) == 0;
	}
	closedir(d);
	return is_recording;
}

bool recorded_dir_check(const char *path)
{
	return dir_walk(path, false);
}

bool recorded_dir_remove(const char *path)
{
	return dir_walk(path, false) && dir_walk(path, true) && rmdir(path) == 0;
}
