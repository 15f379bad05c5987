/* SPDX-License-Identifier: MIT */
/* Where control groups are. */
#ifndef SONDE_CAPTURE_CGROUPS_H
#define SONDE_CAPTURE_CGROUPS_H

#include <limits.h>
#include <stdbool.h>

/*
 * The tree that perf events go by: that of the controller perf_event when version 1 has it, otherwise that of version 2;
 * false when none is mounted.
 */
bool capture_cgroup_tree(char ret[PATH_MAX]);

#endif
