/* SPDX-License-Identifier: MIT */
/*
 * Finds cpus that were offline during the recording, even for a moment.
 *
 * When a cpu goes offline, the kernel removes its events for good: their enabled time no longer
 * increases, even after the cpu is back. A dummy counter on each cpu shows that, independent of
 * which recorded events are enabled. Neither lists of cpus nor uevents show it: a suspended machine
 * sends no uevents.
 *
 * A cpu that was offline at first has no counter. The kernel's uevents say that it came online,
 * even if it is offline again at the end.
 */
#ifndef SONDE_CAPTURE_CPU_WATCH_H
#define SONDE_CAPTURE_CPU_WATCH_H

#include "capture/cpus.h"

struct watched_cpu {
	int cpu, fd;
};

struct cpu_watch {
	VEC(struct watched_cpu) list;
	int uevents; /* the socket; it is open if `listens` is set */
	bool listens;
};

/* A cpu on which no counter can be opened is not watched. */
void cpu_watch_open(struct cpu_watch *w, const struct capture_cpus *cpus);
/*
 * Calls `each` for every cpu that was offline since cpu_watch_open(). Takes 20 ms if there is one.
 */
void cpu_watch_find(struct cpu_watch *w, void (*each)(void *ctx, int cpu), void *ctx);
/* From now on cpus that come online are noted. Without such a socket none is found. */
void cpu_watch_listen(struct cpu_watch *w);
/* Calls `each` for every cpu that came online since the last call; one may be there twice. */
void cpu_watch_came(struct cpu_watch *w, void (*each)(void *ctx, int cpu), void *ctx);
void cpu_watch_close(struct cpu_watch *w);

#endif
