/* SPDX-License-Identifier: MIT */
/* The body of a CPU_MAP record: a set of cpus, in one of three encodings. */
#ifndef SONDE_FORMATS_PERFDATA_CPU_MAP_H
#define SONDE_FORMATS_PERFDATA_CPU_MAP_H

#include "base/bytes.h"

/* Calls add for each cpu of a set in ascending order (-1 means any cpu). Stops when add fails. */
int perfdata_cpus_read(struct bytes *b, int (*add)(void *ctx, int64_t cpu), void *ctx);

#endif
