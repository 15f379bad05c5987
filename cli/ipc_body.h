/* SPDX-License-Identifier: MIT */
/*
 * The body of a message of Arrow's IPC format: the buffers of arrays, one after the other, each at
 * a multiple of 64 bytes. Slices are copied out of their arrays: bits are shifted, and offsets
 * count from the slice. No buffer is copied before it is written.
 */
#ifndef SONDE_CLI_IPC_BODY_H
#define SONDE_CLI_IPC_BODY_H

#include <sonde/sonde.h>

#include <stddef.h>
#include <stdio.h>

struct ipc_node {
	int64_t length, null_count;
};

enum ipc_buffer_kind {
	IPC_BUFFER_PLAIN,
	IPC_BUFFER_BITS,    /* [from, from + nr) */
	IPC_BUFFER_OFFSETS, /* nr of `width` bytes; the first of them is subtracted from each */
};

struct ipc_buffer {
	enum ipc_buffer_kind kind;
	uint32_t width;
	const uint8_t *data; /* borrowed from the array; NULL: zeros */
	int64_t from, nr;
	uint64_t at, len; /* place in the body, and bytes without padding */
};

struct ipc_body {
	struct ipc_node *nodes;     /* owned */
	struct ipc_buffer *buffers; /* owned */
	size_t nr_nodes, nodes_room, nr_buffers, buffers_room;
};

void ipc_body_clear(struct ipc_body *b);
/*
 * Adds the rows [from, from + length) of an array, with its children. The array must stay valid
 * until ipc_body_write(). Returns 0, -ENOMEM, -ENOTSUP, or -EINVAL for an array without a buffer
 * that it needs.
 */
int ipc_body_add(struct ipc_body *b, const struct ArrowSchema *schema, const struct ArrowArray *a,
		 int64_t from, int64_t length);
/* Bytes, a multiple of 64. */
uint64_t ipc_body_len(const struct ipc_body *b);
int ipc_body_write(const struct ipc_body *b, FILE *out);
void ipc_body_done(struct ipc_body *b);

#endif
