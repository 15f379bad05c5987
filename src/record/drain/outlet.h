/* SPDX-License-Identifier: MIT */
/*
 * Connects the drain with a writer: batches of complete records are written plain or compressed
 * (-z), at once or by a separate thread (--aio).
 *
 *	outlet_new(&o, writer, &options);
 *	outlet_put(o, &batch);      // the batch's bytes may be overwritten from here on
 *	outlet_flush(o, &last, round, sizeof(round));
 *	outlet_finish(o);           // everything is written; then the end of the file
 *	outlet_samples_given_up(o); // when the file is finished
 *	outlet_free(o);
 *
 * Records that were put count as recorded. Records that then could not be written are counted as
 * given up.
 */
#ifndef SONDE_RECORD_DRAIN_OUTLET_H
#define SONDE_RECORD_DRAIN_OUTLET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "formats/perfdata/writer.h"
#include "formats/perfdata/zip.h"
#include "record/drain/tally.h"

enum { OUTLET_BATCH_BYTES = 1 << 20, OUTLET_BATCH_PIECES = 64 };

struct outlet_options {
	int level;          /* of zstd; 0 if not compressed */
	bool padded;        /* compressed records have the new form */
	size_t ahead_bytes; /* the most data a thread may have pending; 0 if there is no thread */
};

struct outlet_batch {
	const struct iovec *pieces; /* complete records; a record may continue in the next piece */
	int nr_pieces;
	size_t bytes; /* at most outlet_wants() */
};

/*
 * The end of a compressed batch. The counts of this batch and of the ones before it are the
 * elements of `outlet_marks.counts` before counts_end.
 */
struct outlet_mark {
	uint64_t end;
	size_t counts_end;
};

struct outlet_marks {
	VEC(struct outlet_mark) list;
	VEC(struct tally_count) counts; /* samples by counter, in the order of the batches */
};

struct outlet_block {
	struct outlet_block *next;
	uint8_t *bytes;
	size_t len;
	struct outlet_marks marks; /* relative to the beginning of the block */
};

struct outlet_thread; /* outlet_thread.c */

struct outlet {
	struct perfdata_writer *writer; /* borrowed */
	struct zip *zip;                /* NULL if not compressed */
	struct outlet_thread *thread;   /* NULL if data is written at once */
	/* the most data the thread may have pending; 0 if there is none */
	size_t ahead_bytes;
	struct outlet_block *block; /* the block being filled; NULL if none is needed */
	struct outlet_marks marks;  /* the most recent marks of the file's data */
	/* sizes of the compressed data, before and after compression */
	uint64_t plain_bytes, packed_bytes;
	struct tally batch;   /* counts of the current batch; zeros between batches */
	struct tally refused; /* samples of batches that were not accepted */
	/* samples of accepted batches that were not written; counted by the thread that writes */
	struct tally given_up;
	/* compressed bytes are missing in the file, so that no checksum would match */
	atomic_bool has_gap;
	atomic_uint_least64_t written; /* bytes written so far; read from any thread */
};

int outlet_new(struct outlet **ret, struct perfdata_writer *writer,
	       const struct outlet_options *opts);
/* The largest size of the next batch. A single record that is larger may be divided in two. */
size_t outlet_wants(const struct outlet *o);
int outlet_put(struct outlet *o, const struct outlet_batch *b);
/*
 * Puts a last batch, which may be empty, and passes all pending data on to the file, followed by
 * `len` bytes of plain records.
 */
int outlet_flush(struct outlet *o, const struct outlet_batch *last, const void *plain, size_t len);
/* Writes all pending data. Compressed records then end with a checksum. */
int outlet_finish(struct outlet *o);
/* Continues after outlet_finish(). */
int outlet_resume(struct outlet *o);
/* Gives the writing thread the caller's scheduling (-r), as far as that is permitted. */
void outlet_follow_priority(struct outlet *o);
/*
 * Adds the samples that are not in the file, including those reported by LOST_SAMPLES records that
 * were cut off.
 */
void outlet_given_up(const struct outlet *o, struct tally *to);
uint64_t outlet_samples_given_up(const struct outlet *o);
void outlet_free(struct outlet *o); /* NULL is fine */

/* ---- with outlet_thread.c -------------------------------------------------------------------- */

enum { OUTLET_BLOCK_BYTES = OUTLET_BATCH_BYTES + (256 << 10) };

struct outlet_block *outlet_block_new(void);
void outlet_block_free(struct outlet_block *b);
/*
 * Writes the block and empties it. On failure, its samples that are not in the file are given up.
 */
int outlet_block_write(struct outlet *o, struct outlet_block *b);
/* Appends the contents of b to another block. False if they do not fit. */
bool outlet_block_join(struct outlet_block *to, struct outlet_block *b);
/* Empties the block and gives up its samples. */
void outlet_block_drop(struct outlet *o, struct outlet_block *b);
int outlet_thread_start(struct outlet *o, size_t ahead_bytes);
/*
 * Passes o->block to the thread and gets an empty block, waiting until there is one. Fails with the
 * thread's error if the thread could not write.
 */
int outlet_thread_submit(struct outlet *o);
/* Waits until all data is written, and ends the thread. */
int outlet_thread_end(struct outlet *o);

#endif
