/* SPDX-License-Identifier: MIT */
/*
 * The records of a recording of counts (`perf stat record`), for readers and writers.
 *
 *	THREAD_MAP | CPU_MAP | STAT_CONFIG | EVENT_UPDATE ... | STAT ... STAT_ROUND | STAT ...
 *	'----------- what was counted, and how ------------'   '--- a round ----'
 *
 * Counts are sums since counting began. Readers get a cursor behind the record's header.
 */
#ifndef SONDE_FORMATS_PERFDATA_STAT_H
#define SONDE_FORMATS_PERFDATA_STAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/outbuf.h"

enum { PERFDATA_COMM_BYTES = 16 };

/* STAT: the count of an event on a cpu and a task. */
struct perfdata_count {
	uint64_t id;
	uint32_t cpu;    /* its number; -1 any. Old recorders: its index in CPU_MAP */
	uint32_t thread; /* its index in THREAD_MAP */
	uint64_t value, enabled_ns, running_ns;
};

/* STAT_ROUND: the counts before it are complete. */
enum { PERFDATA_ROUND_INTERVAL = 0, PERFDATA_ROUND_FINAL = 1 };
struct perfdata_round {
	uint64_t kind;
	uint64_t time_ns; /* since counting began */
};

/*
 * How perf 6.1 numbers its aggregations. From 6.5 on, others are between DIE and CORE, so the
 * numbers from CORE on depend on the recorder's version.
 */
enum perfdata_aggregation {
	PERFDATA_AGGR_CPU = 0,
	PERFDATA_AGGR_ALL = 1,
	PERFDATA_AGGR_SOCKET = 2,
	PERFDATA_AGGR_DIE = 3,
	PERFDATA_AGGR_CORE = 4,
	PERFDATA_AGGR_THREAD = 5,
	PERFDATA_AGGR_NODE = 7
};

/* STAT_CONFIG. Settings that the record does not have stay 0. */
struct perfdata_stat_config {
	uint64_t aggregation, interval_ms;
	bool has_aggregation;
	bool is_unscaled; /* counts of events that shared a counter are not extrapolated */
};

/* EVENT_UPDATE: one property of the event with this id. */
enum perfdata_update_kind {
	PERFDATA_UPDATE_UNIT = 0,
	PERFDATA_UPDATE_SCALE = 1,
	PERFDATA_UPDATE_NAME = 2,
	PERFDATA_UPDATE_CPUS = 3 /* the body of a CPU_MAP (cpu_map.h) */
};
struct perfdata_update {
	uint64_t kind, id;
	const char *text; /* UNIT, NAME: borrowed */
	double scale;
	struct bytes cpus;
};

int perfdata_count_read(struct bytes *b, struct perfdata_count *ret);
int perfdata_round_read(struct bytes *b, struct perfdata_round *ret);
int perfdata_stat_config_read(struct bytes *b, struct perfdata_stat_config *ret);
/* An update of an unknown kind sets kind and id only. */
int perfdata_update_read(struct bytes *b, struct perfdata_update *ret);
/* The body of THREAD_MAP. comm has PERFDATA_COMM_BYTES, maybe without a NUL. Stops if add fails. */
int perfdata_threads_read(struct bytes *b, int (*add)(void *ctx, int32_t tid, const uint8_t *comm),
			  void *ctx);

void perfdata_put_count(struct outbuf *o, const struct perfdata_count *c);
void perfdata_put_round(struct outbuf *o, const struct perfdata_round *r);
void perfdata_put_stat_config(struct outbuf *o, const struct perfdata_stat_config *c);
void perfdata_put_unit(struct outbuf *o, uint64_t id, const char *unit);
void perfdata_put_scale(struct outbuf *o, uint64_t id, double scale);
/* Cpus in ascending order; nr > 0. */
void perfdata_put_event_cpus(struct outbuf *o, uint64_t id, const int *cpus, size_t nr);
void perfdata_put_cpu_map(struct outbuf *o, const int *cpus, size_t nr);

/* THREAD_MAP: put_threads() begins a record for nr <= PERFDATA_THREADS_MAX tasks. */
enum { PERFDATA_THREADS_MAX = 2700 };
void perfdata_put_threads(struct outbuf *o, size_t nr);
void perfdata_put_thread(struct outbuf *o, int32_t tid, const char *comm);

#endif
