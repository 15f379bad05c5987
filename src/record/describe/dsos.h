/* SPDX-License-Identifier: MIT */
/*
 * The files that samples of a recording hit: a reader of the recording needs their build ids.
 *
 * Draining notes two things: the mappings (MMAP2, FORK, COMM of an exec, EXIT), and, once per
 * process and page, the addresses of samples and their call chains. dsos_settle() looks the
 * addresses up later, so the order between the buffers does not matter. All mappings of a process's
 * life are used together: a file may be listed because it was mapped where another one was hit, but
 * no file that was hit is left out.
 *
 *	struct dso_hits h = { 0 };                                // one per draining thread
 *	TRY(dsos_new(&d, &events, &counters, all));
 *	dsos_record(d, ring, pos, &header);
 *	dso_hits_sample(d, &h, ring, pos, &header);
 *	dsos_settle(d, &h);
 *	dsos_take_hit(d, &files);                                 // of one output file
 */
#ifndef SONDE_RECORD_DESCRIBE_DSOS_H
#define SONDE_RECORD_DESCRIBE_DSOS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "capture/counters.h"
#include "capture/events.h"
#include "formats/perfdata/layout.h"

/* The pid of the kernel's own mappings: modules. */
enum { DSOS_KERNEL_PID = -1 };

struct dso_file {
	const char *name; /* borrowed from the pool: an absolute path, "[vdso]", "[module]" */
	uint64_t inode;   /* 0 if not recorded */
	int32_t pid;      /* the last process that mapped it, through which it may be found */
	bool is_hit;
};

struct dso_files {
	struct dso_file *v;
	size_t n, capacity;
};

struct dsos;
struct dso_chain;

struct dso_page {
	int32_t pid;
	uint64_t page;
};

struct dso_hits {
	uint64_t *recent; /* places noted recently; NULL until there are some */
	VEC(struct dso_page) pending;
	size_t nr_old;   /* the first entries of pending, which a lookup already failed to find */
	bool any_kernel; /* a sample was taken in the kernel */
	uint64_t last_id;
	const struct dso_chain *last_chain;
};

/* all: each mapped file counts as hit. */
int dsos_new(struct dsos **ret, const struct capture_events *events,
	     const struct counters *counters, bool all);
void dsos_free(struct dsos *d);

/* Any thread may call it. If out of memory, one file is left out. */
void dsos_note_mapping(struct dsos *d, int32_t pid, uint64_t start, uint64_t len, uint64_t inode,
		       const char *name, size_t name_len);
/* Notes a record of the kernel other than a sample. */
void dsos_record(struct dsos *d, const struct ring *r, uint64_t pos,
		 const struct perfdata_record_header *h);
void dso_hits_sample(const struct dsos *d, struct dso_hits *hits, const struct ring *r,
		     uint64_t pos, const struct perfdata_record_header *h);
/* Called between passes: looks up the pending addresses if there are many, or many processes. */
void dsos_relieve(struct dsos *d, struct dso_hits *hits);
void dsos_settle(struct dsos *d, struct dso_hits *hits);
/*
 * Appends the files that were hit since the last call. Names are valid for the life of d. -ENOMEM
 * if out of memory.
 */
int dsos_take_hit(struct dsos *d, struct dso_files *ret);
void dso_hits_done(struct dso_hits *hits);

#endif
