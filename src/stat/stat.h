/* SPDX-License-Identifier: MIT */
/*
 * A count being made: events counted in the kernel from the start of a run to its end.
 *
 *	open .............. options.c, chosen.c (events), the target by capture/setup/target.c
 *	start ............. opened.c: counters; capture/workload.c: the command
 *	next .............. run.c: waits, reads the counters
 *	    rows .......... rows.c adds counts up, metrics.c derives figures
 *	    a recording ... to_file.c writes each reading (output=)
 *
 * A count read from a file (from_file.c) has the same rounds.
 */
#ifndef SONDE_STAT_STAT_H
#define SONDE_STAT_STAT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/control.h"
#include "capture/events.h"
#include "capture/say.h"
#include "capture/setup/target.h"
#include "capture/workload.h"
#include "sonde/sonde.h"
#include "stat/opened.h"
#include "stat/options.h"
#include "stat/reading.h"
#include "stat/rows.h"
#include "stat/spread.h"

/* What sonde_stat_next() returns next. */
enum stat_phase {
	STAT_IDLE,     /* before a run, and after its end was returned */
	STAT_COUNTING, /* an interval, or the last one */
	STAT_ENDED     /* the complete run */
};

struct sonde_stat {
	struct say say;
	struct stat_options opts;
	const char *const *command; /* borrowed; NULL if none */
	struct capture_events events;
	struct target target;
	struct stat_subject subject;
	VEC(struct sonde_stat_event) shown; /* for callers; parallel to subject.events */
	struct stat_opened opened;
	struct workload workload;
	struct control control;
	struct stat_rows rows;
	struct spread elapsed; /* over the runs, nanoseconds */
	int64_t delay_ms;      /* -1: events are off until a command enables them */

	enum stat_phase phase;
	/* sums since the start of the run; the last ones that were returned; their difference */
	struct stat_reading now, before, interval;
	uint64_t start_ns, interval_ns, looked_ns; /* CLOCK_MONOTONIC; interval_ns: its beginning */
	uint64_t nr_intervals;
	int status;
	int wake_fd; /* eventfd of sonde_stat_stop() */
	atomic_uint stops;
};

int stat_open(struct sonde_stat **ret, const struct sonde_stat_options *opts);
int stat_start(struct sonde_stat *s, int *ret_status);
int stat_next(struct sonde_stat *s, struct sonde_stat_round *ret);
void stat_stop(struct sonde_stat *s);
void stat_close(struct sonde_stat *s);

/* chosen.c: names the events, or the default ones, and completes their attrs. */
int stat_choose_events(struct sonde_stat *s, const struct sonde_record_event *events, size_t nr);
void stat_configure_events(struct sonde_stat *s);
/* Allocates the readings; the subject is complete. */
int stat_make_readings(struct sonde_stat *s);
/* Describes the events to callers. */
int stat_show_events(struct sonde_stat *s);

#endif
