/* SPDX-License-Identifier: MIT */
/* The existing control groups, in the hierarchy that perf events use. */
#ifndef SONDE_CAPTURE_RUNNING_CGROUPS_H
#define SONDE_CAPTURE_RUNNING_CGROUPS_H

#include <stdint.h>

/*
 * id: the number in samples. path: from the root of the hierarchy, which is "/". Groups that we may
 * not read are left out.
 */
void cgroups_each(void (*visit)(void *ctx, uint64_t id, const char *path), void *ctx);

#endif
