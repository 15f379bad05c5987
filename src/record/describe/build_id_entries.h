/* SPDX-License-Identifier: MIT */
/*
 * The body of FEAT_BUILD_ID: entries of the kernel, its modules, the vdso and the files that were
 * hit. The files are also put into the build-id cache. A file that was replaced since it was mapped
 * has no entry.
 */
#ifndef SONDE_RECORD_DESCRIBE_BUILD_ID_ENTRIES_H
#define SONDE_RECORD_DESCRIBE_BUILD_ID_ENTRIES_H

#include "base/outbuf.h"
#include "record/describe/build_id_cache.h"
#include "record/describe/dsos.h"

/* Appends the running kernel's entry; nothing if it has no build id. */
void build_ids_put_kernel(struct outbuf *o);
/* Appends the entries of these files, and puts the files into the cache. */
void build_ids_put_files(struct outbuf *o, const struct dso_files *files,
			 struct build_id_cache *cache);
/* Puts the kernel's symbols into the cache. */
void build_ids_cache_kernel(struct build_id_cache *cache);

#endif
