/* SPDX-License-Identifier: MIT */
/*
 * The build-id cache. perf's layout, so that each tool finds what the other one stored:
 *
 *	DIR/PATH/ID/elf             a hard link to the file, else a copy; PATH has no first slash
 *	DIR/PATH/ID/debug           the same for /usr/lib/debug/.build-id/XX/REST.debug, if any
 *	DIR/[kernel.kallsyms]/ID/kallsyms    DIR/[vdso]/ID/vdso
 *	DIR/.build-id/XX/REST   ->  ../../PATH/ID     XX: the first two digits of the id
 *
 * What is there already costs one look. Files appear under their names when they are complete.
 * Nothing here fails a recording: what cannot be put there is left out.
 */
#ifndef SONDE_RECORD_DESCRIBE_BUILD_ID_CACHE_H
#define SONDE_RECORD_DESCRIBE_BUILD_ID_CACHE_H

#include <stddef.h>

#include "base/build_id.h"

#define BUILD_ID_CACHE_KERNEL "[kernel.kallsyms]"

struct build_id_cache {
	char *dir;         /* owned; NULL: none */
	char problem[256]; /* the first failure to store a file; "" if there was none */
};

/* dir: NULL: ~/.debug; "/dev/null": none. -ENOMEM */
int build_id_cache_init(struct build_id_cache *c, const char *dir);
void build_id_cache_done(struct build_id_cache *c);

/* fd: the file, opened for reading. path: where it was mapped, absolute. */
void build_id_cache_add_file(struct build_id_cache *c, const struct build_id *id, const char *path,
			     int fd);
void build_id_cache_add_vdso(struct build_id_cache *c, const struct build_id *id, const void *image,
			     size_t image_len);
void build_id_cache_add_kallsyms(struct build_id_cache *c, const struct build_id *id);

#endif
