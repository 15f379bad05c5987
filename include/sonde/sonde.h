/* SPDX-License-Identifier: MIT */
/*
 * sonde: events of a Linux machine, in time order, with names and types.
 *
 *	struct sonde_session *s;
 *	const struct sonde_event *ev;
 *
 *	if (sonde_session_open(&s, "input=perf.data\n", NULL) < 0)
 *		return fprintf(stderr, "%s\n", sonde_error_text()), 1;
 *	while (sonde_session_next(s, &ev) > 0)
 *		printf("%s\n", sonde_schema_name(sonde_event_schema(s, ev)));
 *	sonde_session_close(s);
 *
 * Everything hangs on the session. One thread at a time per session; sessions are independent of
 * each other. The library never aborts, exits, prints or installs a signal handler. A call that
 * fails returns a negative errno and leaves a chain of causes in thread storage (sonde_error_text).
 *
 * NULL is refused where it is not named as allowed. `origin`, `ctx` and what a close or free
 * function gets may always be NULL. A function that returns int then returns -EINVAL; any other
 * returns what means "nothing": NULL, "" or 0. The chain of causes names the function and the
 * parameter, except for the functions that signal handlers may call. This check costs one
 * comparison for each pointer.
 *
 * Plain structs begin with `size`, the size that the library knew: members are only ever appended.
 * Until version 1.0 this header may change with a line in CHANGELOG.md. docs/model.md explains the
 * event model.
 */
#ifndef SONDE_H
#define SONDE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SONDE_API __attribute__((visibility("default")))
#else
#define SONDE_API
#endif

/*
 * One or more recordings being read. Opened by sonde_session_open(), freed by
 * sonde_session_close().
 */
struct sonde_session;
/* What an event type looks like. It lives as long as its session. */
struct sonde_schema;

/* ---- errors ---------------------------------------------------------------------------------- */

/*
 * The causes of this thread's last failed call, one a line, the place of failure first; "" when
 * there is none. Lent until this thread's next call into the library.
 */
SONDE_API const char *sonde_error_text(void);

/* ---- sessions -------------------------------------------------------------------------------- */

/*
 * Opens a session and its recordings. text is the session's text form: `key=value` lines ('#'
 * begins a comment line); "" means all defaults. origin is the name of text in messages. Returns 0
 * and *ret, to be freed with sonde_session_close(). On failure *ret is unchanged, and the result is
 * -EINVAL for an unknown key or a bad value, -EBADMSG for a file that is no recording, -ETIME and
 * -EFBIG as below, -ENOMEM, or the errno of opening or reading.
 *
 *	input=PATH          file to read, '-' for the standard input; default perf.data. Given
 *	                    several times: the events of recordings of one host and clock together
 *	                    in the order of their times; others are refused (-ETIME from
 *	                    sonde_session_open, or from the first event), unless the next key or
 *	                    clock=utc relates them. Formats text and jsonl only; without dump,
 *	                    per-event-dump, dlfilter, unsorted. Under compat the last one is read,
 *	                    as perf does
 *	offset=SECONDS      added to the times of the input before it, with up to 9 decimals and
 *	                    maybe a minus; that recording's clock is then taken to be that of the
 *	                    first one
 *	clock=CLOCK         what times are counted by, those of events and of time= alike: raw
 *	                    (default: as recorded; of several recordings, in the clock of the
 *	                    first), relative (from the first sample), utc, local (since 1970; text
 *	                    shows dates of that zone). -ETIME: the recording does not tell the time
 *	                    of day
 *	compat=VERSION      none (default: the right thing), perf-6.1, perf-6.12: that tool's output
 *	                    and values
 *	events=KINDS        samples (default), or all: records of state and defects too
 *	callchain=0|1       0: samples are delivered without call chains; default 1
 *	window=BYTES        size of a read window, 4096..1 GiB; default 1 MiB
 *	force=0|1           1: read a recording that another user owns
 *	max-unpacked=SIZE   what a packed recording (.gz .xz .zst) and, apart from it, its
 *	                    compressed records may unpack to (512M, 4G); default 200 times the
 *	                    packed bytes, at least 1 GiB. More is -EFBIG
 *	kernel-formats=0|1  1: tracepoints that the recording does not describe are taken as the
 *	                    running kernel describes them, if it has them under the same name and
 *	                    number
 *
 *    Which samples are delivered:
 *	time=FROM,TO        seconds with up to 9 decimals, or times of day (2026-11-22T21:15:58.5Z,
 *	                    21:15; without a zone local ones, under clock=utc UTC's); either side
 *	                    may be empty; both ends inclusive; several separated by blanks,
 *	                    ascending; or percents of the recording: 0%-10%,50%-60%, 10%/2 (the
 *	                    second slice of 10 percent), 10% (the first). -ETIME from
 *	                    sonde_session_open: the recording's times are needed and not known
 *	reltime=0|1         1: those times count from the first sample, and text shows them so
 *	cpu=LIST            0,2-3
 *	pid=LIST tid=LIST   decimal numbers
 *	comm=LIST           names separated by commas
 *	symbols=LIST        whose address lies in one of these functions, or at 0xADDRESS
 *	addr-range=BYTES    ... or up to so many bytes behind such an address
 *	dsos=LIST           whose address lies in one of these files
 *	graph-function=LIST only what these functions call in a decoded trace of calls: no sample,
 *	                    as none is decoded
 *	dlfilter=FILE dlarg=ARG  a filter in a shared object, written for perf, loaded as dlopen()
 *	                    finds it; its arguments. Both may be given several times: an argument is
 *	                    for the filter before it
 *	event=LIST          names of events, patterns among them; of tracepoints also without the
 *	                    system
 *	switch-on=EVENT     from the first such event on
 *	switch-off=EVENT    up to the next such event
 *	show-on-off-events=0|1  1: those two events, too
 *
 *    Traces of processors, which are not decoded:
 *	itrace=OPTIONS      what to make of them; checked, as perf does
 *
 *    Symbols:
 *	symfs=DIR           where files named in the recording are looked for; default /
 *	no-follow=0|1       1: no file is opened because the recording names it (programs, their
 *	                    debug files beside them, maps of JITs, a kernel by its release): names
 *	                    come from the build-id cache and debug files by build id
 *	kallsyms=PATH       kernel symbols to use instead of those found
 *	vmlinux=PATH        the kernel's file with its symbols
 *	buildid-dir=DIR     build-id cache; default ~/.debug, with symfs SYMFS/.debug
 *	demangle=0|1        names of C++ and Rust are shown as in the source; default 1
 *	demangle-kernel=0|1 those of the kernel, too
 *	show-kernel-path=0|1  1: the file of the kernel's symbols in place of [kernel.kallsyms]
 *	inline=0|1          functions inlined at a frame; default 1
 *	full-source-path=0|1  source files are shown with their folders
 *
 *    Output:
 *	format=FORMAT       what sonde_session_write() writes: text (default), jsonl, evlist,
 *	                    evlist-json, buildids, buildids-json, info, info-json, perfdata,
 *	                    blkparse (the lines of that program, of blktrace's recordings). evlist:
 *	                    a line for each event type of the recording, no events; buildids: one
 *	                    for each file whose build id it has; info: what the recording is, what
 *	                    is counted of its events, and its defects; perfdata: a recording of the
 *	                    chosen events, in `output`, not to the descriptor
 *	output=PATH         of perfdata: the file that it writes; with `every`: how the names of its
 *	                    parts begin
 *	every=SIZE          of perfdata: a part for so many bytes of records (1G) or so much time
 *	                    (60s)
 *	evlist=LIST         what stands in evlist's lines: attr, freq, groups, fields
 *	no-events=0|1       1: info only has what the header says
 *	hits=0|1            1: buildids has the files in which samples lie, with and without build
 *	                    ids
 *	fields=SPEC         as `sonde script -F`
 *	ns=0|1              nanoseconds
 *	deltatime=0|1       times count from the sample before
 *	latency=0|1         names of tasks cut to 8 places, bare numbers of cpus
 *	max-stack=FRAMES stop-bt=LIST  where call chains end
 *	max-blocks=BLOCKS   of instructions of a branch stack
 *	per-event-dump=0|1  a file per event type: INPUT.EVENT.dump
 *	dump=0|1            every record as bytes and decoded
 *	unsorted=0|1        events as they lie in the file, not in the order of their times
 *	header=none|with|only|all header-info=0|1  what the recording says of itself; only: as perf
 *	                    script tells it, without what comes in records of a stream; header-info:
 *	                    in full
 *	terminal=0|1        1: what is written ends up on a terminal, through a pager: no control
 *	                    characters
 *	progress=0|1        1: on standard error, if that is a terminal, a line says how far the
 *	                    reading is, from the second second on, also while a packed recording is
 *	                    unpacked
 *	color=never|always  always: names stand out on a terminal; not under compat
 *	show-task-events=0|1 show-mmap-events=0|1 show-switch-events=0|1
 *	show-namespace-events=0|1 show-cgroup-events=0|1 show-lost-events=0|1
 *	show-round-events=0|1 show-bpf-events=0|1 show-text-poke-events=0|1  lines for records of
 *	                    state
 */
