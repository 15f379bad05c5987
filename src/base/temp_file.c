/* SPDX-License-Identifier: MIT */
#include "base/temp_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"

int temp_file_open(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* Some file systems have no O_TMPFILE. */
	if (snprintf(path, sizeof(path), "%s/sonde-XXXXXX", dir) >= (int)sizeof(path))
		return err_set(-ENAMETOOLONG, "TMPDIR is too long");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return err_errno(errno, "cannot make a temporary file in %s (set TMPDIR)", dir);
	unlink(path);
	return fd;
}
