/* SPDX-License-Identifier: MIT */
/*
 * Between the drain and a writer: batches of complete records go to the file as they are or
 * compressed (-z), at once or by a thread of their own (--aio).
 *
 *	outlet_new(&o, writer, &options);
 *	outlet_put(o, &batch);      // the batch's bytes may be overwritten from here on
 *	outlet_flush(o, &last, round, sizeof(round));
 *	outlet_finish(o);           // everything is written; then the end of the file
 *	outlet_samples_given_up(o); // when the file is finished
 *	outlet_free(o);
 *
 * Records that were put count as recorded. Those that then could not be written are counted as
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
	int level;          /* of zstd; 0: as they are */
	bool padded;        /* the new form of compressed records */
	size_t ahead_bytes; /* how much a thread may have yet to write; 0: there is none */
};

struct outlet_batch {
	const struct iovec *pieces; /* complete records; one may run from a piece into the next */
	int nr_pieces;
	size_t bytes; /* at most outlet_wants() */
};

/*
 * Where a batch that was compressed ends, and which counts of `outlet_marks.counts` are its own and
 * those before it.
 */
struct outlet_mark {
	uint64_t end;
	size_t counts_end;
};

struct outlet_marks {
	VEC(struct outlet_mark) list;
	VEC(struct tally_count) counts; /* samples by counter, batch after batch */
};

struct outlet_block {
	struct outlet_block *next;
	uint8_t *bytes;
	size_t len;
	struct outlet_marks marks; /* from the beginning of the block */
};

struct outlet_thread; /* outlet_thread.c */

struct outlet {
	struct perfdata_writer *writer; /* borrowed */
	struct zip *zip;                /* NULL: as they are */
	struct outlet_thread *thread;   /* NULL: at once */
	size_t ahead_bytes;             /* how much it may have yet to write; 0: there is none */
	struct outlet_block *block;     /* being filled; NULL: none is needed */
	struct outlet_marks marks;      /* of the file's data, the last of them */
	uint64_t plain_bytes, packed_bytes; /* of what was compressed */
	struct tally batch;                 /* of the batch at hand; zeros between batches */
	struct tally refused;               /* samples of batches that were not taken */
	struct tally given_up;              /* of those taken, by whoever writes */
	atomic_bool has_gap; /* compressed bytes are missing in the file: no checksum fits them */
	atomic_uint_least64_t written; /* bytes on their way to the disk; read from any thread */
};

int outlet_new(struct outlet **ret, struct perfdata_writer *writer,
	       const struct outlet_options *opts);
/* How large the next batch may be; a record that is larger alone may be cut in two. */
size_t outlet_wants(const struct outlet *o);
int outlet_put(struct outlet *o, const struct outlet_batch *b);
/*
 * Puts a last batch, which may be empty, and sends all on its way to the file; behind it `len`
 * bytes of plain records.
 */
int outlet_flush(struct outlet *o, const struct outlet_batch *last, const void *plain, size_t len);
/* Compressed records then end with a checksum. */
int outlet_finish(struct outlet *o);
/* Goes on after outlet_finish(). */
int outlet_resume(struct outlet *o);
/* A thread that writes gets the caller's scheduling (-r), as far as that is allowed. */
void outlet_follow_priority(struct outlet *o);
/*
 * Adds the samples that are not in the file, what LOST_SAMPLES records counted that were cut off
 * among them.
 */
void outlet_given_up(const struct outlet *o, struct tally *to);
uint64_t outlet_samples_given_up(const struct outlet *o);
void outlet_free(struct outlet *o); /* NULL is fine */

/* ---- with outlet_thread.c -------------------------------------------------------------------- */

enum { OUTLET_BLOCK_BYTES = OUTLET_BATCH_BYTES + (256 << 10) };

struct outlet_block *outlet_block_new(void);
void outlet_block_free(struct outlet_block *b);
/* Writes it and empties it; on failure its samples that are not in the file are given up. */
int outlet_block_write(struct outlet *o, struct outlet_block *b);
/* Moves what is in one behind what is in another; false: it does not fit. */
bool outlet_block_join(struct outlet_block *to, struct outlet_block *b);
/* Empties it: its samples are given up. */
void outlet_block_drop(struct outlet *o, struct outlet_block *b);
int outlet_thread_start(struct outlet *o, size_t ahead_bytes);
/*
 * Hands o->block over and gets an empty one, waiting until there is one. <0: what the thread could
 * not write.
 */
int outlet_thread_submit(struct outlet *o);
/* Waits until all is written, and ends the thread. */
int outlet_thread_end(struct outlet *o);

#endif
