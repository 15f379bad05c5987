/* SPDX-License-Identifier: MIT */
/*
 * A source: one kind of input. Two steps, always: `cut` finds where records begin and end and peeks
 * their time, nothing more (order/ calls it, maybe twice for the same bytes); `decode` makes events
 * of a record once its turn has come. sources/table.def lists all sources. Sources never know
 * sinks.
 */
#ifndef SONDE_SOURCES_SOURCE_H
#define SONDE_SOURCES_SOURCE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "compat/rules.h"
#include "model/defects.h"
#include "model/event.h"
#include "model/named_file.h"
#include "sources/stream.h"

/*
 * A page or packet that records are in: their time and place depend on it besides their own bytes.
 * cut() begins with all members 0, in front of the first unit of a file, and continues where it
 * stopped: len 0 means that no unit has begun. Sources whose records need no unit leave it alone.
 */
struct unit {
	uint64_t off;       /* of the unit in the file */
	uint64_t time_base; /* where cut() stopped: the time that the next difference is added to */
	const void *ctx;    /* the source's; lives as long as it does */
	uint32_t len;       /* of the unit with its header; 0: none */
	int32_t cpu;
};

/* One unit at two places in it. */
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
	 * What the record is in, NULL if it explains itself. Set by order/, which keeps it as long
	 * as `bytes`. Its time_base means nothing here.
	 */
	const struct unit *unit;
};

enum cut_order {
	CUT_ORDERED = 0, /* delivered in the order of its time */
	CUT_AT_ONCE = 1, /* acts when it is read (no time) */
	CUT_ROUND = 2,   /* the recorder finished a pass over its buffers */
	CUT_HEADER = 3   /* of the stream: goes to take_header(), then acts as AT_ONCE does */
};
enum cut_flags {
	CUT_LATE = 1, /* set by order/ */
	/* A sample that nothing else depends on: a filter may refuse it before it is ordered. */
	CUT_STATELESS = 2,
	CUT_SAMPLE = 4
};

/* A tracepoint that the recording does not describe. */
struct source_tracepoint {
	uint64_t id;
	const char *name;    /* NULL if the recording does not say */
	const char *release; /* of the recorded kernel; NULL if the recording does not say */
};

struct source_options {
	const char *path;
	size_t window_bytes;
	bool force;
	bool unordered; /* records are delivered in the order of the file */
	/*
	 * The caller wants records as they are stored: their places in a compressed file are kept,
	 * and samples that the rules leave out are events (struct event, is_left_out).
	 */
	bool raw_records;
	const struct rules *rules;
	/* Read in place of path; NULL: none. open takes it over, even if it fails. */
	struct stream *stream;
	/*
	 * Looks elsewhere for the description of such a tracepoint, whose machine has this one's
	 * byte order. 0 and text borrowed until the next call; <0 with a message if there is none.
	 * NULL: tracepoints stay undescribed.
	 */
	int (*find_format)(void *ctx, const struct source_tracepoint *wanted,
			   const char **ret_system, struct bytes *ret);
	void *find_format_ctx;
	/* Bytes that a packed or compressed recording may unpack to; 0: the limit of unpacked.h. */
	uint64_t max_unpacked;
	uint64_t packed_bytes; /* the size of the packed file that fd was unpacked from; 0: not */
	/* The path is packed or a pipe: fd, the source's, is a file with what was in it. */
	bool is_copied;
	int fd;
	atomic_int *stopped; /* set when waiting for a stream is to end */
	/*
	 * Called while a packed input is read, with the packed bytes read so far; total is 0 if
	 * not known. NULL if nobody asks.
	 */
	void (*on_packed)(void *ctx, uint64_t done, uint64_t total);
	void *on_packed_ctx;
	struct schema_table *schemas; /* where the source's schemas go */
	struct defects *defects;
	/*
	 * What cut() and the reading of streams count, which may go on in another thread
	 * (recording/reader.h). NULL: the same as defects.
	 */
	struct defects *read_defects;
};

