/* SPDX-License-Identifier: MIT */
/*
 * The inodes that perf report --mmaps prints. perf keeps one id for all mappings of a file: the
 * first id that is not zero. A mapping with another id is of another file with the same name, one
 * without an id is of the first file with its name. If a record has a build id, perf takes its
 * bytes for an id.
 *
 *	TRY(perf_inodes_find_or_add(&inodes, name, &id, &file));
 *	...
 *	inode = perf_inodes_get(&inodes, file);
 */
#ifndef SONDE_SINKS_PERF_INODES_H
#define SONDE_SINKS_PERF_INODES_H

#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

/* All members are 0 if there is no id. */
struct perf_file_id {
	uint32_t major, minor;
	uint64_t inode, generation;
};

struct perf_inode_file {
	struct perf_file_id id;
	size_t next; /* file with the same name, counted from 1; 0 if none */
};

struct perf_inodes {
	struct hash64 by_name; /* id of a text -> index in files of the first one */
	VEC(struct perf_inode_file) files;
};

/* *ret_file receives the number of the file, from 1. -ENOMEM */
int perf_inodes_find_or_add(struct perf_inodes *p, uint32_t name, const struct perf_file_id *id,
			    uint64_t *ret_file);
/* The file's inode after all mappings were added. 0 if file is 0. */
uint64_t perf_inodes_get(const struct perf_inodes *p, uint64_t file);
void perf_inodes_done(struct perf_inodes *p);

#endif
