/* SPDX-License-Identifier: MIT */
/* The place of control groups. */
#ifndef SONDE_CAPTURE_CGROUPS_H
#define SONDE_CAPTURE_CGROUPS_H

#include <limits.h>
#include <stdbool.h>

/*
 * The hierarchy that perf events use: that of the controller perf_event if version 1 has it,
 * otherwise that of version 2. False if neither is mounted.
 */
bool capture_cgroup_tree(char ret[PATH_MAX]);

#endif
