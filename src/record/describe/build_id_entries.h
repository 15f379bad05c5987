/* SPDX-License-Identifier: MIT */
/*
 * The body of FEAT_BUILD_ID: entries of the kernel, its modules, the vdso and the files that were
 * hit, which go into the build-id cache as well. A file that was replaced since it was mapped has
 * no entry.
 */
#ifndef SONDE_RECORD_DESCRIBE_BUILD_ID_ENTRIES_H
#define SONDE_RECORD_DESCRIBE_BUILD_ID_ENTRIES_H

#include "base/outbuf.h"
#include "record/describe/build_id_cache.h"
#include "record/describe/dsos.h"

/* The running kernel's entry; nothing when it has no build id. */
void build_ids_put_kernel(struct outbuf *o);
/* Entries for these files; they go into the cache, too. */
void build_ids_put_files(struct outbuf *o, const struct dso_files *files,
			 struct build_id_cache *cache);
/* The kernel's symbols go into the cache. */
void build_ids_cache_kernel(struct build_id_cache *cache);

#endif
