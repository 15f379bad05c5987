/* SPDX-License-Identifier: MIT */
#include "capture/limits.h"

#include <sys/resource.h>

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
