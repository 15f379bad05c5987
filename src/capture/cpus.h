/* SPDX-License-Identifier: MIT */
/* Lists of cpus in the format of sysfs: "0-3,8". */
#ifndef SONDE_CAPTURE_CPUS_H
#define SONDE_CAPTURE_CPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct capture_cpus {
	VEC(int) list; /* ascending */
};

int capture_cpus_parse(const char *text, struct capture_cpus *ret);
/* Reads a file such as /sys/devices/system/cpu/online. */
int capture_cpus_read(const char *path, struct capture_cpus *ret);
bool capture_cpus_has(const struct capture_cpus *cpus, int cpu);

#endif
