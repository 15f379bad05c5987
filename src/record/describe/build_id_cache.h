/* SPDX-License-Identifier: MIT */
/*
 * The build-id cache, laid out as perf has it, so that both tools find what either has put there:
 *
 *	DIR/PATH/ID/elf             a hard link to the file, or a copy where there can be none; PATH without its first slash
 *	DIR/PATH/ID/debug           the same of /usr/lib/debug/.build-id/XX/REST.debug, if there is one
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
	char *dir; /* owned; NULL: none */
	char problem
		[256]; /* why the first thing that is missing there could not be put there; "": nothing */
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
