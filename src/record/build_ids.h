/* SPDX-License-Identifier: MIT */
/* Build ids of the kernel, the vdso and the files that were mapped: the body of FEAT_BUILD_ID. */
#ifndef SONDE_RECORD_BUILD_IDS_H
#define SONDE_RECORD_BUILD_IDS_H

#include "base/outbuf.h"
#include "base/strpool.h"

/* The running kernel's entry; nothing when it has no build id. */
void build_ids_put_kernel(struct outbuf *o);
/* Entries for all names that are files, or "[vdso]"; what has no build id is left out. */
void build_ids_put_dsos(struct outbuf *o, const struct strpool *names);

#endif
