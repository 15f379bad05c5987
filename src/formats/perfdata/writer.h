/* SPDX-License-Identifier: MIT */
/*
 * Writes a perf.data file whose features survive the death of the recorder.
 *
 *	header (data.size 0) | index | ids | attrs | feature bodies | data ...
 *	| feature table | late feature bodies
 *
 * Bodies known at the start come before the data and are named by the index after the header
 * (layout.h). Appended data has been passed to the kernel when the call returns.
 * perfdata_writer_finish() adds the table and rewrites the header.
 *
 *	perfdata_writer_open(&w, fd, "perf.data");
 *	perfdata_writer_begin(w, events, nr_events, features, nr_features);
 *	perfdata_writer_append(w, iov, nr_iov);        // complete records, any number of times
 *	perfdata_writer_finish(w, late, nr_late);
 *	perfdata_writer_close(w);
 *
 * The writer handles bytes only: its caller decides on features and records.
 */
#ifndef SONDE_FORMATS_PERFDATA_WRITER_H
#define SONDE_FORMATS_PERFDATA_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/build_id.h"
#include "base/outbuf.h"
#include "formats/perfdata/layout.h"

struct perfdata_writer;

/* The size of the written attrs (PERF_ATTR_SIZE_VER7). Every perf since 5.13 accepts it. */
enum { PERFDATA_WRITER_ATTR_SIZE = 128 };

struct perfdata_writer_event {
	const void *attr; /* struct perf_event_attr, of which attr_bytes are used */
	const char *name;
	const uint64_t *ids;
	size_t nr_ids;
};

struct perfdata_writer_feature {
	uint64_t feature; /* enum perfdata_feature or PERFDATA_PRIVATE_* */
	const void *body;
	size_t len;
};

/*
 * Takes over fd. path is for messages. A file must be seekable and empty. pipe: pipe mode, for a
 * reader that sees the records immediately; written data cannot be changed.
 */
int perfdata_writer_open(struct perfdata_writer **ret, int take_fd, const char *path, bool pipe);
/*
 * stop_fd is borrowed. Once it is readable, the writer no longer waits for a pipe's reader that
 * does not read (-ECANCELED). If it is negative, the writer always waits.
 */
void perfdata_writer_set_stop(struct perfdata_writer *w, int stop_fd);
/*
 * For a copy of another recording. Attrs of attr_bytes and bodies are already in its byte order;
 * swap says that this is not this machine's. Ids are in this machine's. Call it before begin; file
 * mode only.
 */
void perfdata_writer_set_layout(struct perfdata_writer *w, bool swap, uint32_t attr_bytes);
/* Features in any order, each once. */
int perfdata_writer_begin(struct perfdata_writer *w, const struct perfdata_writer_event *events,
			  size_t nr_events, const struct perfdata_writer_feature *features,
			  size_t nr_features);
/*
 * Appends complete records. If it fails, the file is truncated to the last complete record, and
 * finish still makes a valid file.
 */
int perfdata_writer_append(struct perfdata_writer *w, const struct iovec *iov, int nr_iov);
/*
 * Called for each dropped record, in the order of the file. At least 16 bytes of it, usually all,
 * are in memory.
 */
typedef void perfdata_writer_drop_fn(void *ctx, const void *record, size_t len);
void perfdata_writer_on_drop(struct perfdata_writer *w, perfdata_writer_drop_fn *on_drop,
			     void *ctx);

/*
 * Values that are known only at the end. Each function may be called several times, because dropped
 * records change the counts.
 */
struct perfdata_writer_end {
	int (*records)(void *ctx, struct outbuf *o); /* the records that end the data */
	/*
	 * Fills the body of PERFDATA_PRIVATE_END, which must be among the features passed to begin.
	 * If NULL, the body is not changed.
	 */
	void (*note)(void *ctx, struct perfdata_end *ret);
	/*
	 * Frees some space, here or elsewhere. Returns 1 on success, 0 if there is nothing to free.
	 * If NULL, the last records of this file are dropped.
	 */
	int (*make_room)(void *ctx, uint64_t bytes);
	void *ctx;
};

/*
 * Finishes the file. end may be NULL. A feature written here replaces one of the same number
 * written at the start. If the disk is full, the last records are dropped to make room for the
 * table; then it returns 1, and the chain of causes contains the disk's error.
 */
int perfdata_writer_finish(struct perfdata_writer *w, const struct perfdata_writer_feature *late,
			   size_t nr_late, const struct perfdata_writer_end *end);
/*
 * Drops complete records at the end of a file: at least this many bytes, rounded up to a record, or
 * all if the file has fewer. Returns 1 on success; 0 if there are none, or for a pipe.
 */
int perfdata_writer_give_up(struct perfdata_writer *w, uint64_t bytes);
/* Reopens a finished file for appending after its records. */
int perfdata_writer_resume(struct perfdata_writer *w);
/* The file offset of the next record. */
uint64_t perfdata_writer_place(const struct perfdata_writer *w);
uint64_t perfdata_writer_data_size(const struct perfdata_writer *w);
/* Closes the file as it is. w may be NULL. */
void perfdata_writer_close(struct perfdata_writer *w);

/* ---- pipe mode (writer_pipe.c) --------------------------------------------------------------- */

/*
 * Everything before the first record of the kernel. -E2BIG: an event has too many ids for a record.
 */
int perfdata_put_pipe_beginning(struct outbuf *o, const struct perfdata_writer_event *events,
				size_t nr_events, const struct perfdata_writer_feature *features,
				size_t nr_features);
/*
 * A feature as records. Writes nothing for a feature that does not fit into a record, or for our
 * own.
 */
void perfdata_put_pipe_feature(struct outbuf *o, const struct perfdata_writer_feature *f);

/* ---- encodings of feature bodies ------------------------------------------------------------- */

void perfdata_put_u32(struct outbuf *o, uint32_t v);
void perfdata_put_u64(struct outbuf *o, uint64_t v);
/* u32 length, then the text NUL-padded to that length, a multiple of 64. */
void perfdata_put_string(struct outbuf *o, const char *s);
/* The body of FEAT_EVENT_DESC. */
void perfdata_put_event_desc(struct outbuf *o, const struct perfdata_writer_event *events,
			     size_t nr_events);

/* An entry of FEAT_BUILD_ID. */
struct perfdata_writer_build_id {
	uint16_t cpumode;   /* PERF_RECORD_MISC_KERNEL or _USER */
	struct build_id id; /* truncated to PERFDATA_BUILD_ID_BYTES */
	const char *name;
};
void perfdata_put_build_id(struct outbuf *o, const struct perfdata_writer_build_id *b);

/* One format file of a tracepoint. Entries of one system must be adjacent. */
struct perfdata_writer_format {
	const char *system;
	const char *text;
	size_t len;
};
struct perfdata_writer_tracing {
	const char *header_page, *header_event, *printk_formats, *saved_cmdlines;
	size_t header_page_len, header_event_len, printk_formats_len, saved_cmdlines_len;
	const struct perfdata_writer_format *formats;
	size_t nr_formats;
	uint32_t page_size;
	const char *kallsyms; /* perf writes none */
	size_t kallsyms_len;
};
/* The body of FEAT_TRACING_DATA: tracefs' description of the recorded tracepoints. */
void perfdata_put_tracing(struct outbuf *o, const struct perfdata_writer_tracing *t);

#endif