/* One input file as order/ reads it: a file descriptor and the range that holds records. */
struct source_file {
	int fd;                /* the source's */
	const char *path;      /* for messages */
	uint64_t begin, end;   /* bytes; end was the size seen at open, UINT64_MAX for a stream */
	struct stream *stream; /* of a pipe, read in place of fd; NULL: a file */
	/*
	 * Its records are in the order of their times: the file is read once, side by side with the
	 * others. Only where the writer guarantees it: an older record behind a newer one is
	 * delivered late.
	 */
	bool is_monotonic;
	/*
	 * A monotonic stream, one of several that are read while they are written: none of them is
	 * waited for as long as another one has records (order.h).
	 */
	bool is_growing;
};

/*
 * What a recording holds of its kernel; members are NULL and 0 when it does not say. Borrowed from
 * the source.
 */
struct source_kernel {
	struct build_id build_id;
	const char *name;              /* of its file, when it is not "[kernel.kallsyms]" */
	const char *kallsyms, *printk; /* text, not NUL-terminated */
	size_t kallsyms_len, printk_len;
};

/* A file's build id as the recording's own list has it. */
struct source_build_id {
	const char *path; /* borrowed from the source */
	struct build_id id;
	bool is_kernel; /* of the kernel or of a module of it */
};

/* What a recording says of its clock. */
struct source_clock {
	bool is_known; /* there are events, which say it */
	int32_t id;    /* CLOCK_*; -1: the kernel's own */
	bool has_resolution, has_reference;
	uint64_t resolution_ns;
	int32_t reference_id;       /* the clock of these, which should be the same: */
	uint64_t wall_ns, clock_ns; /* one moment as time of day and in the clock */
};

/* What a record reports about the recording of an event type. */
enum source_report_kind {
	REPORT_NONE,
	REPORT_LOST,       /* counted by a buffer that several event types share */
	REPORT_LOST_EXACT, /* counted by the event type; where any does, REPORT_LOST counts twice */
	REPORT_THROTTLED
};
struct source_report {
	enum source_report_kind kind;
	const struct sonde_schema *schema; /* NULL if the record does not say */
	uint64_t lost;
};

/*
 * One thing that a recording says of itself, for sonde info and the heads of JSON outputs. Values
 * about the host are borrowed from the source, others until the next call.
 */
enum source_fact_form {
	FACT_TEXT,
	FACT_NUMBER, /* digits that JSON takes as they are */
	FACT_FLAG,   /* "true" or "false" */
	FACT_WORDS   /* separated by blanks; in JSON an array, in which digits are numbers */
};
enum source_fact_about {
	FACT_FILE,
	FACT_HOST,     /* and the recorder */
	FACT_TEXT_ONLY /* not a member of JSON outputs */
};
/*
 * Keys that the text of sonde info has words for: kind ("pipe", "stream", "directory", "file";
 * without a value perf.data's file mode or, of several files, a directory), changed (seconds since
 * 1970), compressed, memory_kb; of the host hostname, osrelease, recorder, arch, cpudesc, cmdline,
 * nrcpus_online, nrcpus_available, byte_order, long_bytes. It prints others that have a label as a
 * line of their own. It reports a key without a value as missing, and no key that is not listed.
 */
struct source_fact {
	const char *key;   /* of JSON's member */
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
	bool has_counts;      /* counters read now and then (perf stat), not samples */
	bool has_fixed_types; /* event types are those of the format, the same in every recording */
	bool reports_types;   /* losses and throttling are reported for event types */
	bool has_time_zero;   /* a time of 0 is a time; else it means that the time is unknown */
};

/* A recorded group of event types. */
struct source_group {
	const char *name; /* not NUL-terminated; empty if the group has none */
	size_t name_len;
	const struct sonde_schema *const *members; /* valid as long as the source; leader first */
	size_t nr_members;
};

