/* SPDX-License-Identifier: MIT */
/*
 * One input, and everything known about it: source, order, state (tasks and mappings), clock,
 * kernel and files. locate.h and code.h answer questions about addresses, text.h prints the text of
 * an event.
 *
 *	struct recordings	shared data: texts, schemas, numbers, the line of time
 *	  v[0..nr)		struct recording: each has a state and files of its own
 *
 * The source is opened first. The order is opened when the windows of time are known; they may
 * depend on the times of all recordings.
 */
#ifndef SONDE_RECORDING_RECORDING_H
#define SONDE_RECORDING_RECORDING_H

#include "base/build_id.h"
#include "base/outbuf.h"
#include "base/saturate.h"
#include "base/strpool.h"
#include "compat/rules.h"
#include "filters/early.h"
#include "filters/comm_list.h"
#include "formats/tracefs/printk.h"
#include "model/defects.h"
#include "model/event.h"
#include "model/printfmt/printfmt.h"
#include "model/schema_table.h"
#include "order/order.h"
#include "recording/kernel_formats.h"
#include "recording/reader.h"
#include "recording/timeline.h"
#include "sources/source.h"
#include "state/state.h"
#include "symbols/dso.h"
#include "symbols/insn.h"
#include "symbols/kernel.h"
#include "symbols/lines.h"
#include "unwind/unwind.h"

/*
 * Options of all recordings of a session. Texts are borrowed from the session's options; NULL if
 * not given.
 */
struct recording_options {
	const char *symfs, *kallsyms, *vmlinux, *buildid_dir;
	const struct rules *rules;
	enum clock_shown clock;
	bool no_follow, force, callchain, demangle, demangle_kernel, show_kernel_path,
		inline_frames, stitch_lbr;
	unsigned max_frames; /* limit for a chain; UINT_MAX if there is none */
	/*
	 * The caller's thread plus the reading threads, at most one for each recording. 0: two, if
	 * the input is long enough and there are two cpus.
	 */
	unsigned threads;
	/* owned; functions that end a chain; comms is NULL if not given */
	struct comm_list stop_bt;
};

enum { RECORDING_BUILD_ID_TEXTS = 64, RECORDING_EVENTS = 256 };

struct recordings {
	struct recording *v; /* owned */
	size_t nr;           /* recordings made by recording_add() */
	struct recording_options opts;
	struct strpool strings;
	struct schema_table schemas;
	/*
	 * Counts how often an unwanted schema became wanted again. Batches that were decoded ahead
	 * before that miss its samples.
	 */
	atomic_uint wants;
	struct dso_ids dso_ids;
	struct state_numbers numbers; /* of tasks and names */
	struct timeline line;
	struct defects sum;           /* of several recordings; unused if there is only one */
	struct sonde_defect borrowed; /* the last result of recordings_defect() */
	uint64_t nomem_seen;          /* err_nomem_count() at the last check ... */
	const void *nomem_thread;     /* ... and the thread to which this count belongs */
};

struct recording {
	struct recordings *all;
	const struct recording_options *opts; /* shared by all recordings */
	struct strpool *strings;              /* shared by all recordings */
	struct sonde_session *session;        /* the owner, for api/ and session/ only */
	unsigned nr;                          /* index in recordings.v */
	char *input;                          /* owned; its path */
	char *offset;                         /* owned; text of the offset of its times, or NULL */

	/* The path of its events. */
	struct source *source;
	struct order *order;       /* used by the reader alone while it runs */
	struct reader *reader;     /* owned; NULL if the caller's thread reads */
	bool is_reading;           /* recording_start_reader() has chosen the reading thread */
	bool has_raw_records;      /* raw records are read, too: no reader thread is started */
	struct early_filter early; /* windows in its own clock, owned; cpus, borrowed */
	struct recording_clock clock;
	/* clock_check_boot() is still to be called, once records have been read */
	bool checks_boot;
	struct state state;
	size_t schemas_asked; /* number of schemas checked for marks of exec */
	struct defects defects;
	struct defects read_defects;  /* since the last batch; used by the reader while it runs */
	struct sonde_defect reported; /* the kind that the current defect event reports */
	bool is_stream;               /* the input is a pipe: data may arrive at any time */
	/* A sample, maybe one that the filters refused, or a count of perf stat was read. */
	bool met_sample;
	bool has_ended; /* nothing is left to read: the source's ended() was called */
	/* For progress; total is 0 if unknown. Another thread may be unpacking. */
	uint64_t samples_read;
	_Atomic uint64_t packed_done, packed_total;
	void (*progress)(void *ctx);
	void *progress_ctx;
	atomic_int *stopped; /* the session's */
	const _Atomic uint64_t *wake_ns;