SONDE_API int sonde_session_open(struct sonde_session **ret, const char *text, const char *origin);
/*
 * The text form of a session, complete (defaults too): reading it back gives an equal session. ""
 * when memory ran out. Lent until the next call of this function on the session.
 */
SONDE_API const char *sonde_session_print(struct sonde_session *s);
/*
 * Checks text without opening anything; *ret is its complete form, to be released with free().
 * Returns 0; -EINVAL for an unknown key or a bad value, -ENOMEM.
 */
SONDE_API int sonde_session_parse(const char *text, char **ret);
/*
 * Lines about what its text output passes over (fields that a class of events cannot have), and
 * once format=perfdata is written, that it holds no event; "" when nothing. Lent until the next
 * call on the session.
 */
SONDE_API const char *sonde_session_notes(struct sonde_session *s);
/*
 * Closes a session: what it lent is gone, except copies of events (sonde_event_dup()), which keep
 * the session's memory. NULL is fine.
 */
SONDE_API void sonde_session_close(struct sonde_session *s);

/*
 * The next event in time order: 1 and *ret (lent until the next call on this session), 0 at the
 * end, <0 on failure; -ENODATA at the end if damage let no sample be read.
 */
struct sonde_event;
SONDE_API int sonde_session_next(struct sonde_session *s, const struct sonde_event **ret);
/*
 * sonde_session_next() in two steps, for hosts that hold a lock: sonde_session_next_pending() never
 * reads or waits; it gives the next event of the batch in memory (1) or says that there is none
 * (0). sonde_session_fill() then reads or waits for the next batch (1: there is one, or a signal
 * came before it: look again; 0: end, <0: failure). sonde_session_pending(): a batch is in memory.
 */
SONDE_API int sonde_session_next_pending(struct sonde_session *s, const struct sonde_event **ret);
SONDE_API int sonde_session_pending(const struct sonde_session *s);
SONDE_API int sonde_session_fill(struct sonde_session *s);
/*
 * sonde_session_next() and sonde_session_next_pending() for up to *nr events (on entry at least 1,
 * then how many there are): 1, 0 and <0 mean the same, and the calls may be mixed. A batch ends
 * where nothing more is in memory, it never waits for more. It also ends in front of a record that
 * changes the state of the machine (fork, exec, mapping, exit ...), so each of its events can be
 * asked everything, as of its own time. Its events are lent until the next call of
 * sonde_session_next(), _next_pending(), _next_batch(), _next_batch_pending() or _fill().
 */
SONDE_API int sonde_session_next_batch(struct sonde_session *s,
				       const struct sonde_event *const **ret, size_t *nr);
SONDE_API int sonde_session_next_batch_pending(struct sonde_session *s,
					       const struct sonde_event *const **ret, size_t *nr);
/*
 * Gives back the last nr events of the batch that was lent last, but not its first one: they are
 * the next ones again. The others stay lent. For a caller that changes by sonde_session_want()
 * which events it gets from then on. Returns 0; -EINVAL when the batch has not so many, or is not
 * lent any more.
 */
SONDE_API int sonde_session_unread(struct sonde_session *s, size_t nr);
/*
 * Says whether the caller has use for samples of a schema (1, as at the start) or not (0), from the
 * next event on. Samples that nobody wants cost next to nothing; a few may still be delivered.
 */
SONDE_API void sonde_session_want(struct sonde_session *s, uint32_t schema, int wanted);
/*
 * Ends the run: the next call of next or fill returns 0. May be called from a signal handler or
 * another thread.
 */
SONDE_API void sonde_session_stop(struct sonde_session *s);

/* How far the reading of a session is. */
struct sonde_progress {
	uint32_t size;
	uint32_t ended;       /* 1: everything was read; the last call */
	/*
	 * Bytes; each is read twice, for its place in time and for itself; of a recording that is
	 * unpacked as it is read the packed ones. total 0: unknown
	 */
	uint64_t done, total;
	uint64_t events;      /* samples delivered */
	uint64_t elapsed_ms;  /* since sonde_session_on_progress() */
};
/*
 * Calls progress from within the calls that read, in their thread: not before one second after now,
 * at most five times a second, and once when the reading ended if it was called before. NULL: no
 * more.
 */
SONDE_API void sonde_session_on_progress(struct sonde_session *s,
					 void (*progress)(void *ctx, const struct sonde_progress *p),
					 void *ctx);
/*
 * Wipes the line that progress=1 draws; for who writes to the terminal meanwhile. is_last: none of
 * this process is drawn from then on. May be called from a signal handler.
 */
SONDE_API void sonde_progress_wipe(int is_last);
/* A signal handler: wipes that line, then the signal does what it does by default. */
SONDE_API void sonde_progress_signal(int nr);

/* The keys of `sample` in perf_sample_dict. */
enum sonde_sample_keys {
	SONDE_SAMPLE_KEYS_ALL = 0,     /* perf 6.1's, then 6.12's, then what perf leaves out */
	SONDE_SAMPLE_KEYS_FIRST = 1,   /* perf 6.1's */
	SONDE_SAMPLE_KEYS_WITH_IDS = 2 /* 6.12's: first id, stream_id; ins_lat after weight */
};
/* Where Util.syscall_name finds names. */
enum sonde_syscall_names {
	SONDE_SYSCALLS_OWN = 0,          /* in a table of its own, for the recorded machine */
	/* In the audit module; without it prints perf 6.1's lines. */
	SONDE_SYSCALLS_AUDIT = 1,
	SONDE_SYSCALLS_PYTHON3_AUDIT = 2 /* the same with perf 6.12's lines */
};

/*
 * What perf does where sonde does something else by default. Callers ask for a rule, never for a
 * version. Every rule is 0 by default, except statuses. docs/compat.md names each rule in the
 * row that describes it; src/compat/rules.def has the values for each version.
 */
