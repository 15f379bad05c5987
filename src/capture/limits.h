/* SPDX-License-Identifier: MIT */
/* Settings of the kernel and limits of this process that recording runs into. */
#ifndef SONDE_CAPTURE_LIMITS_H
#define SONDE_CAPTURE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

/* The current value of /proc/sys/kernel/NAME, or fallback. */
long kernel_setting(const char *name, long fallback);
/* Raises this process's RLIMIT_NOFILE: to the hard limit, with rights to the system's. False when that changed nothing. */
bool raise_file_limit(void);
/*
 * Fails if n more descriptors cannot be opened; raises the limit where that helps. Called before
 * code for which a file that cannot be opened is one that is not there.
 */
int need_descriptors(size_t n);

#endif
