/* SPDX-License-Identifier: MIT */
/* Lists of cpus as sysfs writes them: "0-3,8". */
#ifndef SONDE_CAPTURE_CPUS_H
#define SONDE_CAPTURE_CPUS_H

#include <stddef.h>

#include "base/vec.h"

struct cpu_list {
	VEC(int) list; /* ascending */
};

int cpu_list_parse(const char *text, struct cpu_list *ret);
/* From a file such as /sys/devices/system/cpu/online. */
int cpu_list_read(const char *path, struct cpu_list *ret);

#endif
