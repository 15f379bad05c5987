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
#include "capture/control.h"
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
#include "capture/workload.h"
#include "sonde/sonde.h"

struct ftrace;
struct preparer;

/* The files of the recording (rotation.h). */
struct rotation {
	struct switching when;
	atomic_uint asked; /* number of requests for a new file */
	int asked_fd;      /* eventfd that signals a request; -1 if files are not switched */
	unsigned served;
	struct capture_events events; /* events that request a new file */
	struct counters counters;     /* the counters of these events */
	struct preparer *preparer;
	/* progress of preparing the next file */
	enum { ROTATION_RUNS, ROTATION_PREPARING, ROTATION_READY } stage;
	/* valid in stage ROTATION_READY */
	struct file_beginning next;
	uint64_t prepare_began_ns, prepare_ns; /* prepare_ns: duration of the last preparation */
	struct follow follow;
	/* CLOCK_MONOTONIC, when this file began or the last attempt to begin a new one failed */
	uint64_t began_ns;
	uint64_t bytes_then; /* bytes of events written by began_ns */
	VEC(char *) names;   /* names of the earlier files that still exist; owned */
	unsigned nr_ended;
	/* sums over the earlier files */
	uint64_t samples, lost, bytes, given_up;
};

struct sonde_recorder {
	struct say say;
	struct record_options opts;
	struct capture capture;  /* its opts point into opts */
	const char *const *argv; /* borrowed */
	/* argv with the choice about the recorder's own events added; NULL if unchanged */
	const char **own_argv;
	/* when --mmap-flush was last ignored for the sake of a pipe's reader */
	uint64_t took_all_ms;
	struct transfer transfer;
	struct delay delay;
	bool was_on; /* events were switched on at some time */
	struct control control;
	struct realtime realtime;
	struct workload workload;
	char *command_name; /* NULL if there is no workload */
	int cannot_run;     /* 126 or 127 if the workload cannot be run; then nothing was opened */
	char *cannot_run_why;
	/* Called when events are recorded, before a command starts; may be NULL. */
	void (*begun)(void *ctx);
	void *begun_ctx;
	bool is_pipe;              /* the output is a pipe, in pipe mode */
	int pipe_fd;               /* its descriptor, borrowed: 1, or that of output-fd= */
	int live_sleep_ms;         /* the longest time between two passes if the output is a pipe */
	struct recorder_file file; /* the file that events are written to now */
	struct kernel_map kernel;  /* as in the first file, without the symbols */
	struct describing describing;
	struct rotation rotation; /* earlier files and the next one */
	struct drain drain;
	struct drain_threads *threads; /* NULL if the drain has all rings */
	struct dsos *dsos; /* files mapped and hit; NULL if their build ids are not recorded */
	struct build_id_cache cache;
	/* ids of counters whose samples have no time, if the samples of other counters have one */
	struct hash64 untimed;
	struct bpf_programs *bpf; /* NULL before recorder_file_wants() */
	struct bpf_watch bpf_watch;
	bool wants_kernel_symbols; /* kernel addresses are recorded */
	int wake_fd;               /* eventfd: sonde_recorder_stop() was called */
	/* eventfd: sonde_recorder_stop() was called again; never emptied */
	int give_up_fd;
	atomic_uint stops; /* number of calls of sonde_recorder_stop() */
	uint64_t wakeups;
	uint64_t looked_ns;     /* when the online cpus were last compared with the recorded ones */
	struct tally undrained; /* samples left in the buffers */
	struct ftrace *ftrace; /* ftrace's buffers are recorded (ftrace/ftrace.h); NULL otherwise */
	/* tracepoints are taken out of them (ftrace/stream.h); NULL otherwise */
	struct ftrace_stream *ftrace_stream;
	int ended_early;       /* the negative errno that ended the recording early, otherwise 0 */
	uint64_t state_lost;   /* records of state lost for lack of room (losses.h) */
};

/* open.c: see sonde_recorder_open(), _stop() and _close(); all members of opts are known. */
int recorder_open(struct sonde_recorder **ret, const struct sonde_record_options *opts);
void recorder_stop(struct sonde_recorder *r);
void recorder_close(struct sonde_recorder *r);
/* run.c: see sonde_recorder_run(). */
int recorder_run(struct sonde_recorder *r, struct sonde_record_result *ret);

#endif
