/* SPDX-License-Identifier: MIT */
/*
 * Build ids of the kernel, its modules, the vdso and the files that were hit: the body of FEAT_BUILD_ID. A file counts as the
 * one that was mapped only with the inode that the kernel told; one that was replaced since has no entry.
 */
#ifndef SONDE_RECORD_DESCRIBE_BUILD_IDS_H
#define SONDE_RECORD_DESCRIBE_BUILD_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/outbuf.h"
#include "base/vec.h"
#include "record/describe/build_id_cache.h"
#include "record/describe/dsos.h"

enum { BUILD_ID_BYTES = 20 };

struct build_id {
	uint8_t bytes[BUILD_ID_BYTES];
	size_t len; /* 0: none */
};

/* Of files met so far, each of which is opened once. */
struct build_ids {
	struct hash64 by_inode;
	VEC(struct build_id) list;
};

/* The running kernel's entry; nothing when it has no build id. */
void build_ids_put_kernel(struct outbuf *o);
/* Entries for these files; they go into the cache, too. */
void build_ids_put_files(struct outbuf *o, const struct dso_files *files,
			 struct build_id_cache *cache);
/* The kernel's symbols go into the cache. */
void build_ids_cache_kernel(struct build_id_cache *cache);

/* Of the running kernel; of a module by its name without brackets; of an ELF file; of the vdso. */
struct build_id build_id_of_kernel(void);
struct build_id build_id_of_module(const char *root, const char *name);
struct build_id build_id_of_file(int fd);
struct build_id build_id_of_vdso(void);
/* Of what a process has mapped by this name; len 0: none. */
struct build_id build_ids_of_mapping(struct build_ids *ids, const char *name, uint64_t device,
				     uint64_t inode, int32_t pid);
void build_ids_done(struct build_ids *ids);
/* Opens what lies at a path that a process has mapped, if it has this inode (0: any); -1: nothing does. */
int build_id_open_mapped(const char *path, uint64_t inode, int32_t pid);

#endif
