/* SPDX-License-Identifier: MIT */
/*
 * A recording being made: set up by open.c, used and changed by run.c, file.c and rotation.c.
 */
#ifndef SONDE_RECORD_RECORDER_H
#define SONDE_RECORD_RECORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"
#include "capture/running/bpf.h"
#include "capture/running/bpf_watch.h"
#include "capture/running/kernel_map.h"
#include "capture/say.h"
#include "capture/setup/capture.h"
#include "record/control.h"
#include "record/delay.h"
#include "record/describe/build_id_cache.h"
#include "record/describe/dsos.h"
#include "record/describing.h"
#include "record/drain/drain.h"
#include "record/drain/drain_threads.h"
#include "record/drain/follow.h"
#include "record/transfer.h"
#include "record/options.h"
#include "record/realtime.h"
#include "record/recorder_file.h"
#include "record/switching.h"
#include "record/workload.h"
#include "sonde/sonde.h"

struct preparer;

/* The files of the recording: rotation.h. */
struct rotation {
	struct switching when;
	atomic_uint asked; /* how often somebody asked for a new file */
	int asked_fd;      /* eventfd: so he did; -1: files are not switched */
	unsigned served;
	struct capture_events events; /* that ask for a new file */
	struct counters counters;     /* of these */
	struct preparer *preparer;
	enum { ROTATION_RUNS, ROTATION_PREPARING, ROTATION_READY } stage; /* of the next file */
	struct file_beginning next;                                       /* ready */
	uint64_t prepare_began_ns, prepare_ns; /* how long the last one took */
	struct follow follow;
	uint64_t began_ns;   /* CLOCK_MONOTONIC: when this file was, or when none could be begun */
	uint64_t bytes_then; /* in the file then */
	VEC(char *) names;   /* of the files before, those that are still there; owned */
	unsigned nr_ended;
	/* of the files before */
	uint64_t samples, lost, bytes, given_up;
};

struct sonde_recorder {
	struct say say;
	struct record_options opts;
	struct capture capture;  /* its opts are those of opts */
	const char *const *argv; /* borrowed */
	const char **own_argv;   /* the same with what was chosen for it; NULL: nothing */
	uint64_t took_all_ms;    /* when --mmap-flush was passed over last, for a pipe's reader */
	struct transfer transfer;
	struct delay delay;
	bool was_on; /* events were switched on at some time */
	struct control control;
	struct realtime realtime;
	struct workload workload;
	char *command_name; /* NULL: no workload */
	int cannot_run;     /* 126 or 127: the workload cannot be run, nothing was opened */
	char *cannot_run_why;
	bool is_pipe;              /* the output is the standard output, in pipe mode */
	struct recorder_file file; /* where events go now */
	struct kernel_map kernel;  /* as the first file has it; without the symbols */
	struct describing describing;
	struct rotation rotation; /* earlier files and the next one */
	struct drain drain;
	struct drain_threads *threads; /* NULL: the drain has all rings */
	struct dsos *dsos; /* files mapped and hit; NULL: nobody wants their build ids */
	struct build_id_cache cache;
	/* ids of counters whose samples have no time, beside others that have */
	struct hash64 untimed;
	struct bpf_programs *bpf; /* NULL: nobody wants to know of them */
	struct bpf_watch bpf_watch;
	bool wants_kernel_symbols; /* kernel addresses are */
	int wake_fd;               /* eventfd: sonde_recorder_stop() was called */
	int give_up_fd;            /* eventfd: it was called again; never emptied */
	atomic_uint stops;         /* how often */
	uint64_t wakeups;
	uint64_t looked_ns;     /* when the cpus were compared last */
	struct tally undrained; /* samples that were not taken out of the buffers */
	int ended_early;        /* what ended the recording, a negative errno; 0: nothing did */
	uint64_t state_lost;    /* records of state that found no room (losses.h) */
};

/* open.c: see sonde_recorder_open(), _stop() and _close(); all members of opts are known. */
int recorder_open(struct sonde_recorder **ret, const struct sonde_record_options *opts);
void recorder_stop(struct sonde_recorder *r);
void recorder_close(struct sonde_recorder *r);
/* run.c: see sonde_recorder_run(). */
int recorder_run(struct sonde_recorder *r, struct sonde_record_result *ret);

#endif
