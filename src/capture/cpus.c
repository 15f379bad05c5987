/* SPDX-License-Identifier: MIT */
#include "capture/cpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPU_MAX = 65535 };

int capture_cpus_parse(const char *text, struct capture_cpus *ret)
{
	struct capture_cpus l = { 0 };
	const char *p = text;

	while (*p && *p != '\n') {
		char *end;
		unsigned long from = strtoul(p, &end, 10), to = from;

		if (end == p)
			goto bad;
		p = end;
		if (*p == '-') {
			to = strtoul(p + 1, &end, 10);
			if (end == p + 1)
				goto bad;
			p = end;
		}
		if (from > to || to > CPU_MAX)
			goto bad;
		for (unsigned long cpu = from; cpu <= to; cpu++)
			if (vec_push(&l.list, (int)cpu) < 0) {
				vec_done(&l.list);
				return err_nomem();
			}
		p += *p == ',';
	}
	*ret = l;
	return 0;
bad:
	vec_done(&l.list);
	return err_set(-EINVAL, "'%.100s' is not a list of cpus such as 0,2-3", text);
}

int capture_cpus_read(const char *path, struct capture_cpus *ret)
{
	char text[16384];
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f && errno == ENOENT && !strncmp(path, "/sys/", 5) && access("/sys/devices", F_OK) < 0)
		return err_set(-ENOENT, "/sys, which lists the cpus and events of this machine, is "
					"not mounted: as root, mount -t sysfs sysfs /sys");
	if (!f)
		return err_errno(errno, "cannot open %s", path);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	return capture_cpus_parse(text, ret);
}

bool capture_cpus_has(const struct capture_cpus *cpus, int cpu)
{
	for (size_t i = 0; i < cpus->list.n; i++)
		if (cpus->list.v[i] == cpu)
			return true;
	return false;
}
