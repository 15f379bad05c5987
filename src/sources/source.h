/* SPDX-License-Identifier: MIT */
/*
 * A source reads one kind of input, always in two steps. `cut` only finds where records begin and
 * end, and their times; order/ calls it, maybe twice for the same bytes. `decode` turns a record
 * into events when it is delivered. sources/table.def lists all sources. Sources do not know sinks.
 */
#ifndef SONDE_SOURCES_SOURCE_H
#define SONDE_SOURCES_SOURCE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "compat/rules.h"
#include "model/defects.h"
#include "model/event.h"
#include "model/named_file.h"
#include "sources/stream.h"

/*
 * A page or packet that contains records. The time and place of a record depend on its unit and on
 * its own bytes. At the start of a file all members are 0; cut() continues from where it stopped.
 * len is 0 until a unit has begun. Sources whose records need no unit do not change it.
 */
struct unit {
	uint64_t off;       /* offset of the unit in the file */
	uint64_t time_base; /* where cut() stopped: the next record's time difference adds to it */
	const void *ctx;    /* owned by the source, valid as long as the source */
	uint32_t len;       /* bytes of the unit with its header; 0 if there is none */
	int32_t cpu;
};

/* True if both are the same unit, maybe at different places in it. */
static inline bool unit_is_same(const struct unit *a, const struct unit *b)
{
	return a->off == b->off && a->len == b->len && a->cpu == b->cpu && a->ctx == b->ctx;
}

/* A record that has been cut, not decoded. Borrowed: `bytes` is in a read window. */
struct cut {
	uint64_t time_ns; /* for ORDERED */
	uint64_t file_off;
	const uint8_t *bytes;
	uint32_t len;
	uint16_t file; /* index of the input file (recordings in several files) */
	uint8_t order; /* enum cut_order */
	uint8_t flags; /* enum cut_flags */
	/*
	 * The unit that contains the record; NULL if the record needs none. Set by order/, which
	 * keeps it as long as `bytes`. Its time_base has no meaning here.
	 */
	const struct unit *unit;
};

enum cut_order {
	CUT_ORDERED = 0, /* delivered in the order of its time */
	CUT_AT_ONCE = 1, /* acts when it is read (no time) */
	CUT_ROUND = 2,   /* the recorder finished a pass over its buffers */
	CUT_HEADER = 3   /* describes the stream: first take_header() gets it, then like AT_ONCE */
};
enum cut_flags {
	CUT_LATE = 1, /* set by order/ */
	/* A sample that nothing else depends on: a filter may refuse it before it is ordered. */
	CUT_STATELESS = 2,
	CUT_SAMPLE = 4,
	/* Nobody will want the sample: order/ passes over it unless it is late. */
	CUT_UNWANTED = 8,
	/* The beginning of a packet: it is ordered like an event, but not counted as late. */
	CUT_NO_EVENT = 16
	/* Bits from 32 on are the source's own, for files that are monotonic. */
};

/* A tracepoint that the recording does not describe. */
struct source_tracepoint {
	uint64_t id;
	const char *name;    /* NULL if the recording does not say */
	const char *release; /* of the recorded kernel; NULL if the recording does not say */
};

/*
 * What source_ops.open() returns, and sets in its options, if the file stores an input of another
 * format in place of events. source_open() then reads that.
 */
enum { SOURCE_HOLDS_OTHER = 1 };
struct source_held {
	int fd;           /* a file with the bytes of the other input; passed to the caller */
	uint32_t nr_cpus; /* of the recorded machine; 0 if it is unknown */
};

