/* SPDX-License-Identifier: MIT */
/* Small files of /proc and /sys. */
#ifndef SONDE_BASE_SYSFILE_H
#define SONDE_BASE_SYSFILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The first line of the file without its newline. False if the file cannot be read or the line is
 * empty.
 */
bool sysfile_line(char *buf, size_t size, const char *path_fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The number at the beginning of that line, or fallback. */
long sysfile_number(long fallback, const char *path_fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * The text after "KEY<blanks>:<blanks>" in the first line that begins with key: /proc/cpuinfo,
 * /proc/meminfo.
 */
bool sysfile_value(char *buf, size_t size, const char *path, const char *key);

#endif
