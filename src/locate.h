/* SPDX-License-Identifier: MIT */
/*
 * What lies at an address, in two halves: of the kernel and of processes. Both write what they know into *ret, which holds
 * the address and nothing else, and return the mapping, NULL unknown.
 */
#ifndef SONDE_LOCATE_H
#define SONDE_LOCATE_H

#include <string.h>

#include "session.h"

/* space: the kernel's mappings as of the event that asks. */
const struct mapping *locate_kernel(struct sonde_session *s, const struct address_space *space,
				    uint64_t addr, struct sonde_location *ret);
/* space: NULL: nothing is mapped */
const struct mapping *locate_user(struct sonde_session *s, const struct address_space *space,
				  uint64_t addr, struct sonde_location *ret);
/* NULL: the files of this machine. */
static inline const char *session_symfs(const struct sonde_session *s)
{
	return s->opts.symfs && strcmp(s->opts.symfs, "/") != 0 ? s->opts.symfs : NULL;
}
/* What the recording says of a file elsewhere than in the mapping's record: hex, "" unknown. path: of the string pool. */
const char *locate_build_id(struct sonde_session *s, const char *path);

#endif
