/* SPDX-License-Identifier: MIT */
#include "ctf_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BEFORE = 3, WHOLE = 256 };

static const char *const names[] = { "metadata", "chan_0", "chan_1" };
enum { NR_NAMES = sizeof(names) / sizeof(*names) };

static char dir[256];

static void remove_dir(void)
{
	char path[300];

	for (int i = 0; i < NR_NAMES; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

static int make_dir(void)
{
	const char *parent = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/sonde-fuzz-XXXXXX", parent && *parent ? parent : "/tmp");
	if (!mkdtemp(dir))
		return -1;
	atexit(remove_dir);
	return 0;
}

static int write_file(const char *name, const uint8_t *p, size_t size)
{
	char path[300];
	int fd, r;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_TRUNC, 0600);
	if (fd < 0)
		return -1;
	r = write(fd, p, size) == (ssize_t)size ? 0 : -1;
	close(fd);
	return r;
}

const char *fuzz_ctf_folder(const uint8_t *data, size_t size)
{
	const uint8_t *p = data + BEFORE;
	size_t metadata, first, left;

	if (size < BEFORE)
		return NULL;
	metadata = data[1] | (size_t)data[2] << 8;
	left = size - BEFORE;
	metadata = metadata < left ? metadata : left;
	left -= metadata;
	first = left * data[0] / WHOLE;
	if (!*dir && make_dir() < 0)
		return NULL;
	return write_file(names[0], p, metadata) >= 0 &&
			       write_file(names[1], p + metadata, first) >= 0 &&
			       write_file(names[2], p + metadata + first, left - first) >= 0
		       ? dir
		       : NULL;
}
