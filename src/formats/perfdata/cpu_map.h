/* SPDX-License-Identifier: MIT */
/* The body of a CPU_MAP record: a set of cpus, in one of three forms. */
#ifndef SONDE_FORMATS_PERFDATA_CPU_MAP_H
#define SONDE_FORMATS_PERFDATA_CPU_MAP_H

#include "base/bytes.h"

/* The cpus of a set, each told to add in ascending order (-1: any cpu); stops at a failure of add. */
int perfdata_cpus_read(struct bytes *b, int (*add)(void *ctx, int64_t cpu), void *ctx);

#endif
