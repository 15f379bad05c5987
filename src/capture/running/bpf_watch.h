/* SPDX-License-Identifier: MIT */
/*
 * Wakes the recorder the moment a BPF program is loaded, while the kernel can still be queried
 * about it: the recorder looks at its own buffers much later. Uses a small extra buffer per cpu,
 * which contains no other records.
 */
#ifndef SONDE_CAPTURE_RUNNING_BPF_WATCH_H
#define SONDE_CAPTURE_RUNNING_BPF_WATCH_H

#include <stddef.h>

#include "base/vec.h"
#include "capture/counters.h"
#include "capture/running/bpf.h"

struct bpf_watch {
	VEC(struct ring) rings; /* each has a separate descriptor */
	int epoll_fd;           /* for all of them; valid if there are rings */
};

/* If the watch is not permitted, programs are found when the buffers are drained. */
void bpf_watch_open(struct bpf_watch *w, const int *cpus, size_t nr_cpus);
/* The descriptor to poll; -1 if nothing is watched. */
int bpf_watch_fd(const struct bpf_watch *w);
void bpf_watch_read(struct bpf_watch *w, struct bpf_programs *programs);
void bpf_watch_close(struct bpf_watch *w);

#endif
