/* SPDX-License-Identifier: MIT */
/*
 * Records that describe what existed before the recording: the kernel's text, modules, running
 * tasks with their names and executable mappings, and the cpu and task of each counter. They have
 * the kernel's format and time 0.
 */
#ifndef SONDE_CAPTURE_RUNNING_SYNTH_H
#define SONDE_CAPTURE_RUNNING_SYNTH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "capture/counters.h"
#include "capture/running/bpf.h"
#include "capture/running/build_ids.h"
#include "capture/running/kernel_map.h"

/* The pid of the kernel's own mappings: modules. */
enum { SYNTH_KERNEL_PID = -1 };

struct synth {
	struct outbuf out;      /* the records; owned */
	bool data_maps;         /* -d: also mappings of data */
	bool namespaces;        /* also the namespaces of each task */
	bool no_tasks, no_maps; /* --synth: leaves these out */
	bool maps_limited;      /* reading the mappings of one process stops after maps_ms */
	uint32_t maps_ms;
	atomic_uint *truncated; /* processes with incomplete mappings; NULL if not needed */
	/* size of the sample_id at the end of each record of a kernel type */
	size_t trailer_bytes;
	/* collects the build ids of mappings; NULL if mappings have inodes instead */
	struct build_ids *ids;
	/*
	 * Called for each executable mapping and each module (pid SYNTH_KERNEL_PID), by several
	 * threads at a time. name is borrowed for the call. NULL if not needed.
	 */
	void (*mapped)(void *ctx, int32_t pid, uint64_t start, uint64_t len, uint64_t inode,
		       const char *name, size_t name_len);
	void *mapped_ctx;
};

void synth_id_index(struct synth *s, const struct counters *c);
void synth_kernel_map(struct synth *s, const struct kernel_map *k);
void synth_modules(struct synth *s);
/* The functions of BPF programs, the programs, and the kernel's code that calls them. */
void synth_bpf(struct synth *s, struct bpf_programs *programs);
void synth_thread_map(struct synth *s, const int32_t *tids, size_t nr_tids);
void synth_cpu_map(struct synth *s, const int *cpus, size_t nr_cpus);
/* All existing control groups. */
void synth_cgroups(struct synth *s);
/* All tasks of the system, with FORK records for their parents. */
void synth_all_tasks(struct synth *s, unsigned nr_threads);
/* Complete processes. The number of threads does not change the records. */
void synth_processes(struct synth *s, const int32_t *pids, size_t nr_pids, unsigned nr_threads);
/* Single threads: names and mappings. */
void synth_threads(struct synth *s, const int32_t *tids, size_t nr_tids);
/* The name alone, for a process that is about to replace its mappings. */
void synth_name(struct synth *s, int32_t pid);
/* A record without payload: FINISHED_INIT, FINISHED_ROUND. */
void synth_plain(struct synth *s, uint32_t type);
void synth_lost_samples(struct synth *s, const struct perf_event_attr *a, uint64_t id, int cpu,
			uint64_t lost);

#endif