struct sonde_rules {
	uint32_t size;

	/* Exit statuses. */
	uint32_t status_failed;      /* the run failed, or a script died: 1, or 255 */
	const char *version;         /* the value of compat=: "none", "perf-6.1", ... */
	uint32_t status_usage;       /* the command line is wrong: 2, or 129 */
	uint32_t status_interrupted; /* Ctrl-C ended a script outside handlers: 130, or 255 */
	/* A Perl sub that dies for an event, or in trace_end, gives status errno; 2 for none. */
	uint32_t perl_dies_with_errno;
	/* A status that a Perl program or its END block sets is a failure: status_failed. */
	uint32_t perl_exit_fails;
	/* exit(0) among a Perl program's own statements does not keep the events from it. */
	uint32_t perl_runs_on_after_exit;

	/* Scripts: values of fields. */
	uint32_t unsigned_fields; /* fields of 1, 2 and 4 bytes have no sign */
	uint32_t unsigned_ids;    /* an unrecorded pid, tid or cpu is 4294967295, not -1 */
	/* A text field that was not printable once is bytes in all later events. */
	uint32_t unprintable_stays_bytes;
	/* Perl: a field declared like a text ends at its first NUL, even behind the field. */
	uint32_t perl_texts_run_on;
	uint32_t perl_arrays_are_zero; /* Perl: an array of numbers is 0, not its bytes */

	/* Scripts: how handlers are called. */
	/* Parameters get values by place if their number is right; a wrong one ends nothing. */
	uint32_t binds_by_place;
	/* Nothing is reported of handlers never called, or of parameters that are no fields. */
	uint32_t passes_over_handlers;
	uint32_t drops_file_name; /* Python: __file__ is not defined in handlers */
	/* define_flag_value() gets every constant of a print format as a value 0. */
	uint32_t defines_all_constants;
	/* Tables are defined before each tracepoint, not once per event type. */
	uint32_t defines_before_each_event;
	uint32_t signed_defines; /* values of tables are signed */
	uint32_t syscall_names;  /* enum sonde_syscall_names */

	/* Scripts: perf_sample_dict. */
	uint32_t sample_keys; /* enum sonde_sample_keys */
	uint32_t attr_bytes;  /* length of `attr`; 0: as recorded, but at least 128 */
	/* Room for a text of registers, for each register of the kernel's mask; 0: no limit. */
	uint32_t register_text_bytes;
	uint32_t data_src_text_bytes; /* texts of data_src are cut there; 0: they are complete */
	/* An unrecorded data_src is "not available" in all parts: 0x1e05080021, not 0x5080021. */
	uint32_t absent_data_src_is_long;

	/* Database export. */
	/* Rows of sample_table end before id, stream_id and ins_lat: 25 columns, not 28. */
	uint32_t db_samples_without_ids;
	/* A frame without a known symbol makes one that begins at the frame's address. */
	uint32_t db_frames_begin_symbols;
	/* A sample with the same ip and addr, without a known symbol, makes two symbols. */
	uint32_t db_looks_up_addr_first;

	/* Tasks. */
	/* Events of a task behind its exit have neither its name nor its mappings. */
	uint32_t exit_forgets_task;

	/* Exit statuses of commands. */
	uint32_t status_no_command; /* there is no such command: 2, or 1 */
	/* What the recording cannot give is status_failed, not status_usage. */
	uint32_t unserved_is_failure;
	/* A wrong --time, --switch-on or -g is 256 minus the errno. */
	uint32_t statuses_are_errnos;
	/* A command that cannot be recorded is status_failed, not 126 or 127. */
	uint32_t unrun_command_fails;

	/* Which events. */
	uint32_t last_input_only; /* of several inputs the last one is read */

	/* The command line. */
	uint32_t words_are_no_recordings; /* a word that is a recording is not read as with -i */
	uint32_t silent_about_input; /* nothing is reported of an -i behind a script's name */
	uint32_t reads_stdin_pipe; /* without -i a pipe on the standard input is read */
	uint32_t prepends_path; /* PATH of a recorded command begins with the folder of perf */
	uint32_t lists_wrappers_only; /* -l lists wrappers for reports only */
	/* `record NAME` records a command if there is no such script. */
	uint32_t record_takes_commands;
	uint32_t record_adds_all_cpus; /* `record NAME` adds -a unless there is a command */
	uint32_t needs_wrappers; /* `record NAME` and `report NAME` need wrappers */
	/* Options in front of `report NAME` do not reach its wrapper. */
	uint32_t options_miss_wrappers;
	uint32_t records_despite_input; /* NAME is recorded and reported even if there is an -i */
	uint32_t live_input_is_word; /* the wrapper of a live report gets its input as -i - */
	uint32_t live_takes_no_options; /* a live script gets no options */
	uint32_t live_status_of_report; /* the status of a live script is the report's alone */
	uint32_t perfs_scripts_first; /* names of scripts are looked for among perf's first */
	uint32_t needs_suffix; /* -s NAME needs the suffix of the file */
	uint32_t missing_script_is_usage; /* a script that is not there is status_usage */
	uint32_t ignores_buildid_variable; /* PERF_BUILDID_DIR is not looked at */
	uint32_t tilde_is_folder; /* `~` in buildid.dir is a folder's name */
	uint32_t has_no_colors; /* text has no colours */

	/* The list of events. */
	uint32_t list_in_perfs_form; /* lines have the form of `perf list` */
	/* A word is matched with events of tracepoints, not systems; case matters. */
	uint32_t list_matches_events_only;
	uint32_t list_takes_word_by_word; /* words are obeyed one after the other */
	uint32_t list_passes_over_words; /* a word without a match changes nothing */
};
/* The rules of a session. They are valid as long as the library is loaded. */
SONDE_API const struct sonde_rules *sonde_session_rules(const struct sonde_session *s);
/* The rules of a version ("perf-6.1"), for callers without a session. NULL: no such version. */
SONDE_API const struct sonde_rules *sonde_rules_find(const char *version);
/* The rules of the i-th version; the default ("none") is the first. NULL behind the last. */
SONDE_API const struct sonde_rules *sonde_rules_get(size_t i);

/*
 * What the recording says of itself. Keys: "hostname" "osrelease" "version" "arch" "cmdline"
 * "cpudesc" "nrcpus-online" "nrcpus-available" "byte-order" (little, big) "long-bytes". NULL when
 * it does not say. Lent as long as the session. Of several recordings the first one is asked.
 */
SONDE_API const char *sonde_session_info(struct sonde_session *s, const char *key);

/* ---- defects --------------------------------------------------------------------------------- */

/* What a defect means for results. */
enum sonde_severity {
	SONDE_INFO = 0,      /* it explains something */
	SONDE_DATA_LOSS = 1, /* results miss something */
	SONDE_ERROR = 2      /* part of the input could not be understood */
};

/*
 * A fact about the input that a reader of results should know. The table is src/model/defects.def.
 */
struct sonde_defect {
	uint32_t size;
	uint32_t severity;  /* enum sonde_severity */
	uint64_t count;     /* how often in this run; for "lost-events": how many events */
	const char *name;   /* "truncated", "lost-events", ... */
	const char *advice; /* a sentence: what it means and what to do */
	const char *first;  /* where it was first seen, "" when that says nothing */
};

/*
 * The i-th defect seen so far in this session; NULL behind the last. Lent until the next call on
 * the session.
 */
