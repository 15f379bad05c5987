/* SPDX-License-Identifier: MIT */
/*
 * blktrace: the input as one stream (as blkparse -d writes it), or as the files of two cpus, which
 * each input overwrites.
 *
 *	u8 x 2: keys of the session | u8 how | records
 *
 *	how	0: one file. Else a folder: how/256 of the bytes are the file of the first cpu
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "asking.h"

enum { CPUS = 2, HEAD = 3, WHOLE = 256 };

static char dir[256];

static void file_path(char *ret, size_t room, int cpu)
{
	snprintf(ret, room, "%s/sda.blktrace.%d", dir, cpu);
}

static void remove_dir(void)
{
	char path[300];

	for (int cpu = 0; cpu < CPUS; cpu++) {
		file_path(path, sizeof(path), cpu);
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

static int write_file(int cpu, const uint8_t *p, size_t size)
{
	char path[300];
	int fd, r;

	file_path(path, sizeof(path), cpu);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_TRUNC, 0600);
	if (fd < 0)
		return -1;
	r = write(fd, p, size) == (ssize_t)size ? 0 : -1;
	close(fd);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	uint32_t choice;
	size_t first;

	if (size < HEAD)
		return 0;
	choice = data[0] | (uint32_t)data[1] << 8;
	first = (size - HEAD) * data[2] / WHOLE;
	if (!data[2]) {
		if (fuzz_file_put(&file, data + HEAD, size - HEAD) >= 0)
			fuzz_recording(file.path, choice);
		return 0;
	}
	if (!*dir && make_dir() < 0)
		return 0;
	if (write_file(0, data + HEAD, first) >= 0 &&
	    write_file(1, data + HEAD + first, size - HEAD - first) >= 0)
		fuzz_recording(dir, choice);
	return 0;
}