	/*
	 * The batch being delivered. cuts are in time order; those from cut_at on are not yet
	 * decoded. events were decoded last; those from event_at on are not yet admitted.
	 */
	const struct cut *cuts;
	int nr_cuts, cut_at;
	struct event *events; /* own_events, or events decoded ahead; the caller borrows them */
	int nr_events, event_at, decode_max; /* decode_max: a power of 2 */
	struct event *own_events;            /* owned; room for RECORDING_EVENTS */
	const struct reader_batch *ahead;    /* the reader's batch; NULL if there is none */
	int stretch_at;                      /* the first stretch of it that may still be used */
	struct event defect_event;           /* borrowed */

	/* Its kernel. */
	struct kernel_formats kernel_formats;
	struct kallsyms *kernel_symbols;
	bool kernel_symbols_tried;
	const char *kernel_path; /* of the file with the kernel's symbols; NULL if there is none */
	struct printk_formats printk;
	bool printk_tried;

	/* Its files and their symbols; made at their first use, NULL until then. */
	struct located *located; /* owned; answers of recording_located() */
	uint32_t nr_located, nr_replaced;
	uint64_t last_answer;         /* the newest sonde_location.answer */
	struct sonde_location unkept; /* an answer that is not in located */
	/* DEFECT_UNKNOWN_SYMBOLS was counted for an address without mapping */
	bool reported_unmapped;
	struct dso_table *dsos;
	struct lines_table *lines;
	struct insn_decoder *insns;
	struct dso *insn_dso; /* the file whose machine is insn_arch */
	enum insn_arch insn_arch;
	/* A cache of build id texts for sonde.h, indexed by the id's first byte. */
	struct build_id_text {
		struct build_id id;
		const char *text; /* in the string pool */
	} build_ids[RECORDING_BUILD_ID_TEXTS];

	/* Its call chains. */
	struct unwinder *unwinder;
	struct stitches *stitches; /* owned; stitch.c; NULL if no call stack was joined */
	const struct unwind_arch *unwind_archs[2]; /* by samples' ABI, 32 and 64 bits */
	bool unwind_archs_known;
	uint64_t unwindable_stamp; /* stamp of the last mappings in chain_perf_unwinds() ... */
	bool unwindable;           /* ... and the answer for them */
	VEC(struct sonde_frame) frames;
	VEC(int32_t) sockets; /* by cpu; for recording_socket() */
	bool sockets_known;
	bool chain_is_cut; /* the last chain's outermost frames are or may be missing */

	const struct event *printing; /* the event that text.c prints */
};

/* ---- opening (recording.c) ------------------------------------------------------------------- */

/* Makes room for nr recordings; recording_add() adds them. */
int recordings_init(struct recordings *all, size_t nr);
/* Closes all recordings, then frees the data that they share. */
void recordings_done(struct recordings *all);
/*
 * Adds the next recording. It takes ownership of take_input and take_offset (NULL if there is no
 * offset), even on failure.
 */
int recording_add(struct recordings *all, char *take_input, char *take_offset,
		  struct sonde_session *session, struct recording **ret);
/*
 * The recording that reads the file at this path, although its input is another path: the file's
 * folder, or another file of the recording. NULL if there is none.
 */
struct recording *recordings_find_reader(const struct recordings *all, const char *path);
/* Opens the input. opts: the source's options, except those that the recording sets itself. */
int recording_open(struct recording *rec, const struct source_options *opts, bool finds_formats);
/* Opens the order; afterwards the recording can be read. */
int recording_open_order(struct recording *rec, const struct order_options *opts);
/*
 * From now on, reading may pass over samples of schemas that are unwanted at this moment: they must
 * stay so. Returns 1, 0 if the input does not allow it or reading has begun, -ENOMEM.
 */