SONDE_API const struct sonde_defect *sonde_session_defect(struct sonde_session *s, size_t i);
/*
 * One closing line for stderr ("" when there is nothing to tell). Lent until the next call of this
 * function on the session.
 */
SONDE_API const char *sonde_session_defects_line(struct sonde_session *s);
/*
 * One sentence for stderr when the filters let no sample of the recording through, with what it
 * has: its span, its cpus, its tasks, its events, whatever was asked for. "" when one passed, when
 * there was none, and under compat. Lent until the next call of this function on the session.
 */
SONDE_API const char *sonde_session_filters_line(struct sonde_session *s);

/* ---- schemas: what an event type looks like -------------------------------------------------- */

/* What kind of event a schema describes. */
enum sonde_schema_kind {
	SONDE_TRACEPOINT = 0, /* fields come from the recording's format description */
	SONDE_SAMPLE = 1,     /* any other sampled event: cpu-clock, cycles, page-faults, ... */
	SONDE_RECORD = 2,     /* a record of state: comm, fork, mmap, lost, ... */
	SONDE_DEFECT = 3      /* a defect, with events=all: its field `name` is sonde_defect.name */
};

/*
 * What a field holds. A program passes over kinds that it does not know: new inputs may bring more.
 */
enum sonde_field_kind {
	SONDE_FIELD_INT = 0,    /* a number of 1, 2, 4 or 8 bytes; see is_signed, is_pointer */
	SONDE_FIELD_STRING = 1, /* text up to the first NUL: char array, or dynamic array of char */
	SONDE_FIELD_ARRAY = 2,  /* numbers (INT) of elem_width bytes */
	SONDE_FIELD_STRUCT = 3, /* anything else: raw bytes */
	/* Not in recordings of perf: these come with inputs that describe them. */
	SONDE_FIELD_FLOAT = 4, /* IEEE 754, 4 or 8 bytes */
	SONDE_FIELD_ENUM = 5,  /* a number as INT or BITS; labels name values */
	SONDE_FIELD_BITS = 6,  /* a number of bit_width bits */
	SONDE_FIELD_NESTED = 7 /* a struct; fields describe its members */
};

/* The byte order of a field. */
enum sonde_byte_order {
	SONDE_ORDER_RECORDING = 0, /* the event's: SONDE_EVENT_SWAPPED */
	SONDE_ORDER_LITTLE = 1,
	SONDE_ORDER_BIG = 2
};

/*
 * A name of the values from..to (both inclusive; signed if the field is) of an ENUM. The first
 * label that fits holds. An element of arrays: its size is fixed for good.
 */
struct sonde_label {
	uint64_t from, to;
	const char *text; /* lives as long as the session */
};

/*
 * A field of a schema. In an array of fields the next one begins `size` bytes behind the one
 * before.
 */
struct sonde_field {
	uint32_t size;
	uint32_t offset;     /* bytes from sonde_event.bytes, also of a member of a nested struct */
	uint32_t width;      /* bytes; 0 = runs to the end of the payload */
	uint32_t elem_width; /* bytes of one element; width for scalars; 0 unknown */
	uint8_t kind;        /* enum sonde_field_kind */
	uint8_t is_signed;   /* "signed:1" of the format */
	uint8_t is_array;    /* [...] in the declaration, or dynamic */
	/* __data_loc, __rel_loc: the field holds u16 offset, u16 length (low to high half) */
	uint8_t is_dynamic;
	uint8_t is_relative; /* __rel_loc: the offset counts from the end of the field's own word */
	uint8_t is_text; /* array of char, u8 or s8 by the declaration (perf's rule for strings) */
	uint8_t is_pointer;
	uint8_t is_long;    /* `long` in the declaration */
	uint8_t is_common;  /* one of the common_* fields */
	uint8_t byte_order; /* enum sonde_byte_order, of numbers and of the elements of an array */
	uint8_t reserved[2];
	/*
	 * BITS, or ENUM if bit_width is not 0: a number of 1 to 64 bits. Bit 0 of the field's bytes
	 * is the lowest one of the first byte in little byte order, where later bits count for
	 * more, and the highest one of it in big byte order, where they count for less: as
	 * compilers lay out bit-fields. width: the bytes that these bits are in.
	 *
	 *	bits      0       3         8
	 *	little    byte & 7, byte >> 3 & 31
	 *	big       byte >> 5, byte & 31
	 */
	uint16_t bit_offset, bit_width;
	const char *name; /* lent, lives as long as the session */
	const char *type; /* declaration without the name: "unsigned long", "__data_loc char[]" */
	const struct sonde_label *labels; /* ENUM: nr_labels of them; live as long as the session */
	const struct sonde_field *fields; /* NESTED: nr_fields of them, the same */
	uint32_t nr_labels, nr_fields;
};
/*
 * The first label of a value of an ENUM, as sonde_event_u64() or sonde_event_i64() returns it; NULL
 * if it has none.
 */
SONDE_API const char *sonde_field_label(const struct sonde_field *f, uint64_t value);

/* What a step of sonde_schema_defines() is. */
enum sonde_define_kind {
	SONDE_DEFINE_FLAG_FIELD = 0,     /* field, text = delimiter */
	SONDE_DEFINE_FLAG_VALUE = 1,     /* field, value, text */
	SONDE_DEFINE_SYMBOLIC_FIELD = 2, /* field */
	SONDE_DEFINE_SYMBOLIC_VALUE = 3  /* field, value, text */
};
/*
 * One step of what print formats say about a field's flags and symbols, in the order perf tells
 * scripts. Labels of ENUM fields come as symbols, one for each value; ranges of more than 256
 * values are left out.
 */
struct sonde_define {
	uint32_t size;
	uint32_t kind; /* enum sonde_define_kind */
	uint64_t value;    /* of FLAG_VALUE and SYMBOLIC_VALUE */
	const char *field; /* name of the field; lives as long as the session */
	const char *text;  /* delimiter, or name of the value; lives as long as the session */
};

/*
 * How many schemas a session has, and the one of an id. Ids are dense per session, appended as
 * schemas appear, never reused. NULL for an id not given out yet. A schema lives as long as its
 * session, and so does what the functions below return.
 */
SONDE_API size_t sonde_session_schemas(const struct sonde_session *s);
SONDE_API const struct sonde_schema *sonde_session_schema(const struct sonde_session *s,
							  uint32_t id);

/* The schema's id, as in sonde_event.schema. */
SONDE_API uint32_t sonde_schema_id(const struct sonde_schema *sc);
/* Schemas of one name have one family (the id of the first), whatever their layouts. */
SONDE_API uint32_t sonde_schema_family(const struct sonde_schema *sc);
/* What kind of event it describes. */
SONDE_API enum sonde_schema_kind sonde_schema_kind(const struct sonde_schema *sc);
/* The system of a tracepoint: "sched"; "" unless a tracepoint. */
SONDE_API const char *sonde_schema_system(const struct sonde_schema *sc);
/* The name without the system: "sched_switch", "cpu-clock". */
SONDE_API const char *sonde_schema_event(const struct sonde_schema *sc);
/* The complete name: "sched:sched_switch", "cpu-clock". */
SONDE_API const char *sonde_schema_name(const struct sonde_schema *sc);
/* The fields in the order of the format, common_* first; *ret_nr how many. */
SONDE_API const struct sonde_field *sonde_schema_fields(const struct sonde_schema *sc,
							size_t *ret_nr);
/*
 * A field by name, a member of a nested struct by its path: "outer.inner". NULL if there is none.
 */