/*
 * What every input has. Members that may be NULL are called by the functions below the struct,
 * never directly. What only one kind of input has is in that input's own view
 * (sources/perfdata/view.h).
 */
struct source_ops {
	const char *name, *summary; /* "perf.data"; a line for help */
	/* Looks at the first bytes of the input: 0 = not mine, 100 = certain. */
	int (*probe)(const uint8_t *head, size_t len);
	/*
	 * The name of the file in a directory whose first bytes probe() wants; 1, or 0 if the
	 * directory has no such file. NULL: its recordings are never directories.
	 */
	int (*head_file)(int dir, char ret[NAME_MAX + 1]);
	int (*open)(struct source **ret, const struct source_options *opts);
	/* Input that begins so can be read from front to back, as a stream. NULL: none can. */
	bool (*streams)(const uint8_t *head, size_t len);
	/* The i-th file; false behind the last. */
	bool (*file)(struct source *s, unsigned i, struct source_file *ret);
	/*
	 * Cuts records from p[0..len), which is at file_off of file i, into at most max cuts;
	 * returns how many. The same bytes may be cut again: nothing but *unit changes, and
	 * defects are counted.
	 * *unit: where the call before stopped, and where this one does. All cuts of a call are of
	 * the unit that it ends with.
	 * *ret_used: bytes done with; may exceed len where data that is no record follows a record.
	 * *ret_need: the length of the next record (>= 1) if it does not fit into the bytes left;
	 * else 0.
	 * A negative result ends this file there (truncated, damaged); records cut before it stay
	 * valid. Only further CUT_HEADERs follow a CUT_HEADER in the same call.
	 */
	int (*cut)(const struct source *s, unsigned file, struct unit *unit, const uint8_t *p,
		   size_t len, uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used,
		   size_t *ret_need);
	/*
	 * Takes the records that describe the stream itself (CUT_HEADER), before any record behind
	 * them is cut. The bytes that belong to the last one are in the window behind it. Called
	 * once for each record, in the order of the file: afterwards cut() calls it CUT_AT_ONCE.
	 * NULL if there are none.
	 */
	int (*take_header)(struct source *s, const struct cut *cuts, int nr);
	/*
	 * Makes at most max events of the records from cuts[*at] on, and moves *at behind the last
	 * record that is done with; a record with further events is not. Returns the number of
	 * events, or a negative value. 0 is no end: *at has moved, and the caller asks again.
	 *
	 * Records that only become an event (samples, as a rule) may be decoded ahead, several in
	 * a call. A record that does more than that (changes a state, counts a defect, depends on
	 * records before it, fills scratch memory of the source) is decoded alone: the call before
	 * ends in front of it, and its own call decodes nothing behind it. So until the next call
	 * every event of a call can be asked everything, in the state that holds for all of them;
	 * and the records behind any event of a call may be decoded again.
	 *
	 * Members that are the same for every event of a session (size, recording, source, owned,
	 * space) are the caller's; decode sets all others, comm and map_epoch excepted.
	 */
	int (*decode)(struct source *s, const struct cut *cuts, int nr, int *at, struct event *ret,
		      int max);
	/*
	 * Decodes ahead, as decode() does, the samples from cuts[*at] on up to the first record
	 * that is not decoded ahead; leaves unwanted ones out. Called by the thread that cuts,
	 * while another one may be in any function but take_header(): uses nothing that these
	 * change, and counts no defect. NULL: nothing is decoded there.
	 */
	int (*decode_ahead)(struct source *s, const struct cut *cuts, int nr, int *at,
			    struct event *ret, int max);
	/*
	 * All sample values; scratch memory is the source's and lives until its next call. NULL if
	 * samples have no values but those of struct sonde_event.
	 */
	int (*sample)(struct source *s, const struct event *ev, struct sonde_sample *ret);
	/*
	 * The address and the period of a sample, without its other values. NULL: sample() is asked
	 * for them.
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
	/* NULL if such recordings say nothing of the kernel. */
	int (*kernel)(struct source *s, struct source_kernel *ret);
	/*
	 * The first build id recorded for a file; false: unknown. NULL: such recordings have none.
	 */
	bool (*build_id)(struct source *s, const char *path, struct source_build_id *ret);
	/*
	 * The i-th of the host's, in the order of the recording; false behind the last. More may
	 * come with the events. NULL if such recordings have none.
	 */
	bool (*build_id_at)(struct source *s, size_t i, struct source_build_id *ret);
	/*
	 * Functions that the recording itself names in the file of that path; NULL if it names
	 * none. Borrowed. The member is NULL if such recordings never name any.
	 */
	const struct named_file *(*named_file)(struct source *s, const char *path);
	/*
	 * The times of the first and last sample as the recording says them; false: it does not.
	 * NULL: never does.
	 */
	bool (*span)(struct source *s, uint64_t *ret_first_ns, uint64_t *ret_last_ns);
	/*
	 * Counts AUX trace records and bytes seen so far (they are not decoded). NULL if the format
	 * has none.
	 */
	void (*traces)(struct source *s, uint64_t *ret_records, uint64_t *ret_bytes);
	/*
	 * Called after every record was decoded: reports what only all records together show. May
	 * be called again. NULL: nothing to report.
	 */
	void (*ended)(struct source *s);
	/* NULL: such recordings say nothing of it. */
	void (*clock)(struct source *s, struct source_clock *ret);
	/* NULL if none of them ever holds. */
	void (*traits)(struct source *s, struct source_traits *ret);
	/*
	 * What a record reports; *ret is left alone if it reports nothing. NULL if no record does.
	 */
	void (*report)(struct source *s, const struct event *ev, struct source_report *ret);
	/* The i-th group of event types; false behind the last. NULL: there are none. */
	bool (*group_at)(struct source *s, size_t i, struct source_group *ret);
	/* The i-th fact, in the order of JSON's members; false behind the last. NULL: none. */
	bool (*fact_at)(struct source *s, size_t i, struct source_fact *ret);
	/* See sonde_session_info(). NULL if such recordings say none of it. */
	const char *(*info)(struct source *s, const char *key);
	void (*close)(struct source *s);
};

