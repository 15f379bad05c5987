/* SPDX-License-Identifier: MIT */
/* Kernel settings and process limits that affect recording. */
#ifndef SONDE_CAPTURE_LIMITS_H
#define SONDE_CAPTURE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

/* The current value of /proc/sys/kernel/NAME, or fallback. */
long kernel_setting(const char *name, long fallback);
/*
 * Raises this process's RLIMIT_NOFILE: to the hard limit, or with enough rights to the system's
 * limit. False if nothing changed.
 */
bool raise_file_limit(void);
/*
 * Fails if n more descriptors cannot be opened; raises the limit if that helps. Called before code
 * that treats a file that cannot be opened as a missing file.
 */
int need_descriptors(size_t n);

#endif