SONDE_API const struct sonde_field *sonde_schema_field(const struct sonde_schema *sc,
						       const char *name);
/*
 * The flags and symbols of its print format, and *ret_nr how many; NULL and 0 when there are none.
 */
SONDE_API const struct sonde_define *sonde_schema_defines(const struct sonde_schema *sc,
							  size_t *ret_nr);
/*
 * struct perf_event_attr in the host's byte order, as long as the recording has it; NULL when there
 * is none.
 */
SONDE_API const void *sonde_schema_attr(const struct sonde_schema *sc, size_t *ret_len);
/*
 * What samples of this type hold: bits of sonde_sample.present. With an attr its sample_type;
 * inputs without attrs say it too.
 */
SONDE_API uint64_t sonde_schema_sampled(const struct sonde_schema *sc);

/* ---- events ---------------------------------------------------------------------------------- */

/* The time of an event for which the recording has none. */
#define SONDE_NO_TIME UINT64_MAX

/* Bits of sonde_event.flags. */
enum sonde_event_flags {
	SONDE_EVENT_SWAPPED = 1, /* payload bytes are in the other byte order */
	SONDE_EVENT_LATE = 2,    /* older than an event delivered before it */
	SONDE_EVENT_DERIVED = 4  /* not the first event made from its record */
};

/*
 * An event is lent: valid until the next call on its session. It carries what is true as of its
 * time, so that a value asked for later (after sonde_event_dup) is the value then.
 */
struct sonde_event {
	uint32_t size;
	uint32_t schema;  /* id: see sonde_session_schema() */
	/* In the recording's clock, or the session's (clock=); SONDE_NO_TIME when not recorded. */
	uint64_t time_ns;
	int32_t cpu;      /* -1 when not recorded */
	int32_t pid, tid; /* else of the task that runs on cpu; -1: neither is recorded */
	uint32_t flags;   /* enum sonde_event_flags */
	uint32_t comm;    /* text id of the thread's comm: sonde_session_string() */
	uint32_t bytes_len; /* length of bytes */
	const uint8_t *bytes;  /* the payload that schema fields describe; lent */
	const uint8_t *record; /* the record as it lies in the recording; lent */
	uint32_t record_len;   /* length of record */
	uint32_t cpumode;   /* 0 unknown 1 kernel 2 user 3 hypervisor 4 guest kernel 5 guest user */
	uint64_t file_off;  /* of the record in its input */
	uint64_t map_epoch; /* which state of its process's mappings holds; 0 unknown */
};

/* The schema of an event; NULL of NULL. */
static inline const struct sonde_schema *sonde_event_schema(const struct sonde_session *s,
							    const struct sonde_event *ev)
{
	return ev ? sonde_session_schema(s, ev->schema) : NULL;
}

/*
 * A copy that owns its bytes and pins its state; keeps the session's memory alive until it is
 * freed. NULL: no memory.
 */
SONDE_API struct sonde_event *sonde_event_dup(const struct sonde_event *ev);
/* Frees what sonde_event_dup() returned, and nothing else; NULL is fine. */
SONDE_API void sonde_event_free(struct sonde_event *ev);
/* The session of an event. */
SONDE_API struct sonde_session *sonde_event_session(const struct sonde_event *ev);
/* Which of the session's inputs its recording is: 0 for the one named first. */
SONDE_API uint32_t sonde_event_input(const struct sonde_event *ev);

/* Text by id (sonde_event.comm), "" for an id not given out; lives as long as the session. */
SONDE_API const char *sonde_session_string(const struct sonde_session *s, uint32_t id);

/*
 * A field's value, of members of nested structs, too. `u64` is zero-extended, `i64` sign-extended
 * if the field is signed; both are 0 when the record is too short, and the bits as recorded of a
 * FLOAT. `double` is any number's value, 0 when the record is too short. `bytes` gives the field's
 * own bytes (for dynamic fields those it points to), clipped to the record; NULL and *ret_len 0
 * when it lies outside.
 */
SONDE_API uint64_t sonde_event_u64(const struct sonde_event *ev, const struct sonde_field *f);
SONDE_API int64_t sonde_event_i64(const struct sonde_event *ev, const struct sonde_field *f);
SONDE_API double sonde_event_double(const struct sonde_event *ev, const struct sonde_field *f);
SONDE_API const uint8_t *sonde_event_bytes(const struct sonde_event *ev,
					   const struct sonde_field *f, size_t *ret_len);
/*
 * The event's text without a newline: by its print format ("prev_comm=..."), as its input has it,
 * or name=value pairs. Lent until the next call.
 */
SONDE_API const char *sonde_event_text(const struct sonde_event *ev, size_t *ret_len);

/*
 * The value of a counter that a sample has read. An element of arrays: its size is fixed for good.
 */
struct sonde_read_value {
	uint64_t id;    /* of the counter; 0 when not recorded */
	uint64_t value; /* running total */
	uint64_t lost;  /* samples of the counter that were lost; 0 when not recorded */
};
/* An entry of a branch stack. An element of arrays: its size is fixed for good. */
struct sonde_branch {
	uint64_t from, to, flags; /* flags: PERF_BRANCH_* layout, little-endian numbering */
};
/*
 * What was sampled with an event. Bits of `present` are PERF_SAMPLE_* of linux/perf_event.h.
 * Members whose bit is not set are 0. What its pointers lead to is lent until the next call of
 * sonde_event_sample() or sonde_session_next() on the session.
 */
struct sonde_sample {
	uint32_t size;
	uint32_t nr_reads; /* length of reads */
	uint64_t present;  /* PERF_SAMPLE_* */
	uint64_t read_format; /* PERF_FORMAT_* of the event */
	uint64_t ip, addr, id, stream_id, period;
	uint64_t time_enabled_ns, time_running_ns;
	const struct sonde_read_value *reads; /* lent */
	uint64_t weight, data_src, transaction, phys_addr, cgroup;
	uint64_t data_page_size, code_page_size;
	uint64_t nr_branches; /* length of branches */
	uint64_t branch_hw_idx;
	const struct sonde_branch *branches; /* lent; most recent first */
	uint64_t user_regs_abi, user_regs_mask, intr_regs_abi, intr_regs_mask;
	const uint64_t *user_regs, *intr_regs; /* lent; one value per mask bit, ascending */
	const uint8_t *user_stack; /* lent; user_stack_len bytes from the stack pointer up */
	uint64_t user_stack_len;
	uint64_t raw_len; /* of the raw payload, sonde_event.bytes */
};
/*
 * All sample values of an event; 0, -ENODATA for events that are not samples, -EBADMSG for a
 * damaged record.
 */
SONDE_API int sonde_event_sample(const struct sonde_event *ev, struct sonde_sample *ret);
/*
 * Words for a sample's values, as text has them: where the data of a memory access came from ("|OP
 * LOAD|LVL L1 hit|..."; cut to size, ended by NUL; returns the length of the whole), and the name
 * of a register of the machine that recorded the event by its bit in a mask.
 */
SONDE_API size_t sonde_session_data_src_text(const struct sonde_session *s, uint64_t data_src,
					     char *buf, size_t size);
SONDE_API const char *sonde_event_register_name(const struct sonde_event *ev, uint32_t nr,
						char room[16]);

