/* SPDX-License-Identifier: MIT */
/* Finds the directory of the control groups. */
#ifndef SONDE_CAPTURE_CGROUPS_H
#define SONDE_CAPTURE_CGROUPS_H

#include <limits.h>
#include <stdbool.h>

/*
 * The hierarchy that perf events use: the one of the version 1 controller perf_event if it is
 * mounted, otherwise version 2. False if neither is mounted.
 */
bool capture_cgroup_tree(char ret[PATH_MAX]);

#endif
