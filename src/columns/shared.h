/* SPDX-License-Identifier: MIT */
/*
 * Memory that several owners share: a column being filled, and the Arrow arrays made of it. It is
 * freed with the last reference, by any thread. Owners of arrays read only what existed when the
 * array was made, so the column may append to the same memory.
 */
#ifndef SONDE_COLUMNS_SHARED_H
#define SONDE_COLUMNS_SHARED_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* The alignment that the Arrow format recommends. */
enum { SHARED_ALIGNMENT = 64 };

struct shared {
	atomic_uint refs;
	size_t room;    /* bytes, a multiple of SHARED_ALIGNMENT */
	uint8_t *bytes; /* aligned to SHARED_ALIGNMENT */
};

/* Room for at least one byte. Returns 0 on success, -ENOMEM on failure. */
int shared_new(struct shared **ret, size_t room);
struct shared *shared_ref(struct shared *s); /* NULL is fine */
void shared_unref(struct shared *s);         /* NULL is fine */
/*
 * If *s is NULL and *spare has no other owner, moves *spare to *s: that saves the page faults of
 * fresh memory.
 */
void shared_take_spare(struct shared **s, struct shared **spare);
/*
 * Makes room: *s (NULL is fine) becomes a larger copy of its first `used` bytes if it has less.
 * Returns 0 on success, -ENOMEM on failure, which leaves *s as it was.
 */
int shared_reserve(struct shared **s, size_t used, size_t room);

#endif