struct source {
	const struct source_ops *ops;
};

/* How many of the cuts, which are the last ones of a call, are header records. */
static inline int source_count_headers(const struct cut *cuts, int nr)
{
	int n = 0;

	while (n < nr && cuts[nr - 1 - n].order == CUT_HEADER)
		n++;
	return n;
}

/* Hands the header records of a batch, which are its last, to their source. */
static inline int source_take_headers(struct source *s, const struct cut *cuts, int nr)
{
	const int n = source_count_headers(cuts, nr);

	return n ? s->ops->take_header(s, cuts + nr - n, n) : 0;
}

/* All there are: table.def. */
#define SOURCE(name) extern const struct source_ops name##_source_ops;
#include "sources/table.def"
#undef SOURCE

/* ---- optional members ------------------------------------------------------------------------ */

static inline bool source_has_sample_values(const struct source *s)
{
	return s->ops->sample != NULL;
}

/* Without the member: a sample has no values but those of its event. */
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

static inline bool source_find_build_id(struct source *s, const char *path,
					struct source_build_id *ret)
{
	return s->ops->build_id && s->ops->build_id(s, path, ret);
}

/* False if such recordings never have build ids. */
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

/* False if such recordings never have any. */
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

/* A regular file of whoever reads it, or of root; force: of anybody. */
struct stat;
int source_check_file(int fd, const char *path, bool force, struct stat *ret);
/* Opens the input with the first source that knows it. */
int source_open(struct source **ret, const struct source_options *opts);
/* The value of a fact; NULL if the recording does not say. */
const char *source_fact(struct source *s, const char *key);

#endif
