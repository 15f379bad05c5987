/* SPDX-License-Identifier: MIT */
/*
 * Makes an input that can be read only once (a pipe, FIFO or socket, or bytes unpacked while they
 * are read) readable again: readers that merge runs return to offsets before the newest byte.
 * Bytes are kept in memory as long as they fit, then in an unlinked temporary file. Bytes that are
 * no longer needed are released.
 *
 *	let go | temporary file | memory (STREAM_MEMORY) | not yet read from the pipe
 *	       keep_from        mem_begin                end
 */
#ifndef SONDE_SOURCES_STREAM_H
#define SONDE_SOURCES_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef SMALL_BUFFERS /* for fuzzing */
enum { STREAM_MEMORY = 32 * 1024 };
#else
enum { STREAM_MEMORY = 16 * 1024 * 1024 };
#endif

struct stream {
	int fd; /* of the pipe, blocking or not; -1 if make() provides the bytes */
	/* Makes the next 1 to len bytes; 0 at the end, <0 on failure (-EINTR: call again). */
	int64_t (*make)(void *ctx, void *buf, size_t len);
	void *ctx;
	void (*done)(void *ctx); /* releases ctx in stream_done(); NULL if the stream borrows it */
	/* Size of the packed input, or the bytes read of it so far. NULL if it is not packed. */
	const uint64_t *packed_bytes;
	const char *path;          /* borrowed; for messages */
	const atomic_int *stopped; /* waiting ends when another thread sets it; may be NULL */
	/* Reading returns -EINTR at this time of CLOCK_MONOTONIC (0: never). May be NULL. */
	const _Atomic uint64_t *wake_ns;
	uint8_t *ring; /* owned; the byte at offset o is ring[o % STREAM_MEMORY] */
	uint64_t keep_from, mem_begin, end; /* offsets from the stream's first byte */
	int spool;                          /* fd of the temporary file; -1 until it is needed */
	uint64_t punched; /* its bytes before this offset were given back to the file system */
	int copy_fd;      /* see stream_copy_to(); borrowed; -1 for none */
	/* Reading returns -EINTR after STREAM_LOOK_MS without bytes: the caller has timers. */
	bool is_impatient;
	bool ended;
};

/* Allocates a stream, which takes ownership of fd: stream_free() closes it. */
int stream_open(struct stream **ret, int fd, const char *path, const atomic_int *stopped);
void stream_free(struct stream *s); /* NULL is fine */
void stream_init(struct stream *s, int fd, const char *path, const atomic_int *stopped);
/* A stream whose bytes make() provides. Its first byte has the offset `begin`. */
void stream_init_made(struct stream *s, int64_t (*make)(void *ctx, void *buf, size_t len),
		      void *ctx, const char *path, uint64_t begin);
void stream_done(struct stream *s);
/*
 * Reads at most len bytes from `off` on. Returns those that have arrived, or waits until some
 * arrive. 0 at the end of the stream. -EINTR if a signal arrived, *stopped was set or *wake_ns
 * passed before any byte: call again.
 */
int64_t stream_read(struct stream *s, uint64_t off, void *buf, size_t len);
/* True if stream_read() at off does not wait: bytes or the end are there, or make() is used. */
bool stream_is_ready(struct stream *s, uint64_t off);
/* Keeps the bytes that have arrived, without waiting. Returns 1; 0 at the end of the stream. */
int stream_keep_arrived(struct stream *s);
/*
 * From now on fd gets a copy of the bytes that are read, and of those before now, none of which was
 * let go. It stays the caller's.
 */
int stream_copy_to(struct stream *s, int fd);
enum { STREAM_LOOK_MS = 100 }; /* how often *stopped is checked while no bytes arrive */
/*
 * Waits until one of n > 0 streams has bytes or has ended, at most timeout_ms (<= STREAM_LOOK_MS).
 * Returns 1, 0 after the time-out, -EINTR like stream_read().
 */
int streams_wait(struct stream *const *streams, size_t n, int timeout_ms);
/* Releases the bytes before off: they will not be read again. */
void stream_let_go(struct stream *s, uint64_t off);

/*
 * Copies the complete stream to an unlinked temporary file and returns the descriptor. The caller
 * still owns the stream.
 */
int stream_to_file(struct stream *s);

#endif
