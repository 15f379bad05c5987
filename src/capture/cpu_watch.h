/* SPDX-License-Identifier: MIT */
/*
 * Which cpus were offline in between, however short. The kernel removes the events of a cpu that
 * goes offline for good: their time stands still from then on, also when the cpu is back. A
 * counter of nothing on each cpu shows that, whatever is enabled and disabled of what is recorded.
 * No list of cpus shows it, nor do uevents: a machine that was suspended sends none.
 */
#ifndef SONDE_CAPTURE_CPU_WATCH_H
#define SONDE_CAPTURE_CPU_WATCH_H

#include "capture/cpus.h"

struct watched_cpu {
	int cpu, fd;
};

struct cpu_watch {
	VEC(struct watched_cpu) list;
};

/* A cpu on which no counter can be opened is not watched. */
void cpu_watch_open(struct cpu_watch *w, const struct capture_cpus *cpus);
/* Calls each for every cpu that was offline since. Takes 20 ms if there is one. */
void cpu_watch_find(struct cpu_watch *w, void (*each)(void *ctx, int cpu), void *ctx);
void cpu_watch_close(struct cpu_watch *w);

#endif