struct source_options {
	const char *path;
	size_t window_bytes;
	bool force;
	bool unordered; /* records are delivered in the order of the file */
	/*
	 * The caller wants records as they are stored. The source keeps their places in a
	 * compressed file, and makes events of samples that the rules leave out (struct event,
	 * is_left_out).
	 */
	bool raw_records;
	bool takes_no_events; /* a recording that describes no event is opened */
	const struct rules *rules;
	/* Read in place of path if not NULL. open() takes ownership, even if it fails. */
	struct stream *stream;
	/*
	 * Looks elsewhere for the description of a tracepoint that the recording does not describe.
	 * The recorded machine must have this one's byte order. Returns 0 and a text that is
	 * borrowed until the next call; <0 with a message if there is none. NULL if tracepoints
	 * stay undescribed.
	 */
	int (*find_format)(void *ctx, const struct source_tracepoint *wanted,
			   const char **ret_system, struct bytes *ret);
	void *find_format_ctx;
	/*
	 * Looks for the description of an event by its name alone, for text, which has no more.
	 * Like find_format, with its ctx. NULL if there are no descriptions.
	 */
	int (*find_event)(void *ctx, const char *event, const char **ret_system, struct bytes *ret);
	bool has_copied_formats; /* they come from a folder (--tracefs), not the running kernel */
	/* Bytes that a packed or compressed recording may unpack to; 0: the limit of unpacked.h. */
	uint64_t max_unpacked;
	uint64_t packed_bytes; /* size of the packed file whose content is in fd; 0 if not packed */
	/* The path is packed or a pipe: fd, owned by the source, is a file with its content. */
	bool is_copied;
	int fd;
	const char *inside;       /* the format of the file that stores the input; NULL if none */
	uint32_t inside_cpus;     /* source_held.nr_cpus */
	struct source_held *held; /* set by open() that returns SOURCE_HOLDS_OTHER */
	atomic_int *stopped;      /* set to end the waiting for a stream */
	const _Atomic uint64_t *wake_ns; /* see struct stream; may be NULL */
	/*
	 * Called while a packed input is read, with the packed bytes read so far. total is 0 if
	 * unknown. May be NULL.
	 */
	void (*on_packed)(void *ctx, uint64_t done, uint64_t total);
	void *on_packed_ctx;
	struct schema_table *schemas; /* the source adds its schemas to it */
	struct defects *defects;
	/*
	 * The defects that cut() and the reading of streams count, maybe in another thread
	 * (recording/reader.h). If NULL, `defects` is used.
	 */
	struct defects *read_defects;
};

/* One input file as order/ reads it: a file descriptor and the range that holds records. */
struct source_file {
	int fd;                /* owned by the source */
	const char *path;      /* for messages */
	uint64_t begin, end;   /* bytes; end was the size seen at open, UINT64_MAX for a stream */
	struct stream *stream; /* a pipe, read in place of fd; NULL for a file */
	/*
	 * Its records are in the order of their times, so the file is read once, in parallel with
	 * the others. Set only if the writer guarantees it: an older record after a newer one is
	 * delivered late.
	 */
	bool is_monotonic;
	/*
	 * One of several monotonic streams that are read while they are written. While another one
	 * has records, this one does not block it (order.h).
	 */
	bool is_growing;
};

/*
 * The recorded kernel. Members that the recording does not give are NULL or 0. Borrowed from the
 * source.
 */
struct source_kernel {
	struct build_id build_id;
	const char *name;   /* name of its file, if not "[kernel.kallsyms]" */
	const char *printk; /* text, not NUL-terminated */
	size_t printk_len;
};

/* The recorded text of /proc/kallsyms: some 5 MB, so that it is unpacked for each caller. */
struct source_kallsyms {
	const char *text; /* not NUL-terminated; NULL if there is none */
	size_t len;
	char *unpacked; /* owned; NULL if the text is borrowed from the source */
};

/* A file's build id from the recording's own list. */
struct source_build_id {
	const char *path; /* borrowed from the source */
	struct build_id id;
	bool is_kernel; /* the file is the kernel or one of its modules */
};

/* The recording's description of its clock. */
struct source_clock {
	bool is_known; /* set if there are events, which name the clock */
	int32_t id;    /* CLOCK_*; -1 for the kernel's own clock */
	bool has_resolution, has_reference;
	uint64_t resolution_ns;
	int32_t reference_id;       /* the clock of clock_ns; should equal id */
	uint64_t wall_ns, clock_ns; /* the same moment as time of day and as time of the clock */
	/*
	 * Recordings with the same number have times of one clock, by what their recorder wrote: a
	 * host and its guests. 0 if it wrote nothing.
	 */
	uint64_t group;
	/* Set if the clock has no number and is not that of perf; borrowed, otherwise NULL. */
	const char *name;
};

