/* SPDX-License-Identifier: MIT */
/*
 * One input, and all that is known of it: its source, its order, who ran and what was mapped, its
 * clock, its kernel, its files. locate.h and code.h answer for addresses, text.h for the text of an
 * event.
 *
 *	struct recordings	what they share: texts, schemas, numbers, the line of time
 *	  v[0..nr)		struct recording: each has a state and files of its own
 *
 * Its source is opened first; its order when the windows of time are known, which may need times of
 * all recordings.
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
 * Options of all recordings of a session. Texts are borrowed from the session's options, or NULL if
 * not given.
 */
struct recording_options {
	const char *symfs, *kallsyms, *vmlinux, *buildid_dir;
	const struct rules *rules;
	enum clock_shown clock;
	bool no_follow, force, callchain, demangle, demangle_kernel, show_kernel_path,
		inline_frames;
	unsigned max_frames; /* of a chain; UINT_MAX: all */
	/*
	 * The caller's and those that read, one for each recording at most; 0: two where it pays.
	 */
	unsigned threads;
	struct comm_list stop_bt; /* functions that end a chain; owned; comms NULL: not given */
};

enum { RECORDING_BUILD_ID_TEXTS = 64, RECORDING_EVENTS = 256 };

struct recordings {
	struct recording *v; /* owned */
	size_t nr;           /* those that recording_add() made */
	struct recording_options opts;
	struct strpool strings;
	struct schema_table schemas;
	/* How often an unwanted schema was wanted again: batches decoded ahead before miss it. */
	atomic_uint wants;
	struct dso_ids dso_ids;
	struct state_numbers numbers; /* of tasks and names */
	struct timeline line;
	struct defects sum;           /* of several; of one recording: its own, here unused */
	struct sonde_defect borrowed; /* recordings_defect() */
	uint64_t nomem_seen;          /* err_nomem_count() when it was last looked at ... */
	const void *nomem_thread;     /* ... and the thread whose count that was */
};

struct recording {
	struct recordings *all;
	const struct recording_options *opts; /* of all */
	struct strpool *strings;              /* of all */
	struct sonde_session *session;        /* the owner, for api/ and session/ alone */
	unsigned nr;                          /* which one, from 0 */
	char *input;                          /* owned: its path */
	char *offset;                         /* owned: what is added to its times; NULL: nothing */

	/* The way of its events. */
	struct source *source;
	struct order *order;       /* the reader's while that runs */
	struct reader *reader;     /* owned; NULL: the caller's thread reads */
	bool is_reading;           /* what thread reads is decided */
	bool has_raw_records;      /* they are read beside the order: by no other thread */
	struct early_filter early; /* windows in its own clock, owned; cpus, borrowed */
	struct recording_clock clock;
	bool checks_boot; /* whether it is of the first one's boot is to be seen in its records */
	struct state state;
	size_t schemas_asked; /* the first ones: whether their recorder recorded exec */
	struct defects defects;
	struct defects read_defects;  /* met since the last batch; of a reader: its thread's */
	struct sonde_defect reported; /* the kind that the current defect event reports */
	bool is_stream;               /* the input is a pipe: more may come at any time */
	/* Any sample was met, also one that the filters refused; or a count of perf stat. */
	bool met_sample;
	bool has_ended; /* nothing is left to read: the source's ended() was called */
	/* For progress; total 0: unknown. Unpacking may go on in another thread. */
	uint64_t samples_read;
	_Atomic uint64_t packed_done, packed_total;
	void (*progress)(void *ctx);
	void *progress_ctx;
	atomic_int *stopped; /* the session's */

	/*
	 * The batch being delivered: cuts in their order, from cut_at on not yet decoded; and the
	 * events decoded last, from event_at on not yet admitted.
	 */
	const struct cut *cuts;
	int nr_cuts, cut_at;
	struct event *events; /* own_events, or decoded ahead; the caller borrows them */
	int nr_events, event_at, decode_max; /* decode_max: a power of 2 */
	struct event *own_events;            /* owned, RECORDING_EVENTS */
	const struct reader_batch *ahead;    /* the reader's batch; NULL none */
	int stretch_at;                      /* of its stretches: none of those before is used */
	struct event defect_event;           /* borrowed */

	/* Its kernel. */
	struct kernel_formats kernel_formats;
	struct kallsyms *kernel_symbols;
	bool kernel_symbols_tried;
	const char *kernel_path; /* of the file that they are out of; NULL: none */
	struct printk_formats printk;
	bool printk_tried;

	/* Its files and their symbols; made when first asked for, NULL until then. */
	struct located *located;      /* owned; answers of recording_located() */
	uint64_t last_answer;         /* sonde_location.answer */
	struct sonde_location unkept; /* an answer that is not in located */
	/* DEFECT_UNKNOWN_SYMBOLS was counted for an address without mapping */
	bool reported_unmapped;
	struct dso_table *dsos;
	struct lines_table *lines;
	struct insn_decoder *insns;
	struct dso *insn_dso; /* the file whose machine is insn_arch */
	enum insn_arch insn_arch;
	/* Texts that were made for sonde.h, by the id's first byte. */
	struct build_id_text {
		struct build_id id;
		const char *text; /* of the string pool */
	} build_ids[RECORDING_BUILD_ID_TEXTS];

