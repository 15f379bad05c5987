/* SPDX-License-Identifier: MIT */
/*
 * The files that a recording consists of: usually one. With --switch-output each is a recording of its own: it says again
 * what the machine is and who runs, and no event is in two of them or in none.
 *
 * A new file is begun in two steps. A thread (record/preparer.h) describes what runs while events go on into the old file;
 * what happens to processes meanwhile is kept (record/drain/follow.h) and follows the description in the new file. Then the
 * buffers are emptied once more, the old file is completed and moved out of the way, and the new one is begun. When that
 * cannot be done (no room, no right), the recording goes on in the old file.
 */
#ifndef SONDE_RECORD_PARTS_H
#define SONDE_RECORD_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "capture/counters.h"
#include "record/file.h"
#include "record/drain/follow.h"
#include "record/switching.h"

struct sonde_recorder;
struct preparer;

struct parts {
	struct switching when;
	atomic_uint asked; /* how often somebody asked for a new file */
	int asked_fd;      /* eventfd: so he did; -1: files are not switched */
	unsigned served;
	struct capture_events events; /* that ask for a new file */
	struct counters counters;     /* of these */
	struct preparer *preparer;
	enum { PART_RUNS, PART_PREPARING, PART_READY } stage; /* of the next file */
	struct file_beginning next;                           /* ready */
	uint64_t prepare_began_ns, prepare_ns;                /* how long the last one took */
	struct follow follow;
	uint64_t began_ns;   /* CLOCK_MONOTONIC: when this file was, or when none could be begun */
	uint64_t bytes_then; /* in the file then */
	VEC(char *) names;   /* of the files before, those that are still there; owned */
	unsigned nr_ended;
	/* of the files before */
	uint64_t samples, lost, bytes, given_up;
};

/* Before anything is opened. */
int parts_parse(struct sonde_recorder *r);
/* The events that ask for a new file: opened like the others, disabled. */
int parts_open(struct sonde_recorder *r);
/* The first file. */
int parts_begin(struct sonde_recorder *r);
int parts_enable(struct sonde_recorder *r);
/* What to wait for: descriptors to poll for input, at most this many milliseconds. */
size_t parts_nr_fds(const struct sonde_recorder *r);
void parts_fds(const struct sonde_recorder *r, int *ret_fds);
int parts_timeout(const struct sonde_recorder *r, int ms);
/* After each pass of the drain: takes up a new file when it is time. 1: the recording is as large as it may get. */
int parts_pass(struct sonde_recorder *r);
/* Before the last file is completed: --tail-synthesize. */
int parts_describe_end(struct sonde_recorder *r);
/* The last file is complete: gives it its name. */
int parts_end(struct sonde_recorder *r);
/* May be called from a signal handler. */
void parts_ask(struct sonde_recorder *r);
void parts_done(struct sonde_recorder *r);

#endif
