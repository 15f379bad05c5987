/* SPDX-License-Identifier: MIT */
/*
 * Wakes the recorder the moment a BPF program is loaded, while the kernel can still be asked about it: the buffers of the
 * recording are looked at much later. A small buffer per cpu of its own, in which nothing else is told.
 */
#ifndef SONDE_CAPTURE_RUNNING_BPF_WATCH_H
#define SONDE_CAPTURE_RUNNING_BPF_WATCH_H

#include <stddef.h>

#include "base/vec.h"
#include "capture/counters.h"
#include "capture/running/bpf.h"

struct bpf_watch {
	VEC(struct ring) rings; /* each with a descriptor of its own */
	int epoll_fd;           /* of all of them; valid when there are rings */
};

/* Where it may not be done, programs are found when the buffers are drained. */
void bpf_watch_open(struct bpf_watch *w, const int *cpus, size_t nr_cpus);
/* To be polled; -1: nothing is watched. */
int bpf_watch_fd(const struct bpf_watch *w);
void bpf_watch_read(struct bpf_watch *w, struct bpf_programs *programs);
void bpf_watch_close(struct bpf_watch *w);

#endif
