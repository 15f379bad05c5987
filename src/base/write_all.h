/* SPDX-License-Identifier: MIT */
#ifndef SONDE_BASE_WRITE_ALL_H
#define SONDE_BASE_WRITE_ALL_H

#include <stddef.h>

/*
 * Writes all bytes to a file, at its position. Returns 0 on success, a negative errno without a
 * message: the caller knows what the file is for.
 */
int write_all(int fd, const void *p, size_t len);

#endif
