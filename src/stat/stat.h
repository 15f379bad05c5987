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
#include "stat/recorded.h"
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
	const char *const *argv;    /* borrowed; NULL if unknown */
	struct stat_to_file to_file;
	bool is_from_file; /* then `from` is used; nothing is counted */
	struct stat_from_file from;
	struct capture_events events;
	struct target target;
	struct stat_subject subject;
	VEC(struct sonde_stat_event) shown; /* for callers; parallel to subject.events */
	struct stat_opened opened;
	struct workload workload;
	struct control control;
	struct stat_rows rows;
	struct spread elapsed; /* over the runs of the command, nanoseconds */
	int64_t delay_ms;      /* -1: events are off until a command enables them */

	enum stat_phase phase;
	/* sums since counting began; the last ones that were returned; their difference */
	struct stat_reading now, before, interval;
	uint64_t start_ns, interval_ns, looked_ns; /* CLOCK_MONOTONIC; interval_ns: its beginning */
	uint64_t nr_intervals, nr_ticks;           /* returned; passed since the start */
	int status, post_status; /* of the command; of post=, until it is reported */
	int wake_fd;             /* eventfd of sonde_stat_stop() */
	atomic_uint stops;
};

/* Nothing is open in it; stat_close() frees it. NULL without memory. */
struct sonde_stat *stat_new(void);
int stat_open(struct sonde_stat **ret, const struct sonde_stat_options *opts);
int stat_start(struct sonde_stat *s, int *ret_status);
int stat_next(struct sonde_stat *s, struct sonde_stat_round *ret);
void stat_stop(struct sonde_stat *s);
void stat_close(struct sonde_stat *s);

/*
 * run.c: s->interval becomes s->now minus s->before, then s->before becomes s->now. Adds a reading
 * up. is_run: it is of a complete run. Returns 1.
 */
void stat_subtract(struct sonde_stat *s);
int stat_make_round(struct sonde_stat *s, const struct stat_reading *reading, bool is_run,
		    struct sonde_stat_round *ret);

/*
 * to_file.c: writes the counts to output=; does nothing without it.
 *
 *	begin      once the counters of a run are open, before its command runs
 *	round      the counts in s->now complete a round; kind: PERFDATA_ROUND_*
 *	end        after the last round of a run: the file is complete
 *	discard    the command did not run: no file remains
 */
int stat_to_file_begin(struct sonde_stat *s);
int stat_to_file_round(struct sonde_stat *s, uint64_t kind);
int stat_to_file_end(struct sonde_stat *s);
void stat_to_file_discard(struct sonde_stat *s);
void stat_to_file_close(struct sonde_stat *s);

/* from_file.c: see sonde_stat_read(), sonde_stat_next() and sonde_stat_info(). */
int stat_read(struct sonde_stat **ret, const char *path, const char *settings);
int stat_from_file_next(struct sonde_stat *s, struct sonde_stat_round *ret);
const char *stat_from_file_info(const struct sonde_stat *s, const char *key);
void stat_from_file_close(struct sonde_stat *s);

/* subject_from_file.c: takes a record in front of the first count. b is behind its header. */
int stat_subject_take(struct sonde_stat *s, uint32_t type, struct bytes *b);
/* Makes the tables. b: the record of the first count, for messages. */
int stat_subject_from_file(struct sonde_stat *s, const struct bytes *b);
/* Sets the places of the cpus if rows are for places. */
int stat_subject_find_places(struct sonde_stat *s);
/* The index of an event by an id, of a cpu by its number; SIZE_MAX if unknown. */
size_t stat_from_file_event(const struct stat_from_file *f, uint64_t id);
size_t stat_from_file_cpu(const struct sonde_stat *s, uint32_t number);

/* chosen.c: names the events, or the default ones, and completes their attrs. */
int stat_choose_events(struct sonde_stat *s, const struct sonde_record_event *events, size_t nr);
void stat_configure_events(struct sonde_stat *s);
/* Allocates the readings; the subject is complete. */
int stat_make_readings(struct sonde_stat *s);
/* Describes the events to callers. */
int stat_show_events(struct sonde_stat *s);

#endif
