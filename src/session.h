/* SPDX-License-Identifier: MIT */
/* What the files that implement sonde.h know of a session; sinks use the functions at the end. */
#ifndef SONDE_SESSION_H
#define SONDE_SESSION_H

#include <stdatomic.h>

#include "base/outbuf.h"
#include "base/saturate.h"
#include "base/strpool.h"
#include "clock.h"
#include "dlfilter.h"
#include "filters/early.h"
#include "filters/event_names.h"
#include "filters/event_switch.h"
#include "filters/late.h"
#include "filters/place.h"
#include "formats/tracefs/printk.h"
#include "kernel_formats.h"
#include "model/defects.h"
#include "model/event.h"
#include "model/printfmt/printfmt.h"
#include "order/order.h"
#include "refused.h"
#include "session_options.h"
#include "sources/source.h"
#include "state/state.h"
#include "symbols/dso.h"
#include "symbols/insn.h"
#include "symbols/kernel.h"
#include "symbols/lines.h"
#include "unwind/unwind.h"

struct sonde_session {
	unsigned refs; /* the caller's, and one for each event it keeps */
	/*
	 * Several recordings: a session for each, which is a part of this one (session_several.c). A part has all that belongs
	 * to its recording, and shares what the caller's ids mean. parts and part_of are NULL where there is one recording.
	 */
	struct several *parts; /* owned */
	struct sonde_session *part_of;
	unsigned part; /* which one, from 0 */
	struct session_options opts;
	struct outbuf printed, defects_line, filters_line, text; /* answers lent to callers */

	/* The stages, in the order of an event's way. */
	struct source *source;
	struct order *order;
	struct early_filter early;
	bool filtered; /* any of early and late is set */
	struct session_clock clock;
	bool checks_boot; /* a part: whether it is of the first one's boot is to be seen in its records */
	struct state state;
	struct late_filter late;
	struct comm_list stop_bt; /* functions; comms NULL: not given */
	unsigned max_frames;      /* of a chain; UINT_MAX: all */
	struct event_names event_names;
	VEC(uint8_t) events_known; /* by schema: 0 not asked yet, 1 in event_names, 2 not */
	struct place_filter places;
	struct event_switch switches;
	bool is_choosy; /* event_names, places or switches are set, or there are dlfilters */
	bool copies;    /* records are copied: filters keep none of state from the sink */
	struct dlfilters dlfilters;
	struct dlfilter_answers dlfilter_answers;

	/* What they share. */
	struct strpool *strings; /* of a part: the whole's */
	struct schema_table *schemas;
	struct strpool own_strings;
	struct schema_table own_schemas;
	struct defects defects;
	uint64_t nomem_seen;      /* err_nomem_count() when it was last looked at ... */
	const void *nomem_thread; /* ... and the thread whose count that was */
	struct sonde_defect defect;         /* lent */
	struct sonde_schema *defect_schema; /* events=all: defects as events */
	bool has_ended;                     /* nothing is left to read: the source's ended() was called */
	uint64_t defects_told;              /* bit per enum defect */
	uint64_t defects_looked_at;         /* defects.changes when all kinds were told */
	size_t schemas_asked; /* the first ones: whether their recorder told of exec */
	bool listing;         /* the options ask for lines of records, or a dump */
	bool lists_records;   /* a text is written, which has them */
	bool is_stream;       /* the input is a pipe: more may come at any time */
	bool met_sample;      /* any, also one that the filters refused; or a count of perf stat */
	struct refused refused;
	bool copied_none;     /* format=perfdata, written: no sample was chosen */

	/* The batch being delivered. */
	const struct cut *cuts;
	int nr_cuts, cut_at;
	unsigned derived;   /* events already made of cuts[cut_at] */
	struct event event; /* lent */
	atomic_int stopped; /* set by signal handlers and other threads */

	struct kernel_formats kernel_formats;

	/* Answers that are made when first asked for. */
	struct kallsyms *kernel_symbols;
	bool kernel_symbols_tried;
	struct session_progress {
		void (*call)(void *ctx, const struct sonde_progress *p); /* NULL: nobody asks */
		void *ctx;
		uint64_t begun_ms, next_ms, events;
		uint64_t packed_done, packed_total; /* bytes read of a packed recording; total 0: unknown */
		bool called;
	} progress; /* of the whole, not of parts, but events and packed bytes */
	bool told_unmapped; /* of DEFECT_UNKNOWN_SYMBOLS: that nothing is mapped somewhere */
	const char *kernel_path; /* of the file that they are out of; NULL: none */
	struct located *located; /* owned; answers of sonde_event_locate(); NULL: not yet made */
	uint64_t last_answer;    /* sonde_location.answer */
	struct sonde_location unkept; /* an answer that is not in located */
	struct dso_table *dsos;       /* NULL: not yet made; so the next three */
	struct lines_table *lines;
	struct unwinder *unwinder;
	const struct unwind_arch *unwind_archs[2]; /* by samples' ABI, 32 and 64 bits */
	bool unwind_archs_known;
	uint64_t unwindable_stamp; /* under compat: the mappings that perf_unwinds() saw last, */
	bool unwindable;           /* and its answer */
	struct insn_decoder *insns;
	struct dso *insn_dso; /* the file whose machine is insn_arch */
	enum insn_arch insn_arch;
	struct printk_formats printk;
	bool printk_tried;
	struct printfmt_env printfmt_env;
	const struct event *printing; /* whose text is made */
	VEC(struct sonde_frame) frames;
	struct build_id_memo {
		const char *path,
			*hex; /* as lent by the string pool and the source; path NULL: free */
	} build_ids[64];
};

