/* SPDX-License-Identifier: MIT */
/* The control groups that there are, in the hierarchy that perf events know. */
#ifndef SONDE_CAPTURE_RUNNING_CGROUPS_H
#define SONDE_CAPTURE_RUNNING_CGROUPS_H

#include <stdint.h>

/* id: what samples call the group; path: from the root of the hierarchy, "/" for it. Those without rights are left out. */
void cgroups_each(void (*visit)(void *ctx, uint64_t id, const char *path), void *ctx);

#endif