/* What a record reports about the recording of an event type. */
enum source_report_kind {
	REPORT_NONE,
	REPORT_LOST, /* counted by a buffer that several event types share */
	/* counted per event type; REPORT_LOST then counts the same losses again */
	REPORT_LOST_EXACT,
	REPORT_THROTTLED,
	REPORT_READ /* the value that a counter of a thread had when it ended */
};
struct source_report {
	enum source_report_kind kind;
	const struct sonde_schema *schema; /* NULL if the record does not say */
	uint64_t lost;
	int32_t pid, tid; /* READ */
	uint64_t value;   /* READ */
};

/*
 * One fact that a recording states about itself, for sonde info and the heads of JSON outputs.
 * Values about the host are borrowed from the source, other values until the next call.
 */
enum source_fact_form {
	FACT_TEXT,
	FACT_NUMBER, /* digits, written to JSON unchanged */
	FACT_FLAG,   /* "true" or "false" */
	FACT_WORDS   /* separated by blanks; an array in JSON, with digits as numbers */
};
enum source_fact_about {
	FACT_FILE,
	FACT_HOST,     /* the host or the recorder */
	FACT_TEXT_ONLY /* not a member of JSON outputs */
};
/*
 * The text of sonde info has words for these keys: kind ("pipe", "stream", "directory", "file";
 * without a value it means perf.data's file mode, or a directory if there are several files),
 * changed (seconds since 1970), compressed, memory_kb; about the host: hostname, osrelease,
 * recorder, arch, cpudesc, cmdline, nrcpus_online, nrcpus_available, byte_order, long_bytes.
 * Another key with a label gets a line of its own. A listed key without a value is reported as
 * missing; a key that the source does not list is not reported.
 */
struct source_fact {
	const char *key;   /* name of the JSON member */
	const char *value; /* NULL if the recording does not say */
	const char *label; /* NULL if text does not print it */
	enum source_fact_form form;
	enum source_fact_about about;
};

/* How an input describes its events. All false unless the source says otherwise. */
struct source_traits {
	/* Event types, names and facts may still arrive between events (perf.data's pipe mode). */
	bool describes_late;
	/* Raw traces of processors, which may hold values that no sample has. */
	bool has_cpu_traces;
	bool has_counts; /* counters read at intervals (perf stat), not samples */
	/* Event types are described whether events of them were recorded or not. */
	bool has_fixed_types;
	bool reports_types; /* losses and throttling are reported for event types */
	bool has_time_zero; /* 0 is a valid time; otherwise it means that the time is unknown */
};

/* A recorded group of event types. */
struct source_group {
	const char *name; /* not NUL-terminated; empty if the group has none */
	size_t name_len;
	const struct sonde_schema *const *members; /* valid as long as the source; leader first */
	size_t nr_members;
};

/*
 * The functions of every kind of input. Members that may be NULL are called only by the functions
 * below the struct. Functions for a single kind of input are in that input's own view
 * (sources/perfdata/view.h).
 */