/* Why an address has no symbol. */
enum sonde_unknown {
	SONDE_KNOWN = 0,
	SONDE_UNKNOWN_NO_MAPPING = 1,   /* the recording has no mapping of that address */
	SONDE_UNKNOWN_NO_FILE = 2,      /* memory that no file is mapped to */
	SONDE_UNKNOWN_ABSENT = 3,       /* the file is not on this machine */
	SONDE_UNKNOWN_NO_RIGHT = 4,     /* the file may not be read */
	SONDE_UNKNOWN_NOT_FOLLOWED = 5, /* no-follow=1, and no cache has the file */
	SONDE_UNKNOWN_OTHER_BUILD = 6,  /* the file of that name is another build */
	/* The file has no symbol table, and its debug file is not here. */
	SONDE_UNKNOWN_STRIPPED = 7,
	SONDE_UNKNOWN_NO_SYMBOL = 8,    /* the symbol table has nothing at that address */
	SONDE_UNKNOWN_NO_KERNEL = 9,    /* the symbols of the recorded kernel are not here */
	SONDE_UNKNOWN_ELSEWHERE = 10,   /* of a guest or a hypervisor */
	/* The file, or the maps of JITs together, are larger than what is read. */
	SONDE_UNKNOWN_TOO_LARGE = 11
};
/* "stripped", "not on this machine", ...; "" for SONDE_KNOWN and for numbers that mean nothing. */
SONDE_API const char *sonde_unknown_text(uint32_t reason);

/*
 * What lies at an address, as far as it is known. Names are lent and live as long as the session.
 */
struct sonde_location {
	uint32_t size;
	uint32_t sym_binding; /* 0 local, 1 global, 2 weak */
	uint64_t addr;            /* the address asked for */
	const char *dso;          /* "[kernel.kallsyms]", "/usr/bin/x"; NULL unknown */
	const char *dso_build_id; /* hex, "" unknown */
	uint64_t map_start, map_end; /* the mapping's addresses */
	uint64_t map_pgoff;          /* offset of map_start in the file */
	const char *sym; /* NULL unknown */
	/*
	 * Offsets in the dso's file; for the kernel and for JITs, addresses. A kernel symbol
	 * registered at run time (a BPF program) is a dso of its own, in which it begins at 0.
	 */
	uint64_t sym_start, sym_end;
	uint64_t sym_off; /* addr - start of the symbol */
	/*
	 * Which dso it is: two files of one name have two numbers, and so has one file in two
	 * recordings. Numbers are dense, from 1, and hold as long as the session. 0: none. A symbol
	 * is known by this and sym_start.
	 */
	uint64_t dso_id;
	uint64_t dso_off; /* of addr in the dso's file; the address for the kernel and for JITs */
	/*
	 * The number of this answer in its session: where it is equal, so are all members. 0: it
	 * has none. Who makes something of answers keeps it by this number.
	 */
	uint64_t answer;
	uint32_t unknown; /* enum sonde_unknown */
	uint32_t reserved;
};
/*
 * A cpumode for an address in an event's values, not its own: kernel or user by where the address
 * lies.
 */
#define SONDE_CPUMODE_OF_ADDRESS UINT32_MAX
/*
 * Looks an address up in the address space of the event's process as of the event. cpumode as in
 * sonde_event, or SONDE_CPUMODE_OF_ADDRESS. Returns 0, also when nothing is known there:
 * sonde_location.unknown says why.
 */
SONDE_API int sonde_event_locate(const struct sonde_event *ev, uint64_t addr, uint32_t cpumode,
				 struct sonde_location *ret);
/*
 * The same, not copied: lent until the next address is looked up. Never NULL: of no event, a
 * location that is unknown.
 */
SONDE_API const struct sonde_location *sonde_event_located(const struct sonde_event *ev,
							   uint64_t addr, uint32_t cpumode);

/* What is known of a dso beyond its name; texts are lent and live as long as the session. */
struct sonde_dso {
	uint32_t size;
	uint32_t reserved;
	uint64_t id;            /* sonde_location.dso_id */
	const char *short_name; /* "x" of "/usr/bin/x"; "[xfs]" of a module */
	const char *long_name;  /* the path, where it has one: of a module that of its .ko */
	/* Hex: as recorded, else that of the file its symbols are out of; "" unknown. */
	const char *build_id;
};
/*
 * The dso at an address, as sonde_event_locate() finds it; -ENOENT when nothing is known to lie
 * there.
 */
SONDE_API int sonde_event_dso(const struct sonde_event *ev, uint64_t addr, uint32_t cpumode,
			      struct sonde_dso *ret);

/*
 * A name that a task has or had. Each time that a name is told makes another one, whatever its
 * text.
 */
struct sonde_task_name {
	uint64_t id;       /* counted from 1 in a session, never used again */
	uint64_t since_ns; /* SONDE_NO_TIME when not recorded */
	uint32_t comm;     /* text id: sonde_session_string() */
	uint32_t by_exec;  /* 1: exec gave it */
};
/* Bits of sonde_task.flags. */
enum sonde_task_flags {
	SONDE_TASK_NAMED = 1, /* a name was told; else it is called ":TID" */
	/* It has ended, and nothing was told of it since: under compat=perf-6.12 only. */
	SONDE_TASK_GONE = 2
};
/*
 * A task (perf's thread). A tid may be used for several, one after another: their ids are
 * different.
 */
struct sonde_task {
	uint32_t size;
	uint32_t flags; /* enum sonde_task_flags */
	int32_t pid, tid;
	uint64_t id;                 /* counted from 1 in a session, never used again */
	struct sonde_task_name name; /* as of the event */
	/* Of its last exec so far; where none is told, the first name of its own. */
	struct sonde_task_name program;
};
/*
 * A task as of the session's current event. Returns 0; -ESTALE for what sonde_event_dup() gave,
 * -ENOMEM.
 */
SONDE_API int sonde_event_task(const struct sonde_event *ev, int32_t pid, int32_t tid,
			       struct sonde_task *ret);

/* What sonde_event_code() looks for: lines and texts are not cheap. */
enum sonde_code_parts {
	SONDE_CODE_LINE = 1, /* file and line */
	SONDE_CODE_TEXT = 2, /* and that line's text, which opens the source file */
	SONDE_CODE_INSN = 4  /* the instruction's bytes */
};
/* What code lies at an address. */
struct sonde_code {
	uint32_t size;
	uint32_t line;    /* 0 unknown */
	const char *file; /* with its folder; NULL unknown. Lives as long as the session */
	const char *text; /* not NUL-terminated; NULL unknown. Lent until the next call */
	size_t text_len;
	uint32_t insn_len; /* 0 unknown */
	uint8_t insn[20];  /* insn_len of them */
};
/*
 * The code at an address, as far as parts (enum sonde_code_parts) ask for it; addr and cpumode as
 * in sonde_event_locate(). Nothing is known of the kernel's, of hypervisors' and guests' code.
 * Returns 0, also when nothing is known.
 */
SONDE_API int sonde_event_code(const struct sonde_event *ev, uint64_t addr, uint32_t cpumode,
			       unsigned parts, struct sonde_code *ret);

