/* SPDX-License-Identifier: MIT */
/* A set of cpus out of a list like `0,2-3`: a bitmap as long as its highest cpu needs. */
#ifndef SONDE_FILTERS_CPU_LIST_H
#define SONDE_FILTERS_CPU_LIST_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_LIST_MAX 65536 /* cpus; a list that names a higher one is an error */

struct cpu_list {
	uint64_t *bits; /* owned; NULL: no list was given, all cpus are in it */
	uint32_t nr;    /* cpus that the bitmap can hold, a multiple of 64 */
	bool repeats;   /* a cpu was named twice */
};

/* -EINVAL, -ENOMEM; ret is written only on success. */
int cpu_list_parse(const char *text, struct cpu_list *ret);
void cpu_list_done(struct cpu_list *l);
/* The highest cpu in the list, -1 without a list. */
int32_t cpu_list_max(const struct cpu_list *l);

/* An event without a cpu (-1) is in every list, as in perf: it might be of these cpus. */
static inline bool cpu_list_holds(const struct cpu_list *l, int32_t cpu)
{
	uint32_t c = (uint32_t)cpu;

	return !l->bits || cpu < 0 || (c < l->nr && (l->bits[c / 64] >> c % 64 & 1));
}

#endif