struct source_ops {
	const char *name, *summary; /* "perf.data"; one line for help */
	/* Looks at the first bytes of the input: 0 = not mine, 100 = certain. */
	int (*probe)(const uint8_t *head, size_t len);
	/*
	 * Finds the file in a directory whose first bytes probe() needs, and returns 1; 0 if the
	 * directory has no such file. NULL if recordings of this format are never directories.
	 */
	int (*head_file)(int dir, char ret[NAME_MAX + 1]);
	/* Returns 0, or SOURCE_HOLDS_OTHER. */
	int (*open)(struct source **ret, const struct source_options *opts);
	/* True if input with this beginning can be read as a stream. NULL if none can. */
	bool (*streams)(const uint8_t *head, size_t len);
	/* The i-th file; false after the last. */
	bool (*file)(struct source *s, unsigned i, struct source_file *ret);
	/*
	 * Cuts records from p[0..len), which is at file_off of the file, into at most max cuts.
	 * Returns their number. The same bytes may be cut again: a call changes only *unit, and
	 * counts defects.
	 * *unit: where the previous call stopped; afterwards, where this call stopped. All cuts of
	 * a call are in the unit in which the call ends.
	 * *ret_used: number of bytes handled. It may exceed len if data that is no record follows a
	 * record.
	 * *ret_need: the length of the next record (>= 1) if it does not fit into the remaining
	 * bytes; otherwise 0.
	 * A negative result ends this file there (truncated, damaged); records cut before it stay
	 * valid. Only further CUT_HEADERs follow a CUT_HEADER in the same call.
	 */
	int (*cut)(const struct source *s, unsigned file, struct unit *unit, const uint8_t *p,
		   size_t len, uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used,
		   size_t *ret_need);
	/*
	 * From now on, cut() may set CUT_UNWANTED for samples whose schema is unwanted at this
	 * moment and stays so. Called before anything is cut. Returns 1, 0 if no sample will be
	 * marked, -ENOMEM. NULL if the format marks none.
	 */
	int (*mark_unwanted)(struct source *s);
	/*
	 * Takes the records that describe the stream itself (CUT_HEADER), before any record after
	 * them is cut. Data that belong to the last one follow it in the window. Each record is
	 * passed once, in the order of the file; if it is cut again, it is CUT_AT_ONCE. NULL if the
	 * format has no such records.
	 */
	int (*take_header)(struct source *s, const struct cut *cuts, int nr);
	/*
	 * Makes at most max events from the records from cuts[*at] on. Moves *at after the last
	 * finished record; a record with further events is not finished. Returns the number of
	 * events, <0 on failure. 0 is not the end: *at has moved, and the caller calls again.
	 *
	 * Records that only become an event (usually samples) may be decoded ahead, several in one
	 * call. A record that does more (changes a state, counts a defect, depends on earlier
	 * records, fills scratch memory of the source) is decoded alone: the previous call ends in
	 * front of it, and its own call decodes nothing after it. So the same state holds for all
	 * events of a call, and all their values are available until the next call. The records
	 * after any event of a call may be decoded again. The exception are switches
	 * (CHANGE_SWITCH): they may be decoded ahead, too, each with a change that is valid until
	 * the next call.
	 *
	 * The caller sets the members that are the same for every event of a session (size,
	 * recording, source, owned, space), and comm and map_epoch; decode sets all others.
	 */
	int (*decode)(struct source *s, const struct cut *cuts, int nr, int *at, struct event *ret,
		      int max);
	/*
	 * Decodes ahead, like decode(), the samples from cuts[*at] on, up to the first record that
	 * cannot be decoded ahead. Omits unwanted samples. Called by the thread that cuts, while
	 * another thread may be in any function except take_header(). So it uses nothing that those
	 * functions change, and counts no defects. NULL if that thread decodes nothing.
	 */
	int (*decode_ahead)(struct source *s, const struct cut *cuts, int nr, int *at,
			    struct event *ret, int max);
	/*
	 * From now on, or until it is called with false, nobody asks for the values and the tasks
	 * of samples: decode() may omit them, their cpus, and the changes that they make. NULL if
	 * the source decodes nothing that it could omit.
	 */
	void (*omit_values)(struct source *s, bool omits);
	/*
	 * Gets all values of a sample. Scratch memory belongs to the source and is valid until the
	 * next call. NULL if samples have only the values in struct sonde_event.
	 */
	int (*sample)(struct source *s, const struct event *ev, struct sonde_sample *ret);
	/*
	 * Gets only the address and the period of a sample. If NULL, sample() provides them.
	 */
	void (*weigh)(struct source *s, const struct event *ev, uint64_t *ret_ip,
		      uint64_t *ret_period);
	/*
	 * Returns the number of entries of the chain, markers included; 0 without a chain. The
	 * entries are unaligned u64 in the recording's byte order. NULL if recordings of this
	 * format have no chains.
	 */
	int (*callchain)(struct source *s, const struct event *ev, const uint8_t **ret);
	/*
	 * The user frames of a sample that another record holds, for a sample without its own.
	 * Returns their number, 0 if there are none. *ret has their addresses in the form of a
	 * chain's entries, borrowed until the next call. The member is NULL if recordings of this
	 * format have no such records.
	 */
	int (*user_chain)(struct source *s, const struct event *ev, const uint8_t **ret);
	/* NULL if the format does not describe the kernel. */
	int (*kernel)(struct source *s, struct source_kernel *ret);
	/* NULL if the format does not contain the kernel's symbols. */
	int (*kallsyms)(struct source *s, struct source_kallsyms *ret);
	/*
	 * Finds the first build id recorded for a file; false if unknown. NULL if the format has no
	 * build ids.
	 */
	bool (*build_id)(struct source *s, const char *path, struct source_build_id *ret);
	/*
	 * The i-th build id of the host, in the order of the recording; false after the last.
	 * Events may add more. NULL if the format has no build ids.
	 */
	bool (*build_id_at)(struct source *s, size_t i, struct source_build_id *ret);
	/*
	 * The functions that the recording itself names for the file at path; NULL if there are
	 * none. Borrowed. The member is NULL if the format cannot name functions.
	 */
	const struct named_file *(*named_file)(struct source *s, const char *path);
	/*
	 * The recorded times of the first and last sample; false if the recording does not say.
	 * NULL if the format does not record them.
	 */
	bool (*span)(struct source *s, uint64_t *ret_first_ns, uint64_t *ret_last_ns);
	/*
	 * Counts AUX trace records and bytes seen so far (they are not decoded). NULL if the format
	 * has none.
	 */
	void (*traces)(struct source *s, uint64_t *ret_records, uint64_t *ret_bytes);
	/*
	 * Called after all records were decoded: reports facts that only all records together show.
	 * May be called again. NULL if there is nothing to report.
	 */
	void (*ended)(struct source *s);
	/* NULL if the format does not describe the clock. */
	void (*clock)(struct source *s, struct source_clock *ret);
	/* NULL if all traits are always false. */
	void (*traits)(struct source *s, struct source_traits *ret);
	/*
	 * Gets the report in a record; *ret does not change if there is none. NULL if the format
	 * has no such records.
	 */
	void (*report)(struct source *s, const struct event *ev, struct source_report *ret);
	/* The i-th group of event types; false after the last. NULL if there are no groups. */
	bool (*group_at)(struct source *s, size_t i, struct source_group *ret);
	/* The i-th fact, in the order of JSON's members; false after the last. NULL if none. */
	bool (*fact_at)(struct source *s, size_t i, struct source_fact *ret);
	/* See sonde_session_info(). NULL if the format has no such values. */
	const char *(*info)(struct source *s, const char *key);
	void (*close)(struct source *s);
};

