/* SPDX-License-Identifier: MIT */
/*
 * A window: part of a file read into memory by pread, grown for a record larger than it.
 * No mapping: a file that shrinks under a mapping kills the reader with SIGBUS; here it is a short read.
 */
#ifndef SONDE_ORDER_WINDOW_H
#define SONDE_ORDER_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct window {
	uint8_t *data;       /* owned */
	size_t capacity, len;
	uint64_t file_off;   /* of data[0] */
};

/* Fills the window with up to want bytes from off on, not beyond end. Returns the bytes read (0: end of file) or <0. */
int64_t window_read(struct window *w, int fd, const char *path, uint64_t off, uint64_t end, size_t want);
void window_done(struct window *w);

#endif
