/* SPDX-License-Identifier: MIT */
/*
 * Writes Arrow's IPC format, as a stream or as a file, from arrays of Arrow's C data interface.
 * https://arrow.apache.org/docs/format/Columnar.html
 *
 *	stream	schema | (dictionaries | batch) ... | end of stream
 *	file	"ARROW1" 0 0 | schema | batch ... | dictionaries | end of stream | footer |
 *		i32 bytes of the footer | "ARROW1"
 *
 * A schema, a dictionary and a batch are messages:
 *
 *	u32 0xffffffff | i32 bytes of metadata with padding | metadata | padding | body | padding
 *
 * The metadata is a flatbuffer (cli/flatbuf.h) and names the place of each buffer in the body. The
 * end of stream is a message of 0 bytes. Messages, bodies and buffers begin at multiples of 64
 * bytes of the output (the schema of a file at 8), so a mapped file can be used as it is.
 *
 * A dictionary grows from batch to batch and keeps its codes. A stream has the new values as a
 * delta in front of the batch that uses them first. A file has each dictionary once, complete,
 *after all batches: its footer says where. Some readers do not read deltas.
 */
#ifndef SONDE_CLI_ARROW_IPC_H
#define SONDE_CLI_ARROW_IPC_H

#include "table_fact.h"

#include <sonde/sonde.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct arrow_ipc;

/*
 * All functions return 0 or a negative errno: -ENOMEM, -EIO or that of writing, -ENOTSUP for a type
 * that the C data interface has and this writer does not, -EINVAL for a wrong array. None of them
 * flushes or closes `out`, which may be another FILE that appends to the same output each time.
 */

/* schema is borrowed until arrow_ipc_free(). Writes the beginning of the output. */
int arrow_ipc_new(struct arrow_ipc **ret, const struct ArrowSchema *schema, bool is_file,
		  FILE *out);
/* Writes a batch, a struct array, and takes it over. */
int arrow_ipc_batch(struct arrow_ipc *w, struct ArrowArray *batch, FILE *out);
/* Writes the end, with the facts in the footer of a file. A stream has no place for them. */
int arrow_ipc_finish(struct arrow_ipc *w, const struct table_fact *facts, FILE *out);
void arrow_ipc_free(struct arrow_ipc *w); /* NULL is allowed */

#endif
