/* SPDX-License-Identifier: MIT */
/*
 * The build-id cache. It has perf's layout, so that each tool finds the files that the other one
 * stored:
 *
 *	DIR/PATH/ID/elf             a hard link to the file, or a copy; PATH has no first slash
 *	DIR/PATH/ID/debug           the same for /usr/lib/debug/.build-id/XX/REST.debug, if any
 *	DIR/[kernel.kallsyms]/ID/kallsyms    DIR/[vdso]/ID/vdso
 *	DIR/.build-id/XX/REST   ->  ../../PATH/ID     XX: the first two digits of the id
 *
 * An existing entry costs one lookup. A file gets its name once it is complete. No failure here
 * ends a recording: a file that cannot be stored is left out.
 */
#ifndef SONDE_RECORD_DESCRIBE_BUILD_ID_CACHE_H
#define SONDE_RECORD_DESCRIBE_BUILD_ID_CACHE_H

#include <stddef.h>

#include "base/build_id.h"

#define BUILD_ID_CACHE_KERNEL "[kernel.kallsyms]"

struct build_id_cache {
	char *dir;         /* owned; NULL if nothing is cached */
	char problem[256]; /* the first failure to store a file; "" if there was none */
};

/* dir: NULL means ~/.debug, "/dev/null" means no cache. -ENOMEM if out of memory. */
int build_id_cache_init(struct build_id_cache *c, const char *dir);
void build_id_cache_done(struct build_id_cache *c);

/* fd: the file, opened for reading. path: where it was mapped, absolute. */
void build_id_cache_add_file(struct build_id_cache *c, const struct build_id *id, const char *path,
			     int fd);
void build_id_cache_add_vdso(struct build_id_cache *c, const struct build_id *id, const void *image,
			     size_t image_len);
void build_id_cache_add_kallsyms(struct build_id_cache *c, const struct build_id *id);

#endif
