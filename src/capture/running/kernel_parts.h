/* SPDX-License-Identifier: MIT */
/* The running kernel and its modules as files: see sonde_running_kernel(). */
#ifndef SONDE_CAPTURE_RUNNING_KERNEL_PARTS_H
#define SONDE_CAPTURE_RUNNING_KERNEL_PARTS_H

#include "sonde/sonde.h"

/* Calls `part` for each, in the order of their addresses. */
int kernel_parts(void (*part)(void *ctx, const struct sonde_kernel_part *part), void *ctx);

#endif
