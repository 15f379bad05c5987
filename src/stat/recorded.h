/* SPDX-License-Identifier: MIT */
/*
 * Counts in a file: those being written (to_file.c), and those being read (from_file.c,
 * subject_from_file.c). The file is a recording of perf stat record:
 *
 *	THREAD_MAP, CPU_MAP, STAT_CONFIG, EVENT_UPDATE ... what is counted: struct stat_subject
 *	STAT ............................................. cells of s->now
 *	STAT_ROUND ....................................... a round
 *
 * Counts in the file are sums since the first run, as perf's reader expects; the time of a round is
 * its run's.
 *
 * Sizes that are read are bounded before they are used: tasks and updates by the bytes of their
 * records, cells by CELLS_MAX and by the bytes of the file (subject_from_file.c).
 */
#ifndef SONDE_STAT_RECORDED_H
#define SONDE_STAT_RECORDED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"
#include "formats/perfdata/stat.h"
#include "record/output/output.h"
#include "recording/recording.h"
#include "sources/perfdata/view.h"
#include "stat/reading.h"

struct perfdata_writer;

struct stat_to_file {
	struct output output;
	struct perfdata_writer *writer; /* NULL before the first run */
	/* The id of each cell (stat_cell()); 0 if the event has no counter anywhere. */
	VEC(uint64_t) ids;
	VEC(struct stat_count) before; /* the sums of the runs before; parallel to ids */
};

/* A property of an event, to be set once all events are known. */
struct from_update {
	uint64_t id;
	const char *unit; /* NULL if not this property */
	double scale;     /* 0 if not this property */
	int *cpus;        /* NULL if not this property; in the subject's arena */
	size_t nr_cpus;
};

struct stat_from_file {
	struct recordings all;
	struct recording *rec;      /* NULL before it is opened */
	struct perfdata_view *view; /* borrowed */
	char *path;                 /* for messages */
	atomic_int stopped;         /* ends the waiting for a pipe */
	struct hash64 events_by_id; /* -> index of the event */
	struct hash64 cpus_by_number;
	VEC(struct from_update) updates;
	struct perfdata_stat_config config;
	struct event raw; /* room for one record */
	bool has_subject; /* the first count was met: the tables exist */
	bool has_counts;  /* there are counts */
	/* The round whose counts are in s->now; there is none unless has_round. */
	struct perfdata_round round;
	bool has_round, has_ended;
	int late;          /* the negative errno of reading ahead, otherwise 0 */
	char *late_text;   /* its message; owned */
	bool is_as_perf;   /* the rule reports_counts_as_perf */
	char interval[24]; /* milliseconds; "" if there are none */
};

#endif