/* A time as recorded, as it is shown (clock.h). 0 and SONDE_NO_TIME say that there is none. */
static inline uint64_t session_shown_time(const struct sonde_session *s, uint64_t time_ns)
{
	const struct session_clock *c = &s->clock;
	int64_t shown;

	if (!c->is_shifted || !time_ns || time_ns == SONDE_NO_TIME)
		return time_ns;
	shown = saturate_sub(saturate_add(saturate_signed(time_ns), c->shift_ns), c->zero_ns);
	return c->waits || shown < 0 ? 0 : (uint64_t)shown;
}

/* session_build.c: the steps of opening a recording: up to its source; when time windows are known, to
 * its first event, sharing memory with so many others. */
int session_open_source(struct sonde_session *s);
int session_open_order(struct sonde_session *s, size_t sharers);
/* The times of its first and last sample, as recorded. */
int session_find_span(struct sonde_session *s, struct time_span *ret);
int session_find_switches(struct sonde_session *s);
/* What time= says, on the line of the session's time. span: for texts that need it. */
int session_parse_time(struct sonde_session *s, const struct time_span *span);
void session_free(struct sonde_session *s);
/* session.c: a part's next event, as it was recorded; as sonde_session_next_pending() and _fill(). */
int session_part_next(struct sonde_session *s, const struct sonde_event **ret);
int session_part_fill(struct sonde_session *s);
/* The next kind of defect that was not told yet: 1 and an event of it. */
int session_defect_event(struct sonde_session *s);
/* session_several.c */
int several_open(struct sonde_session *s, const char *text, const char *origin);
void several_close(struct several *v); /* NULL is fine */
int several_next_pending(struct sonde_session *s, const struct sonde_event **ret);
int several_pending(const struct sonde_session *s);
int several_fill(struct sonde_session *s);
/* The i-th part; NULL behind the last. */
struct sonde_session *several_part(const struct sonde_session *s, unsigned i);
/* Makes a defect of allocations that failed in this thread since the last call, whoever went on without them. */
void session_note_memory(struct sonde_session *s);
/* Adds the defects of the parts up, each with its recording. */
void several_sum_defects(struct sonde_session *s);

void session_ref(struct sonde_session *s);
void session_unref(struct sonde_session *s);

/* The recording is one of pipe mode, in a file or not: what it says of itself comes as records. */
bool session_in_pipe_mode(const struct sonde_session *s);
/* Writes the event's text: by its print format; raw bytes as hex when its format is unknown; nothing without payload. */
void session_event_text(const struct event *ev, struct outbuf *out);
/*
 * Kernel symbol at addr as of the event being printed, NULL unknown; *ret_off = distance from its start. Lent as long as the
 * session.
 */
const char *session_kernel_symbol(struct sonde_session *s, uint64_t addr, uint64_t *ret_off);
/*
 * The mappings in which addresses of a cpumode lie as of the event; their stamp tells whether answers are the same. NULL:
 * none are known. Lent until the next event.
 */
const struct address_space *session_space(const struct event *ev, uint32_t cpumode);
/* The first frame of user space in the recorded chain: where it is, or called the kernel. False: there is none. */
bool session_user_ip(const struct event *ev, uint64_t *ret);
/*
 * The file behind an address of user space as of the event, and the place in it; NULL when nothing is mapped there, or when
 * out of memory. Lent as long as the session.
 */
struct dso *session_dso_at(const struct event *ev, uint64_t addr, uint64_t *ret_offset);
/* True if the file of any mapping of the space is here; NULL: none is. */
bool session_has_file_here(struct sonde_session *s, const struct address_space *space);
/* A mapping's file by its recorded name; a JIT tells of its code in a map named by the process, made in room. */
enum { SESSION_MAP_NAME_BYTES = 40 };
const char *session_map_name(const struct mapping *m, const char *name,
			     char room[SESSION_MAP_NAME_BYTES]);
/* "/lib/modules/6.1/kernel/fs/xfs/nls-x.ko.xz" and "[nls_x]" -> "[nls_x]"; false for what is no module's name. */
bool session_module_name(const char *path, char *ret, size_t size);
/* A build id as text; "" out of memory. Lent as long as the session. */
const char *session_hex(struct sonde_session *s, const uint8_t *bytes, size_t len);
/* The path of a control group as of now; NULL unknown. Lent as long as the session. */
const char *session_cgroup(const struct sonde_session *s, uint64_t id);

/* session_progress.c. Reading went on; ctx is the session, or a part of it. */
void session_progress(void *ctx);
/* So many packed bytes of the recording were unpacked; total 0: unknown. */
void session_unpacked(void *ctx, uint64_t done, uint64_t total);
/* progress=1: from now on, before anything is opened; and when the session is open. */
void session_progress_begin(struct sonde_session *s);
void session_progress_opened(struct sonde_session *s);
void session_progress_end(struct sonde_session *s);

#endif