/* Bits of sonde_frame.flags. */
enum sonde_frame_flags {
	/* Out of the recorded registers and stack: a caller's ip is in its call instruction. */
	SONDE_FRAME_UNWOUND = 1,
	/* A function inlined at ip; the frame it was inlined into follows. */
	SONDE_FRAME_INLINED = 2,
	/* Out of the branch stack: a caller's ip is its call instruction. */
	SONDE_FRAME_BRANCH = 4
};
/* A frame of a call chain. An element of arrays: its size is fixed for good. */
struct sonde_frame {
	uint64_t ip; /* an address in the function */
	/* Of this frame; user space before the first marker, 0 behind an unknown one. */
	uint32_t cpumode;
	uint32_t flags; /* enum sonde_frame_flags */
	/*
	 * Lent as long as the session, and known only of unwound frames, where functions inlined
	 * are looked for (inline=1).
	 */
	const char *sym;  /* what to call the frame in place of the symbol at ip; NULL: that one */
	const char *file; /* source line, NULL unknown */
	uint32_t line;
	uint32_t reserved;
};
/*
 * The call chain, innermost first, markers removed; *ret is lent until the next call of this
 * function on the session. Returns the number of frames, 0 without a call chain and with
 * callchain=0; a negative errno on failure. Where the recording has registers and stack for it, the
 * part of user space is unwound out of those.
 */
SONDE_API int sonde_event_callchain(const struct sonde_event *ev, const struct sonde_frame **ret);

/* ---- text output ----------------------------------------------------------------------------- */

/*
 * Writes all events of the session as text to fd, in perf script's layout. Returns 0; -EPIPE when
 * the reader closed, -ENODATA when damage let no sample be read, or another negative errno. What
 * was written before a failure is kept.
 */
SONDE_API int sonde_session_write_text(struct sonde_session *s, int fd);
/*
 * The same in the session's format. jsonl: docs/formats/jsonl.md; losses and defects are lines
 * there, and other records of state with events=all or their key show-...-events. -EINVAL for
 * fields, dump, per-event-dump, deltatime, latency, max-blocks, show-round-events and header-info:
 * they lay out text.
 */
SONDE_API int sonde_session_write(struct sonde_session *s, int fd);

/* ---- recording ------------------------------------------------------------------------------- */

/* One of -e, --filter, -G in the order given; two members are NULL. */
struct sonde_record_event {
	const char *events; /* "sched:sched_switch,raw_syscalls:*" */
	const char *filter; /* kernel filter for the events named last before it */
	/*
	 * control groups, comma-separated: the n-th of all is for the n-th of all events, an empty
	 * one for all tasks; as long as there is but one it is for all events before it
	 */
	const char *cgroup;
};

/*
 * settings: a line key=value each, later ones win; those of value 0|1 are 0 unless said. Keys are
 * perf record's words; a value is what perf record takes, and "" what it takes when an optional
 * value is left out.
 *
 *	all-cpus=0|1        everything that runs (also when there is neither a command nor another
 *	                    target)
 *	cpu=LIST            only these cpus: 0,2-3
 *	pid=LIST tid=LIST   running processes, threads; comma-separated numbers
 *	uid=USER            processes of a user: a number or a name
 *	no-inherit=auto|0|1 children of what is recorded are not; auto: those of threads (tid) are
 *	                    not, all others are
 *	per-thread=0|1      a buffer per thread instead of one per cpu
 *	count=N freq=HZ|max one sample every N events; about HZ samples a second, or as many as the
 *	                    kernel allows
 *	strict-freq=0|1     a frequency that the kernel does not allow is an error
 *	group=0|1           all events are one group
 *	all-user=0|1        all events count in user space only
 *	all-kernel=0|1      all events count in the kernel only
 *	exclude-self=auto|0|1  tracepoints that the recorder itself passes are left out; auto: with
 *	                    all-cpus those of system calls, file systems, block devices, writeback
 *	                    and kmem
 *	call-graph=MODE     fp[,FRAMES], dwarf[,BYTES], lbr; "" is fp
 *	kernel-callchains=0|1 user-callchains=0|1  only this part of call chains
 *	no-samples=0|1      no samples, only records of state
 *	stat=0|1            counts for each thread, too
 *
 *    What a sample holds (auto: what events and targets need):
 *	timestamp=auto|0|1 period=auto|0|1 sample-cpu=auto|0|1  the time, the period, the cpu
 *	data=0|1 phys-data=0|1  the address of the data, the physical address
 *	data-page-size=0|1 code-page-size=0|1  the size of the pages that hold the data, the code
 *	raw-samples=0|1     the raw bytes, as tracepoints always have them
 *	sample-identifier=0|1  the event's identifier; it is recorded anyway
 *	running-time=0|1    how long a group was counted, for reads of groups
 *	weight=0|1 transaction=0|1  the weight, the flags of transactions, of events that have them
 *	intr-regs=NAMES user-regs=NAMES  registers, comma-separated; "" all; "?" is an error that
 *	                    lists them
 *	branch-filter=LIST  any, any_call, any_ret, ind_call, ind_jmp, call, cond, abort_tx, in_tx,
 *	                    no_tx, stack, save_type, priv, u, k, hv
 *	aux-sample=OPTS snapshot=OPTS  refused: they need hardware tracing
 *
 *    What goes with the samples:
 *	clockid=CLOCK       monotonic, monotonic_raw, boottime, realtime, tai, or a number
 *	namespaces=0|1      the namespaces of processes
 *	all-cgroups=0|1     control groups, and that of each sample
 *	switch-events=0|1   context switches
 *	no-bpf-event=0|1    not the loading of BPF programs
 *	synth=LIST          what is described of the state before the recording: no, all, or of
 *	                    task,mmap,cgroup
 *	num-thread-synthesize=N  with so many threads
 *	tail-synthesize=0|1 at the end of the recording
 *	proc-map-timeout=MS for reading the mappings of one process; none unless given
 *	no-buildid=0|1      neither build ids nor the cache
 *	buildid-all=0|1     build ids of all files mapped, whether samples lie in them or not
 *	buildid-mmap=0|1    build ids from the kernel, with each mapping
 *	buildid-dir=DIR     the cache; default ~/.debug; /dev/null: none
 *	kcore=0|1           refused: the recording holds the kernel's symbols
 *	no-buildid-cache=auto|0|1  auto: the cache is filled unless files are switched
 *
 *    Buffers:
 *	mmap-pages=N|SIZE[,N|SIZE]  the size of each cpu's buffer, and of that for hardware tracing
 *	mmap-flush=SIZE     a buffer is left alone until it holds so many bytes
 *	overwrite=0|1       new events overwrite the oldest; what is there at the end is written
 *	no-buffering=0|1    the recorder is woken by each event
 *	aio=N               a thread writes; N times (1..4) the size of the buffers may be waiting
 *	affinity=node|cpu   the thread that empties buffers moves to the cpu, or to its node
 *	threads=SPEC        several threads empty buffers: cpu, core, package, numa, or lists of
 *	                    cpus; output is a directory
 *	realtime=PRIORITY   SCHED_FIFO, of the recorder
 *	compression-level=N compresses records: 1 to 22; "" is 1
 *	compressed-records=old|new  the form that perf before 6.16 or since writes
 *
 *    When, and where to:
 *	delay=MS|RANGES     recording begins after so many milliseconds, with -1 when `control` says
 *	                    so; or only in these ranges: 10-20,30-40
 *	control=fd:N[,N]|fifo:PATH[,PATH]  commands are read from there, and answered on the second
 *	                    one: enable, disable, evlist, ping, stop
 *	dry-run=0|1         options, targets and command are checked, nothing is recorded
 *	output=FILE         "-": pipe mode on the standard output, so it is without a value when
 *	                    that is a pipe
 *	max-size=SIZE       the recording ends when it is so large
 *	switch-output=signal|SIZE|TIME  another file begins with sonde_recorder_switch(), or behind
 *	                    so many bytes or so much time
 *	switch-output-event=EVENTS  another file begins when one of these events occurs
 *	switch-max-files=N  the last N files are kept
 *	timestamp-filename=0|1  names of files end with the time
 *	timestamp-boundary=0|1  the times of the first and the last sample; they are recorded anyway
 */
