/* SPDX-License-Identifier: MIT */
/* A set of cpus from a list such as `0,2-3`, stored as a bitmap up to its highest cpu. */
#ifndef SONDE_FILTERS_CPU_LIST_H
#define SONDE_FILTERS_CPU_LIST_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_LIST_MAX 65536 /* limit of cpus; a higher cpu in a list is an error */

struct cpu_list {
	uint64_t *bits; /* owned; NULL if no list was given: it contains all cpus */
	uint32_t nr;    /* number of cpus in the bitmap, a multiple of 64 */
	bool repeats;   /* a cpu was named twice */
};

/* -EINVAL or -ENOMEM. ret is written only on success. */
int cpu_list_parse(const char *text, struct cpu_list *ret);
void cpu_list_done(struct cpu_list *l);
/* The highest cpu in the list; -1 without a list. */
int32_t cpu_list_max(const struct cpu_list *l);

/* An event without a cpu (-1) is in every list, as in perf: its cpu may be in the list. */
static inline bool cpu_list_holds(const struct cpu_list *l, int32_t cpu)
{
	uint32_t c = (uint32_t)cpu;

	return !l->bits || cpu < 0 || (c < l->nr && (l->bits[c / 64] >> c % 64 & 1));
}

#endif
