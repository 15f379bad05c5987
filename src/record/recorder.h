/* SPDX-License-Identifier: MIT */
/* A recording being made; the parts of struct sonde_recorder that recorder.c sets up and run.c uses. */
#ifndef SONDE_RECORD_RECORDER_H
#define SONDE_RECORD_RECORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/counters.h"
#include "capture/events.h"
#include "capture/say.h"
#include "record/describe/bpf.h"
#include "record/describe/bpf_watch.h"
#include "record/describe/build_id_cache.h"
#include "record/control.h"
#include "record/delay.h"
#include "record/describe/describing.h"
#include "record/drain/drain.h"
#include "record/drain/drain_threads.h"
#include "record/describe/dsos.h"
#include "record/file.h"
#include "record/flow.h"
#include "record/describe/kernel_map.h"
#include "record/setup/options.h"
#include "record/parts.h"
#include "record/realtime.h"
#include "record/setup/sampling.h"
#include "record/setup/target.h"
#include "record/setup/workload.h"
#include "sonde/sonde.h"

struct sonde_recorder {
	struct say say;
	struct capture_events events;
	struct record_options opts;
	const char *const *argv; /* lent */
	const char **own_argv;   /* the same with what was chosen for it; NULL: nothing */
	uint64_t mmap_pages;     /* 0: not given */
	uint64_t took_all_ms;    /* when --mmap-flush was passed over last, for a pipe's reader */
	struct sampling sampling;
	struct target target;
	struct flow flow;
	struct delay delay;
	bool was_on; /* events were switched on at some time */
	struct control control;
	struct realtime realtime;
	struct counters counters;
	struct workload workload;
	char *command_name; /* NULL: no workload */
	int cannot_run;     /* 126 or 127: the workload cannot be run, nothing was opened */
	char *cannot_run_why;
	bool is_pipe;              /* the output is the standard output, in pipe mode */
	struct recorder_file file; /* where events go now */
	struct kernel_map kernel;  /* as the first file tells of it; without the symbols */
	struct describing describing;
	struct parts parts; /* the files before, the one to come */
	struct drain drain;
	struct drain_threads *threads; /* NULL: the drain has all rings */
	struct dsos *dsos; /* files mapped and hit; NULL: nobody wants their build ids */
	struct build_id_cache cache;
	struct hash64
		untimed; /* ids of counters whose samples have no time, beside others that have */
	struct bpf_programs *bpf; /* NULL: nobody wants to know of them */
	struct bpf_watch bpf_watch;
	bool wants_kernel_symbols; /* kernel addresses are */
	int wake_fd;               /* eventfd: sonde_recorder_stop() was called */
	int give_up_fd;            /* eventfd: it was called again; never emptied */
	atomic_uint stops;         /* how often */
	uint64_t wakeups;
	uint64_t looked_ns; /* when the cpus were compared last */
	struct tally left; /* samples that were not taken out of the buffers */
	int ended_early;   /* what ended the recording, a negative errno; 0: nothing did */
	uint64_t state_lost;  /* records of state that found no room (losses.h) */
};

#endif
