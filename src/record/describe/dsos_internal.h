/* SPDX-License-Identifier: MIT */
/* Shared by dsos.c (mappings, and which files are hit) and dso_hits.c (addresses of samples). */
#ifndef SONDE_RECORD_DESCRIBE_DSOS_INTERNAL_H
#define SONDE_RECORD_DESCRIBE_DSOS_INTERNAL_H

#include "record/describe/dsos.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/strpool.h"
#include "state/lineage.h"

enum { PAGE_SHIFT = 12, RECENT = 4096 };
#define WHOLE_PROCESS (UINT64_MAX >> PAGE_SHIFT) /* used instead of a page number */

struct dso_range {
	uint64_t start, end;
	uint32_t file;
};

struct dso_process {
	int32_t parent; /* the process shares its parent's mappings; 0 after an exec */
	bool has_execed;
	VEC(struct dso_range) ranges;
};

/* The place of the call chain in an event's samples. */
struct dso_chain {
	bool is_recorded, has_stack, has_read, read_group;
	uint32_t read_at;
	/* words before the values of a READ, and words of each value */
	uint32_t read_head, read_each;
};

struct dsos {
	/* constant after dsos_new() */
	bool any_chain;
	struct hash64 event_by_id;
	VEC(struct dso_chain) chains;
	/* flags that only rise: read without the lock */
	/* all mapped files count as hit: by option, or because there are too many to look up */
	atomic_bool all;
	atomic_bool has_modules;
	/* protects the members below */
	pthread_mutex_t lock;
	struct strpool names;
	struct hash64 file_by_key;
	struct dso_files files;
	struct lineage processes; /* by pid: struct dso_process, never NULL */
	size_t nr_ranges, many_processes;
};

static inline bool dsos_have_modules(const struct dsos *d)
{
	return atomic_load_explicit(&d->has_modules, memory_order_relaxed);
}

/* Records and rings are multiples of 8: a word never runs over the end of a ring. */
static inline uint64_t dso_word(const struct ring *r, uint64_t pos)
{
	return load_u64(r->data + (pos & r->mask));
}

struct dso_chain dso_chain_of(const struct perf_event_attr *a);

#endif