struct sonde_record_options {
	uint32_t size;
	/* None: cycles, or cpu-clock where there is no such counter. */
	const struct sonde_record_event *events;
	size_t nr_events;           /* length of events */
	const char *settings;       /* NULL none */
	const char *const *command; /* NULL-terminated; NULL none */
	/* The whole command line, for the header, lent until close; NULL none. */
	const char *const *argv;
	/*
	 * Lines for the user ("falling back to cpu-clock", closing summary); level 0 warning, 1
	 * normal, 2 verbose. Called until the recorder is closed, perhaps by a thread of the
	 * recorder while the caller is in another call.
	 */
	void (*say)(void *ctx, int level, const char *line);
	void *say_ctx; /* ctx of say */
};

/* What became of a recording. A caller sets `size`, or leaves it 0. */
struct sonde_record_result {
	uint32_t size;
	/* The workload's; 126, 127 when it could not be run; 128+N killed by signal N. */
	int32_t exit_status;
	uint64_t samples; /* in the file */
	uint64_t lost;    /* events that the kernel dropped, or that could not be written */
	uint64_t bytes_written;
};

/* A recording being made. */
struct sonde_recorder;
/*
 * Parses events, opens them and the output, starts the workload stopped. Nothing is left behind
 * when it fails; -EBADR: events or filters are named wrongly. A command that cannot be found or
 * executed is told by sonde_recorder_run. A file size limit is an error like a full disk for
 * callers that catch or ignore SIGXFSZ, and a reader that closes its end of a pipe ends the
 * recording for those that catch or ignore SIGPIPE; the others are killed. The limit of open files
 * (RLIMIT_NOFILE) is raised when the recording needs more, and stays so; the calling thread's
 * scheduling is changed until close (short turns on the cpu, realtime=), so open, run and close are
 * for one thread.
 */
SONDE_API int sonde_recorder_open(struct sonde_recorder **ret,
				  const struct sonde_record_options *opts);
/*
 * Records until the workload ends or sonde_recorder_stop(); a second stop also gives up waiting for
 * a workload that does not end, and for a pipe's reader that takes nothing (what it has not taken
 * counts as lost). A reader that closes its end ends the recording as a stop does; who catches or
 * ignores SIGPIPE sees no failure. *ret is filled on failure, too. When events could not be enabled
 * or the workload not be run (exit_status 126 or 127), there is no file; after any other failure
 * what was recorded before is a file that can be read.
 */
SONDE_API int sonde_recorder_run(struct sonde_recorder *r, struct sonde_record_result *ret);
/*
 * Ends the recording: sonde_recorder_run() returns. May be called from a signal handler.
 */
SONDE_API void sonde_recorder_stop(struct sonde_recorder *r);
/*
 * Ends the file and begins another one when settings say that files are switched (switch-output,
 * switch-output-event); otherwise nothing happens. May be called from a signal handler.
 */
SONDE_API void sonde_recorder_switch(struct sonde_recorder *r);
/* Frees a recorder; its file stays. NULL is fine. */
SONDE_API void sonde_recorder_close(struct sonde_recorder *r);

/* ---- what can be recorded -------------------------------------------------------------------- */

/* Kinds of events that can be recorded. */
enum sonde_event_kind {
	SONDE_EVENT_HARDWARE = 1, /* counted by the processor, by names that processors share */
	SONDE_EVENT_SOFTWARE = 2, /* counted by the kernel */
	SONDE_EVENT_CACHE = 4,    /* accesses to caches */
	SONDE_EVENT_PMU = 8,      /* of an event source of sysfs */
	SONDE_EVENT_TRACEPOINT = 16
};

/* An event that can be recorded. */
struct sonde_listed_event {
	uint32_t size;
	uint32_t kind; /* enum sonde_event_kind */
	/* As -e of sonde record takes it: "page-faults", "msr/tsc/", "sched:sched_switch". */
	const char *name;
	const char *alias; /* another name of the same event; NULL none */
};

/* Which events are listed. A caller sets `size`. */
struct sonde_list_options {
	uint32_t size;
	uint32_t kinds; /* which of enum sonde_event_kind, or-ed; 0 all */
};

/*
 * Calls event for what the running machine can record, one kind after the other in the order of
 * their numbers, each sorted by name; what it gets is lent for the call. Hardware, software and
 * cache events are those that the kernel opens. opts NULL: all. Tracepoints that may not be read
 * are a failure (-EACCES, -ENOENT) after all others were told.
 */
SONDE_API int sonde_list_events(const struct sonde_list_options *opts,
				void (*event)(void *ctx, const struct sonde_listed_event *event),
				void *ctx);

/* ---- build ids ------------------------------------------------------------------------------- */

/* The running kernel or a module of it. */
struct sonde_kernel_part {
	uint32_t size;
	uint32_t reserved;
	uint64_t start, end; /* addresses; 0 when they are hidden from us */
	/* "[kernel.kallsyms]"; of a module its file, "[name]" when that is not known. */
	const char *name;
	const char *build_id; /* hex; "" unknown */
};
/*
 * Calls part for the running kernel, then for its modules, ascending by address; what it gets is
 * lent for the call. Returns 0, or a negative errno when the list cannot be read.
 */
SONDE_API int sonde_running_kernel(void (*part)(void *ctx, const struct sonde_kernel_part *part),
				   void *ctx);
/* Room for a build id as hex with its NUL. */
enum { SONDE_BUILD_ID_CHARS = 41 };
/*
 * The build id of an ELF file as hex: 1; 0: it has none, or is no ELF file. It is opened if it is a
 * regular file.
 */
SONDE_API int sonde_file_build_id(const char *path, char ret[SONDE_BUILD_ID_CHARS]);

/* ---- version --------------------------------------------------------------------------------- */

/* The version of the library: "0.1.0". Lives as long as the library is loaded, as the next one. */
SONDE_API const char *sonde_version(void);
/* "zstd=1.5.4 ...": what this build has. */
SONDE_API const char *sonde_features(void);
/*
 * Text of any bytes as a JSON string in its quotes, as --format jsonl writes it: bytes that are no
 * UTF-8 become lone surrogates. To be released with free(); NULL: no memory.
 */
SONDE_API char *sonde_json_string(const char *text, size_t len);

/*
 * "Did you mean ...?": the known name most like a mistyped one.
 *
 *	struct sonde_nearest n = { .size = sizeof(n), .wanted = typed };
 *
 *	for (...)
 *		sonde_nearest_offer(&n, known[i]);
 *	if (n.meant)
 *		printf("did you mean %s?\n", n.meant);
 */
struct sonde_nearest {
	uint32_t size;
	/*
	 * From wanted to closest: letters inserted, dropped, changed and swapped; the system of a
	 * tracepoint counts as one letter if wanted has none. UINT32_MAX for names of more than 96
	 * letters.
	 */
	uint32_t distance;
	const char *wanted; /* set by the caller; an event as SYSTEM:NAME */
	/* Of the candidates so far, borrowed from the caller, the first of equals; NULL none. */
	const char *closest;
	const char *meant; /* closest if about two thirds of wanted's letters are right, else NULL */
};

/* 1: the candidate is now the closest; 0: it is not; -EINVAL when `size` or `wanted` is not set. */
SONDE_API int sonde_nearest_offer(struct sonde_nearest *n, const char *candidate);

#ifdef __cplusplus
}
#endif

#endif