int recording_pass_over(struct recording *rec);
/*
 * Gets the next batch, in the order of times, in rec->cuts. Returns what order_next() returns; also
 * -EINTR if a signal arrived. by_record: the caller decodes the records one by one.
 */
int recording_next_batch(struct recording *rec, bool by_record);
/*
 * Decodes the next events of the batch into rec->events. Returns their number, <0 on failure. 0 if
 * none of the records had an event.
 */
int recording_decode(struct recording *rec);
/* Like order_progress() and order_stats(), for the current batch. */
void recording_progress(const struct recording *rec, uint64_t *done, uint64_t *total);
struct order_stats recording_order_stats(const struct recording *rec);
/* Finds the recorded times of the first and last sample. */
int recording_find_span(struct recording *rec, size_t window_bytes, struct time_span *ret);

/* ---- questions about a recording ------------------------------------------------------------- */

/* See sonde_session_info(). */
const char *recording_info(const struct recording *rec, const char *key);
/* The socket of a cpu of the recorded machine; -1 if unknown. */
int32_t recording_socket(struct recording *rec, int32_t cpu);
/* The current path of a control group; NULL if unknown. Borrowed as long as the session. */
const char *recording_cgroup(const struct recording *rec, uint64_t id);
/*
 * The text form of sonde.h: hex, "" if the id is unknown or memory ran out. Borrowed as long as the
 * session.
 */
const char *recording_build_id(struct recording *rec, const struct build_id *id);
/*
 * Counts a defect if allocations failed in this thread since the last call. Their callers continued
 * without the memory.
 */
void recordings_note_memory(struct recordings *all);
/*
 * The defects of all recordings. With several recordings their counts are added up, and the text
 * lists each recording. Borrowed until the next call.
 */
const struct defects *recordings_defects(struct recordings *all);
/* The i-th kind of defect that occurred; NULL after the last. Borrowed until the next call. */
const struct sonde_defect *recordings_defect(struct recordings *all, size_t i);

/* Every event of the batch in memory has been admitted. */
static inline bool recording_is_drained(const struct recording *rec)
{
	return rec->cut_at == rec->nr_cuts && rec->event_at == rec->nr_events;
}

/* Sets the event's name of a task, and the epoch of the mappings, from the current state. */
static inline int recording_complete_as(struct event *ev, int32_t pid, int32_t tid)
{
	struct state *state = &ev->recording->state;

	ev->pub.map_epoch = state->map_epoch;
	return state_comm(state, pid, tid, &ev->pub.comm);
}

/*
 * An event that names no task belongs to the task that runs on its cpu, if that is known. For an
 * event that is itself a change, call this before the change is applied.
 */
static inline void recording_find_task(struct event *ev)
{
	if (ev->pub.tid == -1)
		state_running(&ev->recording->state, ev->pub.cpu, &ev->pub.pid, &ev->pub.tid);
}

/* recording_complete_as() with the event's own task. */
static inline int recording_complete(struct event *ev)
{
	if (__builtin_expect(ev->pub.tid == -1, 0) && !ev->change)
		recording_find_task(ev);
	return recording_complete_as(ev, ev->pub.pid, ev->pub.tid);
}

/*
 * Converts a recorded time into the shown time (timeline.h). SONDE_NO_TIME, and 0 without
 * has_time_zero, mean that there is no time; they stay as they are.
 */
static inline uint64_t recording_shown_time(const struct recording *rec, uint64_t time_ns)
{
	const struct timeline *line = &rec->all->line;
	int64_t shown;

	if (!rec->clock.is_shifted || (!time_ns && !rec->clock.has_time_zero) ||
	    time_ns == SONDE_NO_TIME)
		return time_ns;
	shown = saturate_sub(saturate_add(saturate_signed(time_ns), rec->clock.shift_ns),
			     line->zero_ns);
	return line->waits || shown < 0 ? 0 : (uint64_t)shown;
}

#endif
