/* SPDX-License-Identifier: MIT */
/*
 * Build ids of running code: the kernel, its modules, the vdso, the files that processes have
 * mapped. A file counts as the mapped one only if it has the inode that the kernel reported.
 */
#ifndef SONDE_CAPTURE_RUNNING_BUILD_IDS_H
#define SONDE_CAPTURE_RUNNING_BUILD_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/build_id.h"
#include "base/hash.h"
#include "base/vec.h"

/* The files seen so far. Each is opened once. */
struct build_ids {
	struct hash64 by_inode;
	VEC(struct build_id) list;
};

/*
 * Build ids of the running kernel, of a module by its name without brackets, of an ELF file, and of
 * the vdso. The result is unknown if there is no build id, or if it is longer than a recording has
 * room for.
 */
struct build_id build_id_of_kernel(void);
struct build_id build_id_of_module(const char *root, const char *name);
struct build_id build_id_of_file(int fd);
struct build_id build_id_of_vdso(void);
/* The build id of the file that a process has mapped by this name. */
struct build_id build_ids_of_mapping(struct build_ids *ids, const char *name, uint64_t device,
				     uint64_t inode, int32_t pid);
void build_ids_done(struct build_ids *ids);
/*
 * Opens the file at a path that a process has mapped, if it has this inode (0 means any); -1 if
 * there is none.
 */
int build_id_open_mapped(const char *path, uint64_t inode, int32_t pid);
/*
 * The vdso has no file. The image in our own memory is the image of every process. NULL if there is
 * none.
 */
const uint8_t *build_id_vdso_image(size_t *ret_len);

#endif