struct source {
	const struct source_ops *ops;
};

/* Counts the header records at the end of the cuts of a call. */
static inline int source_count_headers(const struct cut *cuts, int nr)
{
	int n = 0;

	while (n < nr && cuts[nr - 1 - n].order == CUT_HEADER)
		n++;
	return n;
}

/* Passes the header records, which are the last cuts of a batch, to their source. */
static inline int source_take_headers(struct source *s, const struct cut *cuts, int nr)
{
	const int n = source_count_headers(cuts, nr);

	return n ? s->ops->take_header(s, cuts + nr - n, n) : 0;
}

/* All sources: table.def. */
#define SOURCE(name) extern const struct source_ops name##_source_ops;
#include "sources/table.def"
#undef SOURCE

/* ---- optional members ------------------------------------------------------------------------ */

static inline int source_mark_unwanted(struct source *s)
{
	return s->ops->mark_unwanted ? s->ops->mark_unwanted(s) : 0;
}

static inline void source_omit_values(struct source *s, bool omits)
{
	if (s->ops->omit_values)
		s->ops->omit_values(s, omits);
}

static inline bool source_has_sample_values(const struct source *s)
{
	return s->ops->sample != NULL;
}

/* If the member is NULL, a sample has only the values of its event. */
static inline int source_sample(struct source *s, const struct event *ev, struct sonde_sample *ret)
{
	if (s->ops->sample)
		return s->ops->sample(s, ev, ret);
	*ret = (struct sonde_sample){ .size = sizeof(*ret) };
	return 0;
}

/* Both are 0 if the sample is damaged. */
static inline void source_weigh(struct source *s, const struct event *ev, uint64_t *ret_ip,
				uint64_t *ret_period)
{
	struct sonde_sample sample;

	*ret_ip = *ret_period = 0;
	if (s->ops->weigh) {
		s->ops->weigh(s, ev, ret_ip, ret_period);
	} else if (source_sample(s, ev, &sample) >= 0) {
		*ret_ip = sample.ip;
		*ret_period = sample.period;
	}
}

static inline int source_callchain(struct source *s, const struct event *ev, const uint8_t **ret)
{
	return s->ops->callchain ? s->ops->callchain(s, ev, ret) : 0;
}

