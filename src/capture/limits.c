/* SPDX-License-Identifier: MIT */
#include "capture/limits.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sysfile.h"

long kernel_setting(const char *name, long fallback)
{
	return sysfile_number(fallback, "/proc/sys/kernel/%s", name);
}

bool raise_file_limit(void)
{
	const rlim_t system_max = (rlim_t)sysfile_number(1 << 20, "/proc/sys/fs/nr_open");
	struct rlimit now, wanted;

	if (getrlimit(RLIMIT_NOFILE, &now) < 0)
		return false;
	wanted = (struct rlimit){ system_max, system_max };
	if (now.rlim_cur >= system_max)
		return false;
	if (setrlimit(RLIMIT_NOFILE, &wanted) == 0)
		return true;
	wanted = (struct rlimit){ now.rlim_max, now.rlim_max };
	return now.rlim_cur < now.rlim_max && setrlimit(RLIMIT_NOFILE, &wanted) == 0;
}

/* The errno of the first descriptor that cannot be opened, or 0. */
static int limits_try_descriptors(size_t n)
{
	enum { MOST = 16 };
	int fds[MOST], error = 0;
	size_t nr = 0;

	while (nr < n && nr < MOST && !error) {
		fds[nr] = open("/", O_PATH | O_CLOEXEC);
		if (fds[nr] < 0)
			error = errno;
		else
			nr++;
	}
	while (nr)
		close(fds[--nr]);
	return errno_no_descriptor(error) ? error : 0;
}

int need_descriptors(size_t n)
{
	int error = limits_try_descriptors(n);

	if (error == EMFILE && raise_file_limit())
		error = limits_try_descriptors(n);
	return error ? err_errno(error,
				 "too few file descriptors: %zu are needed in addition to those "
				 "that are open",
				 n)
		     : 0;
}
