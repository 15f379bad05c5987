/* SPDX-License-Identifier: MIT */
/*
 * The files that samples of a recording hit: its reader needs their build ids.
 *
 * While draining, two things are noted: what is mapped where (MMAP2, FORK, COMM of an exec, EXIT),
 * and, once per process and page, the addresses of samples and their call chains. dsos_settle()
 * looks the addresses up later, so the order between the buffers does not matter. All mappings of a
 * process's life count together: a file may be listed that was mapped where another one was hit,
 * but none is left out.
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
	uint64_t *recent; /* places noted lately; NULL until there are some */
	VEC(struct dso_page) pending;
	size_t nr_old;   /* of pending: looked up before, without success */
	bool any_kernel; /* a sample was taken in the kernel */
	uint64_t last_id;
	const struct dso_chain *last_chain;
};

/* all: every file that is mapped counts as hit. */
int dsos_new(struct dsos **ret, const struct capture_events *events,
	     const struct counters *counters, bool all);
void dsos_free(struct dsos *d);

/* Any thread may call it. Out of memory: one file less. */
void dsos_note_mapping(struct dsos *d, int32_t pid, uint64_t start, uint64_t len, uint64_t inode,
		       const char *name, size_t name_len);
/* A record of the kernel that is no sample. */
void dsos_record(struct dsos *d, const struct ring *r, uint64_t pos,
		 const struct perfdata_record_header *h);
void dso_hits_sample(const struct dsos *d, struct dso_hits *hits, const struct ring *r,
		     uint64_t pos, const struct perfdata_record_header *h);
/* Between passes: looks up what is pending when there is much of it. */
void dsos_relieve(struct dsos *d, struct dso_hits *hits);
void dsos_settle(struct dsos *d, struct dso_hits *hits);
/*
 * Appends the files that were hit since it was last called. Names are valid for the life of d.
 * -ENOMEM
 */
int dsos_take_hit(struct dsos *d, struct dso_files *ret);
void dso_hits_done(struct dso_hits *hits);

#endif
