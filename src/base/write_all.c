/* SPDX-License-Identifier: MIT */
#include "base/write_all.h"

#include <errno.h>
#include <unistd.h>

int write_all(int fd, const void *p, size_t len)
{
	const char *at = p;

	while (len) {
		const ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}
