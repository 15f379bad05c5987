/* SPDX-License-Identifier: MIT */
/*
 * A recording that is a directory: DIR/data and three more files, which each input overwrites.
 *
 *	u8 x 2: keys of the session | u8 number of files with bytes, 0 to 3 | u16 x 3: their sizes |
 *	their bytes | data
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "asking.h"

enum { PARTS = 3, BEFORE = 3 + 2 * PARTS };

static char dir[256];

static void remove_dir(void)
{
	char path[300];

	for (int i = 0; i <= PARTS; i++) {
		snprintf(path, sizeof(path), i < PARTS ? "%s/data.%d" : "%s/data", dir, i);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *p = data + BEFORE, *end = data + size;

	if (size < BEFORE || (!*dir && make_dir() < 0))
		return 0;
	for (int i = 0; i < PARTS; i++) {
		size_t len = data[3 + 2 * i] | (size_t)data[4 + 2 * i] << 8;
		char name[16];

		snprintf(name, sizeof(name), "data.%d", i);
		if (i >= data[2] % (PARTS + 1))
			len = 0;
		if (len > (size_t)(end - p))
			len = (size_t)(end - p);
		if (write_file(name, p, len) < 0)
			return 0;
		p += len;
	}
	if (write_file("data", p, (size_t)(end - p)) >= 0)
		fuzz_recording(dir, data[0] | (uint32_t)data[1] << 8);
	return 0;
}
