/* SPDX-License-Identifier: MIT */
/*
 * Makes an input that can be read only once (a pipe, FIFO or socket, or bytes unpacked while they
 * are read) readable again: readers that merge runs return to offsets before the newest byte.
 * Bytes are kept in memory as long as they fit, then in an unlinked temporary file; bytes that
 * nobody needs any more are let go.
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
	int fd; /* of the pipe, blocking or not; -1: bytes are made */
	/* Makes the next 1 to len bytes; 0 at the end, <0 on failure (-EINTR: call again). */
	int64_t (*make)(void *ctx, void *buf, size_t len);
	void *ctx;
	void (*done)(void *ctx); /* releases ctx in stream_done(); NULL if the stream borrows it */
	/* Size of the packed input, or the bytes read of it so far. NULL if it is not packed. */
	const uint64_t *packed_bytes;
	const char *path;          /* borrowed; for messages */
	const atomic_int *stopped; /* set from elsewhere: waiting ends; NULL: never */
	uint8_t *ring;             /* owned; the byte at offset o is ring[o % STREAM_MEMORY] */
	uint64_t keep_from, mem_begin, end; /* offsets from the stream's first byte */
	int spool;                          /* of the temporary file; -1: not needed so far */
	uint64_t punched; /* its bytes before were given back to the file system */
	bool ended;
};

/* On the heap, with a descriptor of its own: stream_free() closes it. */
int stream_open(struct stream **ret, int fd, const char *path, const atomic_int *stopped);
void stream_free(struct stream *s); /* NULL is fine */
void stream_init(struct stream *s, int fd, const char *path, const atomic_int *stopped);
/* Bytes are made, from the offset `begin` on. */
void stream_init_made(struct stream *s, int64_t (*make)(void *ctx, void *buf, size_t len),
		      void *ctx, const char *path, uint64_t begin);
void stream_done(struct stream *s);
/*
 * Reads at most len bytes from `off` on: those that have arrived, else waits for more. 0 at the end
 * of the stream; -EINTR if a signal arrived, or *stopped was set, before any byte: call again.
 */
int64_t stream_read(struct stream *s, uint64_t off, void *buf, size_t len);
/* True if stream_read() at off does not wait: it has bytes or the end, or bytes are made. */
bool stream_is_ready(struct stream *s, uint64_t off);
enum { STREAM_LOOK_MS = 100 }; /* how often *stopped is checked while no bytes arrive */
/*
 * Waits until one of n > 0 streams has something to read, at most timeout_ms, itself at most
 * STREAM_LOOK_MS: 1, 0 if the time is over, -EINTR as stream_read().
 */
int streams_wait(struct stream *const *streams, size_t n, int timeout_ms);
/* Bytes before off will not be asked for again. */
void stream_let_go(struct stream *s, uint64_t off);

/*
 * Copies all of the stream to an unlinked temporary file and returns its descriptor. The stream
 * stays the caller's.
 */
int stream_to_file(struct stream *s);

#endif
