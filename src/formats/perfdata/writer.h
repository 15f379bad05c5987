/* SPDX-License-Identifier: MIT */
/*
 * Writes a perf.data file whose features survive the death of the recorder.
 *
 *	header (data.size 0) | index | ids | attrs | feature bodies | data ... | feature table | late feature bodies
 *
 * Bodies known at the start come before the data and are named by the index behind the header (layout.h). Whatever is
 * appended is on its way to the disk when the call returns; perfdata_writer_finish adds the table and rewrites the header.
 *
 *	perfdata_writer_open(&w, fd, "perf.data");
 *	perfdata_writer_begin(w, events, nr_events, features, nr_features);
 *	perfdata_writer_append(w, iov, nr_iov);        // whole records, any number of times
 *	perfdata_writer_finish(w, late, nr_late);
 *	perfdata_writer_close(w);
 *
 * The writer knows bytes only: what the features say and which records there are is its caller's business.
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

/* Attrs are written with this size (PERF_ATTR_SIZE_VER7): every perf since 5.13 takes it. */
enum { PERFDATA_WRITER_ATTR_SIZE = 128 };

struct perfdata_writer_event {
	const void *attr; /* struct perf_event_attr, attr_bytes of it are used */
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
 * Takes fd; path is for messages. A file must be seekable and empty. pipe: pipe mode, for a reader that sees the records as
 * they come; what is written is gone.
 */
int perfdata_writer_open(struct perfdata_writer **ret, int take_fd, const char *path, bool pipe);
/*
 * stop_fd is lent: once it can be read, a pipe's reader that takes nothing is not waited for any longer (-ECANCELED). <0:
 * it is waited for.
 */
void perfdata_writer_set_stop(struct perfdata_writer *w, int stop_fd);
/*
 * For a copy of another recording: attrs of attr_bytes and bodies are in its byte order already, which swap says is not this
 * machine's; ids are in this machine's. Before begin; file mode only.
 */
void perfdata_writer_set_layout(struct perfdata_writer *w, bool swap, uint32_t attr_bytes);
/* Features in any order, each once. */
int perfdata_writer_begin(struct perfdata_writer *w, const struct perfdata_writer_event *events,
			  size_t nr_events, const struct perfdata_writer_feature *features,
			  size_t nr_features);
/*
 * Appends whole records. On failure nothing but whole records is left of what was passed (cut back to the last whole
 * one), and finish still makes a valid file of it.
 */
int perfdata_writer_append(struct perfdata_writer *w, const struct iovec *iov, int nr_iov);
/*
 * Called for each record that is given up, in the order of the file; at least 16 bytes of it,
 * mostly all, are in memory.
 */
typedef void perfdata_writer_cut_fn(void *ctx, const void *record, size_t len);
void perfdata_writer_on_cut(struct perfdata_writer *w, perfdata_writer_cut_fn *on_cut, void *ctx);

/*
 * Values that are known only at the end. Each function may be called several times: records that
 * were given up count anew.
 */
struct perfdata_writer_end {
	int (*records)(void *ctx, struct outbuf *o); /* that end the data */
	/*
	 * The body of PERFDATA_PRIVATE_END, which begin had among its features. NULL: it stays as
	 * it is.
	 */
	void (*note)(void *ctx, struct perfdata_end *ret);
	/*
	 * Gives up something, here or elsewhere: 1; 0: there is nothing. NULL: the last records of
	 * this file.
	 */
	int (*make_room)(void *ctx, uint64_t bytes);
	void *ctx;
};

/*
 * end may be NULL. A feature written here replaces one of the same number written at the start. On
 * a full disk the last records are given up for the table: it returns 1 then, and the chain of
 * causes has the disk's error.
 */
int perfdata_writer_finish(struct perfdata_writer *w, const struct perfdata_writer_feature *late,
			   size_t nr_late, const struct perfdata_writer_end *end);
/*
 * Cuts off complete records at the end of a file: so many bytes or, with the first of them, a few
 * more; all where the file has no more. 1; 0: it has none, or is a pipe.
 */
int perfdata_writer_give_up(struct perfdata_writer *w, uint64_t bytes);
/* Opens a finished file up again: it goes on where its records ended. */
int perfdata_writer_resume(struct perfdata_writer *w);
/* Where in the file the next record will be. */
uint64_t perfdata_writer_place(const struct perfdata_writer *w);
uint64_t perfdata_writer_data_size(const struct perfdata_writer *w);
/* Closes the file as it is; NULL is fine. */
void perfdata_writer_close(struct perfdata_writer *w);

/* ---- pipe mode (writer_pipe.c) ------------------------------------------------------------------------------------ */

/* Everything before the first record of the kernel. -E2BIG: an event has too many ids for a record. */
int perfdata_put_pipe_beginning(struct outbuf *o, const struct perfdata_writer_event *events,
				size_t nr_events, const struct perfdata_writer_feature *features,
				size_t nr_features);
/* A feature as records; nothing for one that does not fit into a record, and for those of our own. */
void perfdata_put_pipe_feature(struct outbuf *o, const struct perfdata_writer_feature *f);

/* ---- encodings of feature bodies --------------------------------------------------------------------------------- */

void perfdata_put_u32(struct outbuf *o, uint32_t v);
void perfdata_put_u64(struct outbuf *o, uint64_t v);
/* u32 length, then the text NUL-padded to that length, a multiple of 64. */
void perfdata_put_string(struct outbuf *o, const char *s);
/* The body of FEAT_EVENT_DESC. */
void perfdata_put_event_desc(struct outbuf *o, const struct perfdata_writer_event *events,
			     size_t nr_events);

/* An entry of FEAT_BUILD_ID. */
struct perfdata_writer_build_id {
	uint16_t cpumode; /* PERF_RECORD_MISC_KERNEL or _USER */
	struct build_id id; /* cut off behind PERFDATA_BUILD_ID_BYTES */
	const char *name;
};
void perfdata_put_build_id(struct outbuf *o, const struct perfdata_writer_build_id *b);

/* One format file of a tracepoint; entries of one system must lie together. */
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
};
/* The body of FEAT_TRACING_DATA: what tracefs says of the recorded tracepoints. */
void perfdata_put_tracing(struct outbuf *o, const struct perfdata_writer_tracing *t);

#endif