static inline int source_user_chain(struct source *s, const struct event *ev, const uint8_t **ret)
{
	return s->ops->user_chain ? s->ops->user_chain(s, ev, ret) : 0;
}

static inline int source_read_kernel(struct source *s, struct source_kernel *ret)
{
	*ret = (struct source_kernel){ 0 };
	return s->ops->kernel ? s->ops->kernel(s, ret) : 0;
}

/* The result is ended by source_kallsyms_done(). */
static inline int source_read_kallsyms(struct source *s, struct source_kallsyms *ret)
{
	*ret = (struct source_kallsyms){ 0 };
	return s->ops->kallsyms ? s->ops->kallsyms(s, ret) : 0;
}

static inline void source_kallsyms_done(struct source_kallsyms *k)
{
	free(k->unpacked);
	*k = (struct source_kallsyms){ 0 };
}

static inline bool source_find_build_id(struct source *s, const char *path,
					struct source_build_id *ret)
{
	return s->ops->build_id && s->ops->build_id(s, path, ret);
}

/* False if the format has no build ids. */
static inline bool source_has_build_ids(const struct source *s)
{
	return s->ops->build_id_at != NULL;
}

static inline bool source_build_id_at(struct source *s, size_t i, struct source_build_id *ret)
{
	return s->ops->build_id_at && s->ops->build_id_at(s, i, ret);
}

static inline const struct named_file *source_named_file(struct source *s, const char *path)
{
	return s->ops->named_file ? s->ops->named_file(s, path) : NULL;
}

static inline bool source_span(struct source *s, uint64_t *ret_first_ns, uint64_t *ret_last_ns)
{
	return s->ops->span && s->ops->span(s, ret_first_ns, ret_last_ns);
}

/* False if the format has no AUX trace records. */
static inline bool source_count_traces(struct source *s, uint64_t *ret_records, uint64_t *ret_bytes)
{
	*ret_records = *ret_bytes = 0;
	if (s->ops->traces)
		s->ops->traces(s, ret_records, ret_bytes);
	return s->ops->traces != NULL;
}

static inline void source_note_end(struct source *s)
{
	if (s->ops->ended)
		s->ops->ended(s);
}

static inline struct source_clock source_read_clock(struct source *s)
{
	struct source_clock c = { .id = -1, .reference_id = -1 };

	if (s->ops->clock)
		s->ops->clock(s, &c);
	return c;
}

static inline struct source_traits source_read_traits(struct source *s)
{
	struct source_traits t = { 0 };

	if (s->ops->traits)
		s->ops->traits(s, &t);
	return t;
}

static inline struct source_report source_read_report(struct source *s, const struct event *ev)
{
	struct source_report r = { .kind = REPORT_NONE };

	if (s->ops->report)
		s->ops->report(s, ev, &r);
	return r;
}

static inline bool source_fact_at(struct source *s, size_t i, struct source_fact *ret)
{
	return s->ops->fact_at && s->ops->fact_at(s, i, ret);
}

static inline bool source_group_at(struct source *s, size_t i, struct source_group *ret)
{
	return s->ops->group_at && s->ops->group_at(s, i, ret);
}

/* NULL if the recording does not say. */
static inline const char *source_info(struct source *s, const char *key)
{
	return s->ops->info ? s->ops->info(s, key) : NULL;
}

/* ---- sources.c ------------------------------------------------------------------------------- */

/*
 * Fails unless fd is a regular file that belongs to the reading user or to root. With force it may
 * belong to any user.
 */
struct stat;
int source_check_file(int fd, const char *path, bool force, struct stat *ret);
/*
 * Opens the file of an input, or takes its copy, and checks it. The caller owns *ret_fd, which is
 * set on failure, too: -1 if there is none.
 */
int source_open_file(const struct source_options *opts, int *ret_fd, uint64_t *ret_bytes);
/* For open() without memory: closes what the source would have owned. Returns -ENOMEM. */
int source_refuse_without_memory(const struct source_options *opts);
/* Opens the input with the first source that knows it. */
int source_open(struct source **ret, const struct source_options *opts);
/* The value of a fact; NULL if the recording does not say. */
const char *source_fact(struct source *s, const char *key);

#endif
