/* SPDX-License-Identifier: MIT */
/*
 * A CTF trace: a folder with metadata and two files of packets, which each input overwrites.
 *
 *	u8 x 2: keys of the session | u8 first/256 of the packets' bytes are the first file |
 *	u16: bytes of the metadata | metadata | packets
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "asking.h"

enum { BEFORE = 5, WHOLE = 256 };

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *p = data + BEFORE;
	size_t metadata, first, left;

	if (size < BEFORE)
		return 0;
	metadata = data[3] | (size_t)data[4] << 8;
	left = size - BEFORE;
	metadata = metadata < left ? metadata : left;
	left -= metadata;
	first = left * data[2] / WHOLE;
	if (!*dir && make_dir() < 0)
		return 0;
	if (write_file(names[0], p, metadata) >= 0 &&
	    write_file(names[1], p + metadata, first) >= 0 &&
	    write_file(names[2], p + metadata + first, left - first) >= 0)
		fuzz_recording(dir, data[0] | (uint32_t)data[1] << 8);
	return 0;
}
