/* SPDX-License-Identifier: MIT */
/*
 * The facts about a recording: its header, host and clock, and counts of its events. Two sinks
 * write the same facts: info (info_text.c) for people, info-json (info_json.c) for programs; info.c
 * gathers them.
 */
#ifndef SONDE_SINKS_INFO_INFO_H
#define SONDE_SINKS_INFO_INFO_H

#include "recording/recording.h"
#include "sinks/fd_writer.h"
#include "sinks/recorded_dsos.h"
#include "sinks/sink.h"

enum {
	/* larger numbers are damage; a sample with one is counted for no cpu */
	INFO_MAX_CPU = 65535,
	INFO_NO_SCHEMA = -1,
};

struct info_event {
	uint64_t samples, throttled;
};

/* Events of one type that the kernel dropped on a cpu. */
struct info_loss {
	int32_t schema; /* schema id; INFO_NO_SCHEMA if not reported */
	int32_t cpu;    /* -1 if not reported */
	bool by_count;  /* counted per event (LOST_SAMPLES), not per buffer (LOST) */
	uint64_t lost;
};

/* Records of one kind. */
struct info_kind {
	const struct sonde_schema *schema;
	uint64_t records;
};

struct info_options {
	uint32_t no_events; /* flag: print only facts from the header */
};

struct info_sink {
	struct sink base;
	struct recording *rec;
	const char *input;
	bool no_events, on_terminal;
	struct source_traits traits; /* set by info_sort_kinds() */
	struct fd_writer writer;
	struct recorded_dsos dsos;
	VEC(struct info_event) events; /* indexed by schema id */
	VEC(uint64_t) cpus;            /* samples by cpu */
	VEC(struct info_loss) losses;  /* in the order in which they were met */
	VEC(uint64_t) records;         /* indexed by schema id */
	VEC(struct info_kind) kinds;   /* kinds that occur, made by info_sort_kinds() */
	uint64_t samples, without_time, first_ns, last_ns;
	bool has_counts; /* a loss is by_count; losses that are not are then ignored */
};

/* Shared by both sinks: all operations except name, summary and finish. */
enum { NR_INFO_KEYS = 1 };
extern const struct key info_keys[NR_INFO_KEYS];
struct sink_wants info_wants(const struct sink_options *opts);
int info_open(struct sink **ret, const struct sink_options *opts, const struct sink_ops *ops);
int info_events(struct sink *sink, const struct event *const *events, size_t nr);
int info_flush(struct sink *sink);
void info_close(struct sink *sink);

/*
 * Once all records are counted: fills `kinds`, in the order of record types, then of schemas, and
 * `traits`.
 */
int info_sort_kinds(struct info_sink *s);
/* True if an event type has a row. Types that the format fixes have a row only if they were met. */
bool info_shows_event(const struct info_sink *s, const struct sonde_schema *sc);
/* The sum of an event's counts over all its schemas. */
struct info_event info_counts_of(const struct info_sink *s, const struct sonde_schema *sc);
/* Facts from the header. */
/* "pipe", "stream", "directory" or "file" */
const char *info_kind(const struct info_sink *s, unsigned nr_files);
/* "monotonic"; NULL if the clock is unknown */
const char *info_clock_name(int32_t id);
/* The number of files with records, and the bytes of records in them. False if it is a stream. */
bool info_data(struct info_sink *s, unsigned *ret_files, uint64_t *ret_bytes);
/*
 * Times of the first and last sample: of the counted samples, or else from the header. False if
 * unknown.
 */
bool info_span(struct info_sink *s, uint64_t *ret_first_ns, uint64_t *ret_last_ns);
/* True if this report of a loss is used. If a loss is reported twice, the exact report is used. */
static inline bool info_loss_counts(struct info_sink *s, const struct info_loss *l)
{
	return l->by_count == s->has_counts;
}
/* True if samples hit the file and its build id is unknown. */
static inline bool info_lacks_build_id(const struct recorded_dso *dso)
{
	return dso->is_hit && !build_id_is_known(&dso->build_id) && !dso->is_memory;
}

#endif