	/* Its call chains. */
	struct unwinder *unwinder;
	const struct unwind_arch *unwind_archs[2]; /* by samples' ABI, 32 and 64 bits */
	bool unwind_archs_known;
	uint64_t unwindable_stamp; /* the mappings that chain_perf_unwinds() saw last, */
	bool unwindable;           /* and its answer */
	VEC(struct sonde_frame) frames;
	VEC(int32_t) sockets; /* by cpu; recording_socket() */
	bool sockets_known;
	bool chain_is_cut; /* the last one's outermost frames are missing, or may be */

	const struct event *printing; /* whose text is made: text.c */
};

/* ---- opening (recording.c) ------------------------------------------------------------------- */

/* Room for nr recordings, none of them yet there. */
int recordings_init(struct recordings *all, size_t nr);
/* Closes them; what they share is freed last. */
void recordings_done(struct recordings *all);
/*
 * The next of all: take_input and take_offset (NULL: none) become its own, whether this succeeds or
 * not.
 */
int recording_add(struct recordings *all, char *take_input, char *take_offset,
		  struct sonde_session *session, struct recording **ret);
/*
 * The recording that reads the file of that path although it was named by another path: by its
 * folder or by another of its files. NULL if there is none.
 */
struct recording *recordings_find_reader(const struct recordings *all, const char *path);
/* Opens the input; opts: what source.h asks, without what the recording knows itself. */
int recording_open(struct recording *rec, const struct source_options *opts, bool finds_formats);
/* Ready to be read; sharers: so many recordings share the memory of windows. */
int recording_open_order(struct recording *rec, const struct order_options *opts);
/*
 * The next batch, in the order of times: rec->cuts. Returns as order_next(); -EINTR also if a
 * signal came. by_record: the caller decodes its records one by one.
 */
int recording_next_batch(struct recording *rec, bool by_record);
/*
 * The next events of the batch: rec->events, of which there are 0 if records without one were
 * passed. Returns how many, <0 failure.
 */
int recording_decode(struct recording *rec);
/* As order_progress() and order_stats(), for the batch at hand. */
void recording_progress(const struct recording *rec, uint64_t *done, uint64_t *total);
struct order_stats recording_order_stats(const struct recording *rec);
/* The times of its first and last sample, as recorded. */
int recording_find_span(struct recording *rec, size_t window_bytes, struct time_span *ret);

/* ---- questions about all of it --------------------------------------------------------------- */

/* See sonde_session_info(). */
const char *recording_info(const struct recording *rec, const char *key);
/* The socket of a cpu of the recorded machine; -1 unknown. */
int32_t recording_socket(struct recording *rec, int32_t cpu);
/* The path of a control group as of now; NULL unknown. Borrowed as long as the session. */
const char *recording_cgroup(const struct recording *rec, uint64_t id);
/*
 * As sonde.h has it: hex, "" if it is unknown or memory ran out. Borrowed as long as the session.
 */
const char *recording_build_id(struct recording *rec, const struct build_id *id);
/*
 * Makes a defect of allocations that failed in this thread since the last call, whoever went on
 * without them.
 */
void recordings_note_memory(struct recordings *all);
/*
 * The defects of all: those of several are added up, each with its recording. Borrowed until the
 * next call.
 */
const struct defects *recordings_defects(struct recordings *all);
/* The i-th kind that was met; NULL behind the last. Borrowed until the next call. */
const struct sonde_defect *recordings_defect(struct recordings *all, size_t i);

/* Every event of the batch in memory has been admitted. */
static inline bool recording_is_drained(const struct recording *rec)
{
	return rec->cut_at == rec->nr_cuts && rec->event_at == rec->nr_events;
}

/* What the state knows as of the event: the name of such a task, and the mappings that hold. */
static inline int recording_complete_as(struct event *ev, int32_t pid, int32_t tid)
{
	struct state *state = &ev->recording->state;

	ev->pub.map_epoch = state->map_epoch;
	return state_comm(state, pid, tid, &ev->pub.comm);
}

/*
 * An event that names no task is of the one that runs on its cpu, as far as it is known. If it has
 * a change of its own, this is for before that is applied.
 */
static inline void recording_find_task(struct event *ev)
{
	if (ev->pub.tid == -1)
		state_running(&ev->recording->state, ev->pub.cpu, &ev->pub.pid, &ev->pub.tid);
}

/* The same of the event's own task. */
static inline int recording_complete(struct event *ev)
{
	if (__builtin_expect(ev->pub.tid == -1, 0) && !ev->change)
		recording_find_task(ev);
	return recording_complete_as(ev, ev->pub.pid, ev->pub.tid);
}

/*
 * A time as recorded, as it is shown (timeline.h). SONDE_NO_TIME, and 0 without has_time_zero, say
 * that there is none.
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
