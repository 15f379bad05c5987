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
 * A session owns everything that is read from it. Only one thread at a time may use a session;
 * different sessions are independent. The library never aborts, exits, prints or installs a signal
 * handler. The one exception is the line of the key progress=1, which it draws only on a terminal.
 *
 * Results: a function that returns int returns 0 or a positive number on success and a negative
 * errno on failure. sonde_error_text() then returns the chain of causes, which is kept per thread.
 *
 * Pointers: a parameter may be NULL only where its comment says so, and always if it is called
 * `origin` or `ctx` or is the object of a close or free function. Any other NULL is refused: a
 * function that returns int returns -EINVAL, all others return "nothing" (NULL, "" or 0). The chain
 * of causes names the function and the parameter, except for functions that signal handlers may
 * call. The check costs one comparison for each pointer.
 *
 * Lifetimes: a returned const pointer is borrowed from the library; its comment says how long it is
 * valid. A pointer returned through `ret` belongs to the caller only where the comment names the
 * function that frees it.
 *
 * Versions: a plain struct begins with `size`, the number of bytes that the library filled or that
 * the caller knows. Members are only ever appended. Before version 1.0 this header may change; each
 * change has a line in CHANGELOG.md. docs/model.md explains the event model.
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
/* The layout and the names of an event type. Valid as long as its session. */
struct sonde_schema;

/* ---- errors ---------------------------------------------------------------------------------- */

/*
 * The chain of causes of this thread's last failed call: one cause per line, the place of failure
 * first. "" if there is none. Borrowed until this thread calls the library again.
 */
SONDE_API const char *sonde_error_text(void);

/* ---- sessions -------------------------------------------------------------------------------- */

/*
 * Opens a session and its recordings. text is the session's text form: lines of `key=value`; a line
 * that begins with '#' is a comment. "" means all defaults. origin is a name of text for messages,
 * such as "the command line". Returns 0 and *ret, which sonde_session_close() frees. On failure
 * *ret is unchanged. Failures: -EINVAL for an unknown key or a bad value, -EBADMSG for a file that
 * is no recording, -ETIME, -EXDEV or -EFBIG where the text of a key says so, -ENOMEM, or what
 * open() or read() failed with.
 *
 * A key of value 0|1 is 0 by default unless its text names another default.
 *
 *    Input:
 *	input=PATH          file to read, '-' for standard input; default perf.data. May be given
 *	                    several times: the session then merges the events of these recordings in
 *	                    time order. All must be of one host and one clock, unless offset= or
 *	                    clock=utc relates their times; if not: -EXDEV from sonde_session_open()
 *	                    or from the first event. Several inputs work with the formats text and
 *	                    jsonl, without dump, per-event-dump, dlfilter and unsorted. With compat
 *	                    only the last input is read, like in perf
 *	offset=SECONDS      added to all times of the input named before it; up to 9 decimals, may
 *	                    be negative. The clock of that recording then counts as that of the
 *	                    first one
 *	clock=CLOCK         clock of event times and of time=: raw (default: as recorded; with
 *	                    several recordings the clock of the first), relative (from the first
 *	                    sample), utc or local (since 1970; text prints dates in that zone).
 *	                    -ETIME if the recording does not contain the time of day
 *	compat=VERSION      none (default: the right results), perf-6.1 or perf-6.12: output and
 *	                    values of that version of perf
 *	events=KINDS        samples (default) or all: also records of state and defects
 *	callchain=0|1       0: samples are delivered without call chains; default 1
 *	window=BYTES        size of a read window, 4096 to 1 GiB; default 1 MiB. Up to 32 of them
 *	                    with up to 16 MiB are kept: smaller ones take less memory
 *	force=0|1           1: read a recording that another user owns
 *	max-unpacked=SIZE   limit on the unpacked size of a packed recording (.gz .xz .zst), and
 *	                    separately on that of its compressed records (512M, 4G); default 200
 *	                    times the packed size, at least 1 GiB. -EFBIG if there is more
 *	kernel-formats=0|1  1: for tracepoints that the recording does not describe, use the running
 *	                    kernel's description if it has the same name and number
 *	tracefs=FOLDER      the same with the descriptions in FOLDER, a copy of tracefs
 *	                    (FOLDER/events/SYSTEM/EVENT/format). Text of ftrace is read by them,
 *	                    too; without this key by the running kernel's
 *
 *    Which samples are delivered:
 *	time=FROM,TO        times in seconds with up to 9 decimals, or times of day
 *	                    (2026-11-22T21:15:58.5Z, 21:15; without a zone local time, with
 *	                    clock=utc UTC). Either side may be empty; both ends are inclusive.
 *	                    Several windows are separated by blanks, in ascending order. Or
 *	                    percentages of the recording: 0%-10%,50%-60%, 10%/2 (the second slice of
 *	                    10 percent), 10% (the first). -ETIME from sonde_session_open() if the
 *	                    times of the recording are needed and unknown
 *	reltime=0|1         1: times in time= count from the first sample, and so do times in text
 *	cpu=LIST            0,2-3
 *	pid=LIST tid=LIST   decimal numbers
 *	comm=LIST           names, comma-separated
 *	where=EXPR          samples for which a filter of the kernel's language is true:
 *	                    prev_state & 3 && next_comm ~ "kw*". -EINVAL if no event has one of
 *	                    its fields, or if an event that event= names without a pattern misses
 *	                    one; comparisons with a missing field are false. See sonde-script(1)
 *	symbols=LIST        samples whose address is in one of these functions, or is 0xADDRESS
 *	addr-range=BYTES    also samples up to so many bytes after such an address
 *	dsos=LIST           samples whose address is in one of these files
 *	graph-function=LIST only calls made by these functions, in decoded call traces; matches no
 *	                    sample, because call traces are not decoded
 *	dlfilter=FILE dlarg=ARG  a filter in a shared object, written for perf and found as dlopen()
 *	                    finds it; and its arguments. Both may be given several times: an
 *	                    argument belongs to the filter before it
 *	event=LIST          event names or patterns; tracepoints also without their system
 *	pair=START,STOP[,KEY[,STOPKEY]]  for each STOP event that matches a START event, deliver an
 *	                    event of the schema `pair(START,STOP,KEY)` (the value as it was given)
 *	                    right after STOP; see sonde_session_pair(). May be given several times,
 *	                    for up to 64 pairs; not with dlfilter and dump, and only with the
 *	                    formats text and jsonl
 *	switch-on=EVENT     deliver from the first such event on
 *	switch-off=EVENT    deliver up to the next such event
 *	show-on-off-events=0|1  1: deliver these two events, too
 *
 *    Hardware traces, which are not decoded:
 *	itrace=OPTIONS      perf's options for decoding them; the syntax is checked like in perf
 *
 *    Symbols:
 *	symfs=DIR           folder below which files named in the recording are looked up; default /
 *	no-follow=0|1       1: open no file because the recording names it (programs, the debug
 *	                    files next to them, maps of JITs, a kernel by its release). Names then
 *	                    come from the build-id cache and from debug files found by build id
 *	kallsyms=PATH       kernel symbols to use instead of those found
 *	vmlinux=PATH        kernel image with symbols
 *	buildid-dir=DIR     build-id cache; default ~/.debug, with symfs SYMFS/.debug
 *	demangle=0|1        1 (default): print names of C++ and Rust as in the source
 *	demangle-kernel=0|1 1: also those of the kernel
 *	show-kernel-path=0|1  1: print the file of the kernel's symbols, not [kernel.kallsyms]
 *	inline=0|1          1 (default): resolve functions inlined at a frame
 *	full-source-path=0|1  1: print source files with their folders
 *
 *    Output:
 *	format=FORMAT       what sonde_session_write() writes. text (default): events as lines;
 *	                    jsonl: events as JSON; evlist, evlist-json: the event types of the
 *	                    recording, no events; buildids, buildids-json: the files whose build id
 *	                    the recording has; info, info-json: what the recording is, counts of its
 *	                    events, and its defects; perfdata: a recording of the chosen events, in
 *	                    the file `output`, not to the descriptor; blkparse: for recordings of
 *	                    blktrace, the lines of that program; trace-cmd: tracepoints as lines of
 *	                    trace-cmd report; babeltrace: for CTF traces, the lines of babeltrace2;
 *	                    record-counts: how many records of each type there are; record-dump:
 *	                    each record as bytes and decoded, and those counts; tasks: the tree of
 *	                    tasks; trace.dat, perf: a recording of trace-cmd or perf with the
 *	                    tracepoint events, to a descriptor of an empty file; ctf: a trace in the
 *	                    Common Trace Format, to a descriptor of an empty folder
 *	file-version=6|7    trace.dat: the version of its format; default 7
 *	output=PATH         perfdata: the file to write; with `every`: the prefix of the file names
 *	every=SIZE          perfdata: begin a new file after so many bytes of records (1G) or so
 *	                    much time (60s)
 *	evlist=LIST         evlist: contents of a line: attr, freq, groups, fields
 *	no-events=0|1       1: info prints only facts from the header
 *	hits=0|1            1: buildids lists the files that contain samples, also without build id
 *	mmaps=0|1           1: tasks also prints the mappings that each task had at the end
 *	with-empty=0|1      1: record-counts also prints types without records
 *	with-hint=0|1       1: record-dump begins with the lines that perf report begins with
 *	count-branches=0|1  1: record-dump counts entries of branch stacks in place of samples
 *	fields=SPEC         columns of text, as `sonde script -F` takes them
 *	ns=0|1              1: print nanoseconds
 *	deltatime=0|1       1: times count from the previous sample
 *	latency=0|1         1: cut task names to 8 columns, print cpus as bare numbers
 *	raw-fields=0|1      trace-cmd: 1: print the fields of events, not their text
 *	max-stack=FRAMES stop-bt=LIST  where call chains end
 *	stitch-lbr=0|1      1: call stacks of branch registers continue with the callers that the
 *	                stack before them had in the same registers
 *	max-blocks=BLOCKS   limit on blocks of instructions per branch stack
 *	per-event-dump=0|1  1: write one file per event type: INPUT.EVENT.dump
 *	dump=0|1            1: print every record as bytes and decoded
 *	unsorted=0|1        1: print events in file order, not in time order
 *	header=none|with|only|all header-info=0|1  the header of the recording; only: like perf
 *	                    script, without facts from records of a stream; header-info=1: in full
 *	threads=N           limit on threads: the caller's, and one for each recording, which reads,
 *	                    cuts and orders its records ahead of the caller. 1: no thread reads
 *	                    ahead. 0: a thread reads ahead if the process may use several cpus and
 *	                    the recording has at least 8 MiB or is compressed or packed, but never
 *	                    for a pipe. Without the key the environment's SONDE_THREADS decides,
 *	                    else 0. The value does not change events, their order, defects or
 *	                    errors. A thread starts with the first read, blocks all signals and
 *	                    ends with the session. A child that is forked meanwhile cannot read on
 *	                    (-ECHILD)
 *	terminal=0|1        1: the output reaches a terminal through a pager: write no control
 *	                    characters
 *	progress=0|1        1: draw a progress line on standard error if that is a terminal. It
 *	                    appears after one second, also while a packed recording is unpacked
 *	color=never|always  always: highlight names on a terminal; ignored with compat
 *	show-task-events=0|1 show-mmap-events=0|1 show-switch-events=0|1
 *	show-namespace-events=0|1 show-cgroup-events=0|1 show-lost-events=0|1
 *	show-round-events=0|1 show-bpf-events=0|1 show-text-poke-events=0|1  1: print lines for
 *	                    these records of state
 */
SONDE_API int sonde_session_open(struct sonde_session **ret, const char *text, const char *origin);
/*
 * The complete text form of a session, defaults included: parsing it gives an equal session. "" if
 * there is no memory. Borrowed until the next call of this function on the session.
 */
SONDE_API const char *sonde_session_print(struct sonde_session *s);
/*
 * Checks text without opening anything; *ret is its complete form, which free() frees. Returns 0 on
 * success, -EINVAL for an unknown key or a bad value, -ENOMEM.
 */
SONDE_API int sonde_session_parse(const char *text, char **ret);
/*
 * Warnings about the output, one per line: columns that are ignored because a class of events
 * cannot have them; after format=perfdata, trace.dat, perf or ctf was written, that it contains no
 * event, and for the last three what they have no place for. "" if there are none. Borrowed until
 * the next call on the session.
 */
SONDE_API const char *sonde_session_notes(struct sonde_session *s);
/*
 * Closes a session. Everything borrowed from it becomes invalid, except copies of events
 * (sonde_event_dup()), which keep the session's memory. NULL is allowed.
 */
SONDE_API void sonde_session_close(struct sonde_session *s);

/*
 * The next event in time order. Returns 1 and sets *ret (borrowed until the next call on this
 * session), 0 at the end, a negative errno on failure. -ENODATA at the end: damage kept every
 * sample from being read.
 */
struct sonde_event;
SONDE_API int sonde_session_next(struct sonde_session *s, const struct sonde_event **ret);
/*
 * sonde_session_next() in two steps, for hosts that hold a lock. sonde_session_next_pending() never
 * reads or waits: it returns 1 and the next event of the batch in memory, or 0 if the batch is used
 * up. sonde_session_fill() then reads or waits for the next batch. It returns 1 if there is one or
 * if a signal interrupted it (look again), 0 at the end, a negative errno on failure.
 * sonde_session_pending() returns 1 if a batch is in memory, else 0.
 */
SONDE_API int sonde_session_next_pending(struct sonde_session *s, const struct sonde_event **ret);
SONDE_API int sonde_session_pending(const struct sonde_session *s);
SONDE_API int sonde_session_fill(struct sonde_session *s);
/*
 * sonde_session_fill() for hosts with timers: it waits for a pipe or for live events only until
 * CLOCK_MONOTONIC is time_ns (0: without an end), and returns 1 then.
 */
SONDE_API int sonde_session_fill_until(struct sonde_session *s, uint64_t time_ns);
/*
 * sonde_session_next() and sonde_session_next_pending() for up to *nr events. On entry *nr is the
 * limit, at least 1; on return it is the number of events in *ret. Results have the same meaning,
 * and the calls may be mixed. A batch ends where memory has no further event: it never waits for
 * more. It also ends before a record that changes the state of the machine (fork, exec, mapping,
 * exit ...), so every question about each of its events is answered as of its own time. Its events
 * are borrowed until the next call of sonde_session_next(), _next_pending(), _next_batch(),
 * _next_batch_pending() or _fill().
 */
SONDE_API int sonde_session_next_batch(struct sonde_session *s,
				       const struct sonde_event *const **ret, size_t *nr);
SONDE_API int sonde_session_next_batch_pending(struct sonde_session *s,
					       const struct sonde_event *const **ret, size_t *nr);
/*
 * Gives back the last nr events of the most recent batch, but never its first event: they are
 * delivered again. The others stay valid. For callers that change, with sonde_session_want(), which
 * events they get from then on. Returns 0 on success, -EINVAL if the batch has fewer events or is
 * no longer borrowed.
 */
SONDE_API int sonde_session_unread(struct sonde_session *s, size_t nr);
/*
 * Sets whether the caller wants samples of a schema (1, the initial value) or not (0), from the
 * next event on. Unwanted samples cost next to nothing. A few may still be delivered.
 */
SONDE_API void sonde_session_want(struct sonde_session *s, uint32_t schema, int wanted);
/*
 * Ends the session: the next call of a next or fill function returns 0. May be called from a signal
 * handler or from another thread.
 */
SONDE_API void sonde_session_stop(struct sonde_session *s);

/* How far a session has read. */
struct sonde_progress {
	uint32_t size;
	uint32_t ended; /* 1: everything was read; this is the last call */
	/*
	 * Bytes done, and bytes in all (0 if unknown). Every byte counts twice: once when its place
	 * in time is found, once when its event is read. If a recording is unpacked while it is
	 * read, both count packed bytes.
	 */
	uint64_t done, total;
	uint64_t events;     /* samples delivered */
	uint64_t elapsed_ms; /* since sonde_session_on_progress() */
};
/*
 * Sets a callback. The functions that read call it in their own thread: not before one second from
 * now, at most five times a second, and once at the end if it was called before. progress NULL ends
 * the calls. p is borrowed for the call.
 */
SONDE_API void sonde_session_on_progress(struct sonde_session *s,
					 void (*progress)(void *ctx,
							  const struct sonde_progress *p),
					 void *ctx);
/*
 * Wipes the line that progress=1 draws, for callers that write to the terminal in between. is_last:
 * this process draws no further line. May be called from a signal handler.
 */
SONDE_API void sonde_progress_wipe(int is_last);
/* A signal handler: wipes that line, then takes the signal's default action. */
SONDE_API void sonde_progress_signal(int nr);

/* The keys of `sample` in perf_sample_dict. */
enum sonde_sample_keys {
	SONDE_SAMPLE_KEYS_ALL = 0,     /* perf 6.1's, then 6.12's, then keys that perf omits */
	SONDE_SAMPLE_KEYS_FIRST = 1,   /* perf 6.1's */
	SONDE_SAMPLE_KEYS_WITH_IDS = 2 /* 6.12's: first id, stream_id; ins_lat after weight */
};
/* Where Util.syscall_name finds names. */
enum sonde_syscall_names {
	SONDE_SYSCALLS_OWN = 0, /* sonde's table for the recorded machine */
	/* The audit module; if it is missing, perf 6.1's lines are printed. */
	SONDE_SYSCALLS_AUDIT = 1,
	SONDE_SYSCALLS_PYTHON3_AUDIT = 2 /* the audit module; perf 6.12's lines */
};

/*
 * Rules: how perf behaves where sonde behaves differently by default. Callers ask for a rule, never
 * for a version. The default of every rule is 0, except for exit statuses. docs/compat.md names
 * each rule in the row that describes it; src/compat/rules.def has the values for each version.
 */
struct sonde_rules {
	uint32_t size;

	/* Exit statuses. */
	uint32_t status_failed;      /* the command failed, or a script died: 1, or 255 */
	const char *version;         /* the value of compat=: "none", "perf-6.1", ... */
	uint32_t status_usage;       /* the command line is wrong: 2, or 129 */
	uint32_t status_interrupted; /* Ctrl-C ended a script outside handlers: 130, or 255 */
	/* A Perl sub that dies for an event, or in trace_end, gives status errno; 2 for none. */
	uint32_t perl_dies_with_errno;
	/* A status that a Perl program or its END block sets counts as a failure: status_failed. */
	uint32_t perl_exit_fails;
	/* exit(0) in the main program of a Perl script does not stop the delivery of events. */
	uint32_t perl_runs_on_after_exit;

	/* Scripts: values of fields. */
	uint32_t unsigned_fields; /* fields of 1, 2 and 4 bytes have no sign */
	uint32_t unsigned_ids;    /* an unrecorded pid, tid or cpu is 4294967295, not -1 */
	/* A text field that was unprintable once is bytes in all later events. */
	uint32_t unprintable_stays_bytes;
	/* Perl: a field declared as text ends at its first NUL, even after the field. */
	uint32_t perl_texts_run_on;
	uint32_t perl_arrays_are_zero; /* Perl: an array of numbers is 0, not its bytes */

	/* Scripts: how handlers are called. */
	/* A right number of parameters gets values by position; a wrong one is no error. */
	uint32_t binds_by_place;
	/* Neither uncalled handlers nor parameters that are no fields are reported. */
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
	uint32_t attr_bytes;  /* length of `attr`; 0 if as recorded, but at least 128 */
	/* Limit on a text of registers, per register of the kernel's mask; 0 if unlimited. */
	uint32_t register_text_bytes;
	uint32_t data_src_text_bytes; /* limit on texts of data_src; 0 if unlimited */
	/* An unrecorded data_src is "not available" in all parts: 0x1e05080021, not 0x5080021. */
	uint32_t absent_data_src_is_long;

	/* Database export. */
	/* Rows of sample_table end before id, stream_id and ins_lat: 25 columns, not 28. */
	uint32_t db_samples_without_ids;
	/* A frame without a known symbol creates a symbol that begins at the frame's address. */
	uint32_t db_frames_begin_symbols;
	/* A sample with equal ip and addr, without a known symbol, creates two symbols. */
	uint32_t db_looks_up_addr_first;

	/* Tasks. */
	/* Events of a task after its exit have neither its name nor its mappings. */
	uint32_t exit_forgets_task;

	/* Exit statuses of commands. */
	uint32_t status_no_command; /* there is no such command: 2, or 1 */
	/* An option that needs data that were not recorded: status_failed, not status_usage. */
	uint32_t unserved_is_failure;
	/* A wrong --time, --switch-on or -g: 256 minus the errno. */
	uint32_t statuses_are_errnos;
	/* A command that cannot be started: status_failed, not 126 or 127. */
	uint32_t unrun_command_fails;

	/* Which events. */
	uint32_t last_input_only; /* of several inputs only the last one is read */

	/* The command line. */
	uint32_t words_are_no_recordings; /* a word that names a recording is not read like -i */
	uint32_t silent_about_input;      /* an -i after a script's name is not reported */
	uint32_t reads_stdin_pipe;        /* without -i a pipe on the standard input is read */
	uint32_t prepends_path;           /* PATH of a recorded command begins with perf's folder */
	uint32_t lists_wrappers_only;     /* -l lists wrappers for reports only */
	/* `record NAME` records a command if there is no such script. */
	uint32_t record_takes_commands;
	uint32_t record_adds_all_cpus; /* `record NAME` adds -a unless there is a command */
	uint32_t needs_wrappers;       /* `record NAME` and `report NAME` need wrappers */
	/* Options before `report NAME` do not reach its wrapper. */
	uint32_t options_miss_wrappers;
	uint32_t records_despite_input; /* NAME is recorded and reported even with an -i */
	uint32_t live_input_is_word;    /* the wrapper of a live report gets its input as -i - */
	uint32_t live_takes_no_options; /* a live script gets no options */
	uint32_t live_status_of_report; /* the exit status of a live script is that of its report */
	uint32_t perfs_scripts_first;   /* script names are searched first among perf's scripts */
	uint32_t needs_suffix;          /* -s NAME needs the suffix of the file */
	uint32_t missing_script_is_usage;  /* a missing script is status_usage */
	uint32_t ignores_buildid_variable; /* PERF_BUILDID_DIR is ignored */
	uint32_t tilde_is_folder;          /* `~` in buildid.dir is a folder's name */
	uint32_t has_no_colors;            /* text has no colours */

	/* The list of events. */
	uint32_t list_in_perfs_form; /* lines have the form of `perf list` */
	/* Words are matched with tracepoint names, not with systems; case matters. */
	uint32_t list_matches_events_only;
	uint32_t list_takes_word_by_word; /* words are handled one after the other */
	uint32_t list_passes_over_words;  /* a word without a match changes nothing */

	/* Reports. */
	/* A word that selects functions selects them in the table of the first event only. */
	uint32_t report_filters_first_event;
	uint32_t report_takes_wrong_values; /* wrong values are read as far as possible */

	/* Counting. */
	/* sonde stat returns 0 for a command that a signal killed, not 128+N. */
	uint32_t stat_hides_signals;
	/* sonde stat -j prints "(null)" as the unit of a metric that a count does not have. */
	uint32_t stat_prints_null;
};
/* The rules of a session. Valid as long as the library is loaded. */
SONDE_API const struct sonde_rules *sonde_session_rules(const struct sonde_session *s);
/* The rules of a version ("perf-6.1"), without a session. NULL if the version is unknown. */
SONDE_API const struct sonde_rules *sonde_rules_find(const char *version);
/* The rules of the i-th version; the first is the default ("none"). NULL after the last. */
SONDE_API const struct sonde_rules *sonde_rules_get(size_t i);

/*
 * A fact from the recording's header. Keys: "hostname" "osrelease" "version" "arch" "cmdline"
 * "cpudesc" "nrcpus-online" "nrcpus-available" "cpu-sockets" ("0,0,1,1": of cpu 0 and so on; -1
 * if unknown) "branch-stacks" ("1": the header says so) "branch-registers" (how many a cpu has)
 * "event-groups" ("1": the header describes groups of events)
 * "byte-order" (little, big) "long-bytes" "form" (of a perf.data: file, pipe) "lost-samples" (the
 * sum of the records LOST_SAMPLES that were read). NULL if the recording does not say. Valid as
 * long as the session. With several recordings the first one answers.
 */
SONDE_API const char *sonde_session_info(struct sonde_session *s, const char *key);

/* ---- defects --------------------------------------------------------------------------------- */

/* How a defect affects results. */
enum sonde_severity {
	SONDE_INFO = 0,      /* explains something; results are complete */
	SONDE_DATA_LOSS = 1, /* results miss something */
	SONDE_ERROR = 2      /* part of the input could not be understood */
};

/*
 * A fact about the input that users of the results should know. src/model/defects.def lists them.
 */
struct sonde_defect {
	uint32_t size;
	uint32_t severity;  /* enum sonde_severity */
	uint64_t count;     /* occurrences in this run; for "lost-events": number of events */
	const char *name;   /* "truncated", "lost-events", ... */
	const char *advice; /* a sentence: the meaning of the defect and the remedy */
	const char *first;  /* place of the first occurrence; "" if a place would not help */
};

/* The i-th defect seen so far, NULL after the last. Borrowed until the next call on the session. */
SONDE_API const struct sonde_defect *sonde_session_defect(struct sonde_session *s, size_t i);
/*
 * One closing line about the defects, for stderr; "" if there are none. Borrowed until the next
 * call of this function on the session.
 */
SONDE_API const char *sonde_session_defects_line(struct sonde_session *s);
/*
 * One sentence for stderr if the filters let no sample of the recording through: it says what the
 * recording contains (its time span, cpus, tasks or events, depending on the filters). "" if a
 * sample passed, if the recording has no sample, and with compat. Borrowed until the next call of
 * this function on the session.
 */
SONDE_API const char *sonde_session_filters_line(struct sonde_session *s);

/* ---- pairs ----------------------------------------------------------------------------------- */

/*
 * A pair of events, by pair=START,STOP[,KEY[,STOPKEY]]. START and STOP are names of events, a
 * tracepoint may be named without its system. KEY is `tid` (the default, the thread of an event), a
 * field of START, or, if START has no such field, one of the values pid, cpu and comm of an event.
 * STOPKEY is the same for STOP; by default it is what KEY is.
 *
 * A STOP matches the youngest START of its recording that has the same key and no STOP yet. An
 * event that is both ends a pair before it begins another. The derived event has the schema
 * `pair(START,STOP,KEY)`, of the kind SONDE_TRACEPOINT: the name has the value of pair= as it was
 * given. Everything about the event is as of STOP (time, cpu, task, record, call chain), but its
 * payload has these fields: `ns` (time of STOP - time of START), those of START, then those of
 * STOP, without common fields. A field of STOP whose name is taken is called stop_NAME; a field
 * `ns` of START start_ns. A schema exists when the session of a file is open. Its payload is
 * borrowed as the event is, and is not part of the record.
 *
 * event=, where= and sonde_session_want() choose what is delivered: START and STOP are read even if
 * they refuse them. All other filters come first: an event that they refuse is in no pair.
 */
struct sonde_pair {
	uint32_t size;
	uint32_t reserved;
	const char *name;          /* of the schema; valid as long as the session */
	uint64_t pairs;            /* events derived so far */
	uint64_t unmatched_starts; /* no STOP yet */
	uint64_t unmatched_stops;  /* had no START */
	uint64_t dropped;          /* pairs without event: the recording lost events in between */
	/*
	 * Oldest starts given up, because 65536 starts of the session were open, or their payloads
	 * had 64 MiB.
	 */
	uint64_t given_up;
};
/*
 * The facts about the i-th pair, in the order of pair=, up to now. Returns 1 and fills *ret, 0
 * after the last pair.
 */
SONDE_API int sonde_session_pair(struct sonde_session *s, size_t i, struct sonde_pair *ret);

/* ---- conditions ------------------------------------------------------------------------------ */

/* A condition of the language of where=, for callers that ask it about single events. */
struct sonde_filter;
/*
 * -EINVAL for a wrong text; the message has the place. It keeps the session's memory. s is NULL for
 * a condition whose names are asked only.
 */
SONDE_API int sonde_filter_new(struct sonde_filter **ret, struct sonde_session *s,
			       const char *condition);
/*
 * 1 if the condition is true for an event of the session that is valid now, 0 if not. A comparison
 * for which the event has no value is false. With is_named, it is -EINVAL for the first event of
 * the type.
 */
SONDE_API int sonde_filter_matches(struct sonde_filter *f, const struct sonde_event *ev,
				   int is_named);
/*
 * The name of the field, or of the value of every event, that the i-th comparison is about.
 * Borrowed as long as the filter. NULL after the last one.
 */
SONDE_API const char *sonde_filter_field(const struct sonde_filter *f, size_t i);
/* NULL is allowed. */
SONDE_API void sonde_filter_free(struct sonde_filter *f);

/* ---- schemas: what an event type looks like -------------------------------------------------- */

/* The kind of event that a schema describes. */
enum sonde_schema_kind {
	SONDE_TRACEPOINT = 0, /* fields come from the recording's format description */
	SONDE_SAMPLE = 1,     /* any other sampled event: cpu-clock, cycles, page-faults, ... */
	SONDE_RECORD = 2,     /* a record of state: comm, fork, mmap, lost, ... */
	SONDE_DEFECT = 3      /* a defect, with events=all: its field `name` is sonde_defect.name */
};

/* The kind of value of a field. Programs should skip unknown kinds: new inputs may add some. */
enum sonde_field_kind {
	SONDE_FIELD_INT = 0,    /* a number of 1, 2, 4 or 8 bytes; see is_signed, is_pointer */
	SONDE_FIELD_STRING = 1, /* text up to the first NUL: char array, or dynamic array of char */
	SONDE_FIELD_ARRAY = 2,  /* numbers (INT) of elem_width bytes */
	SONDE_FIELD_STRUCT = 3, /* anything else: raw bytes */
	/* Only in inputs that describe such fields; perf.data does not. */
	SONDE_FIELD_FLOAT = 4, /* IEEE 754, 4 or 8 bytes */
	SONDE_FIELD_ENUM = 5,  /* a number as INT or BITS; labels name values */
	SONDE_FIELD_BITS = 6,  /* a number of bit_width bits */
	SONDE_FIELD_NESTED = 7 /* a struct; fields describe its members */
};

/* The byte order of a field. */
enum sonde_byte_order {
	SONDE_ORDER_RECORDING = 0, /* the order of the event: see SONDE_EVENT_SWAPPED */
	SONDE_ORDER_LITTLE = 1,
	SONDE_ORDER_BIG = 2
};

/*
 * The name of the values from..to of an ENUM (both inclusive; signed if the field is signed). The
 * first matching label counts. Element of arrays: its size never changes.
 */
struct sonde_label {
	uint64_t from, to;
	const char *text; /* valid as long as the session */
};

/* A field of a schema. In an array of fields the next one begins `size` bytes after this one. */
struct sonde_field {
	uint32_t size;
	uint32_t offset;     /* bytes from sonde_event.bytes, also for members of a nested struct */
	uint32_t width;      /* bytes; 0 if the field runs to the end of the payload */
	uint32_t elem_width; /* bytes of an element, or width of a scalar; 0 if unknown */
	uint8_t kind;        /* enum sonde_field_kind */
	uint8_t is_signed;   /* "signed:1" of the format */
	uint8_t is_array;    /* [...] in the declaration, or dynamic */
	/* __data_loc, __rel_loc: low half u16 offset, high half u16 length of the data */
	uint8_t is_dynamic;
	uint8_t is_relative; /* __rel_loc: the offset counts from the end of the field's own word */
	uint8_t is_text; /* array of char, u8 or s8 by the declaration (perf's rule for strings) */
	uint8_t is_pointer;
	uint8_t is_long;    /* `long` in the declaration */
	uint8_t is_common;  /* one of the common_* fields */
	uint8_t byte_order; /* enum sonde_byte_order; also holds for elements of an array */
	uint8_t reserved[2];
	/*
	 * BITS, or ENUM if bit_width is not 0: a number of 1 to 64 bits inside the `width` bytes of
	 * the field. Bits are numbered as compilers lay out bit-fields. Little byte order: bit 0 is
	 * the lowest bit of the first byte, and higher bit numbers are more significant. Big byte
	 * order: bit 0 is the highest bit of the first byte, and higher bit numbers are less
	 * significant.
	 *
	 *	bits      0       3         8
	 *	little    byte & 7, byte >> 3 & 31
	 *	big       byte >> 5, byte & 31
	 */
	uint16_t bit_offset, bit_width;
	const char *name; /* valid as long as the session, as all pointers here */
	const char *type; /* declaration without the name: "unsigned long", "__data_loc char[]" */
	const struct sonde_label *labels; /* ENUM: array of nr_labels */
	const struct sonde_field *fields; /* NESTED: array of nr_fields */
	uint32_t nr_labels, nr_fields;
};
/*
 * The first label that matches a value of an ENUM; value is the result of sonde_event_u64() or
 * sonde_event_i64(). NULL if no label matches. Valid as long as the session.
 */
SONDE_API const char *sonde_field_label(const struct sonde_field *f, uint64_t value);

/* The kind of a step of sonde_schema_defines(). */
enum sonde_define_kind {
	SONDE_DEFINE_FLAG_FIELD = 0,     /* field, text = delimiter */
	SONDE_DEFINE_FLAG_VALUE = 1,     /* field, value, text */
	SONDE_DEFINE_SYMBOLIC_FIELD = 2, /* field */
	SONDE_DEFINE_SYMBOLIC_VALUE = 3  /* field, value, text */
};
/*
 * One step of the definitions of a field's flags and symbols in a print format. Steps are in the
 * order in which perf passes them to scripts. Labels of ENUM fields appear as symbols, one for each
 * value; ranges of more than 256 values are omitted.
 */
struct sonde_define {
	uint32_t size;
	uint32_t kind;     /* enum sonde_define_kind */
	uint64_t value;    /* set in FLAG_VALUE and SYMBOLIC_VALUE */
	const char *field; /* name of the field; valid as long as the session */
	const char *text;  /* delimiter, or name of the value; valid as long as the session */
};

/*
 * The number of schemas so far, and the schema of an id; NULL if no schema has this id yet. Ids are
 * dense in a session, from 0 on: new schemas get the next ids, and an id is never reused. A schema
 * is valid as long as its session, and so is everything that the functions below return.
 */
SONDE_API size_t sonde_session_schemas(const struct sonde_session *s);
SONDE_API const struct sonde_schema *sonde_session_schema(const struct sonde_session *s,
							  uint32_t id);

/* The schema's id, as in sonde_event.schema. */
SONDE_API uint32_t sonde_schema_id(const struct sonde_schema *sc);
/* The id of the first schema of the same name: schemas of one name are a family. */
SONDE_API uint32_t sonde_schema_family(const struct sonde_schema *sc);
/* The kind of event that the schema describes. */
SONDE_API enum sonde_schema_kind sonde_schema_kind(const struct sonde_schema *sc);
/* The system of a tracepoint: "sched"; "" for any other event type. */
SONDE_API const char *sonde_schema_system(const struct sonde_schema *sc);
/* The name without the system: "sched_switch", "cpu-clock". */
SONDE_API const char *sonde_schema_event(const struct sonde_schema *sc);
/* The complete name: "sched:sched_switch", "cpu-clock". */
SONDE_API const char *sonde_schema_name(const struct sonde_schema *sc);
/* The fields in the order of the format, common_* first; *ret_nr is their number. */
SONDE_API const struct sonde_field *sonde_schema_fields(const struct sonde_schema *sc,
							size_t *ret_nr);
/* A field by name; a member of a nested struct by its path "outer.inner". NULL if there is none. */
SONDE_API const struct sonde_field *sonde_schema_field(const struct sonde_schema *sc,
						       const char *name);
/*
 * The definitions of flags and symbols in the schema's print format; *ret_nr is the number of
 * steps. NULL and 0 if there are none.
 */
SONDE_API const struct sonde_define *sonde_schema_defines(const struct sonde_schema *sc,
							  size_t *ret_nr);
/*
 * struct perf_event_attr in the host's byte order; *ret_len is the length that the recording has.
 * NULL if there is none.
 */
SONDE_API const void *sonde_schema_attr(const struct sonde_schema *sc, size_t *ret_len);
/*
 * The values that samples of this type have, as bits of sonde_sample.present: the sample_type of
 * the attr. Inputs without attrs state it, too.
 */
SONDE_API uint64_t sonde_schema_sampled(const struct sonde_schema *sc);

/* ---- events ---------------------------------------------------------------------------------- */

/* The time of an event that was recorded without time. */
#define SONDE_NO_TIME UINT64_MAX

/* Bits of sonde_event.flags. */
enum sonde_event_flags {
	SONDE_EVENT_SWAPPED = 1, /* payload bytes are in the other byte order */
	SONDE_EVENT_LATE = 2,    /* older than an event delivered before it */
	/* not the first event made from its record, or made from two events (pair=) */
	SONDE_EVENT_DERIVED = 4
};

/*
 * An event is borrowed: valid until the next call on its session. Its values and all answers about
 * it hold for its own time, even if a program asks later (after sonde_event_dup()).
 */
struct sonde_event {
	uint32_t size;
	uint32_t schema; /* id: see sonde_session_schema() */
	/* Time of the recording's clock, or of clock=; SONDE_NO_TIME if not recorded. */
	uint64_t time_ns;
	int32_t cpu;           /* -1 if not recorded */
	int32_t pid, tid;      /* if not recorded: ids of the task that runs on cpu, else -1 */
	uint32_t flags;        /* enum sonde_event_flags */
	uint32_t comm;         /* text id of the thread's comm: sonde_session_string() */
	uint32_t bytes_len;    /* length of bytes */
	const uint8_t *bytes;  /* the payload that the schema's fields describe; borrowed */
	const uint8_t *record; /* the record as it is stored in the recording; borrowed */
	uint32_t record_len;   /* length of record */
	uint32_t cpumode;   /* 0 unknown 1 kernel 2 user 3 hypervisor 4 guest kernel 5 guest user */
	uint64_t file_off;  /* offset of the record in its input */
	uint64_t map_epoch; /* identifies the state of the process's mappings; 0 if unknown */
};

/* The schema of an event; NULL if ev is NULL. */
static inline const struct sonde_schema *sonde_event_schema(const struct sonde_session *s,
							    const struct sonde_event *ev)
{
	return ev ? sonde_session_schema(s, ev->schema) : NULL;
}

/*
 * A copy that owns its bytes and keeps the state of its time. It keeps the session's memory alive
 * until it is freed. NULL if there is no memory.
 */
SONDE_API struct sonde_event *sonde_event_dup(const struct sonde_event *ev);
/* Frees a copy made by sonde_event_dup(), and nothing else. NULL is allowed. */
SONDE_API void sonde_event_free(struct sonde_event *ev);
/* The session of an event. */
SONDE_API struct sonde_session *sonde_event_session(const struct sonde_event *ev);
/* The input that the event is from: 0 for the first input= of the session. */
SONDE_API uint32_t sonde_event_input(const struct sonde_event *ev);

/* Text by id (sonde_event.comm), "" for an unused id. Valid as long as the session. */
SONDE_API const char *sonde_session_string(const struct sonde_session *s, uint32_t id);

/*
 * The value of a field, also of a member of a nested struct. _u64() is zero-extended, _i64() is
 * sign-extended if the field is signed; both return the recorded bits of a FLOAT. _double() is the
 * value of any number. All three are 0 if the record is too short. _bytes() returns the field's own
 * bytes, or those that a dynamic field points to, clipped to the record; NULL and *ret_len 0 if
 * they are outside the record.
 */
SONDE_API uint64_t sonde_event_u64(const struct sonde_event *ev, const struct sonde_field *f);
SONDE_API int64_t sonde_event_i64(const struct sonde_event *ev, const struct sonde_field *f);
SONDE_API double sonde_event_double(const struct sonde_event *ev, const struct sonde_field *f);
SONDE_API const uint8_t *sonde_event_bytes(const struct sonde_event *ev,
					   const struct sonde_field *f, size_t *ret_len);
/*
 * The event's text without a newline: made by its print format ("prev_comm=..."), or as its input
 * contains it, or name=value pairs. Borrowed until the next call on the session.
 */
SONDE_API const char *sonde_event_text(const struct sonde_event *ev, size_t *ret_len);

/* The value of a counter that a sample has read. Element of arrays: its size never changes. */
struct sonde_read_value {
	uint64_t id;    /* the counter's id; 0 if not recorded */
	uint64_t value; /* running total */
	uint64_t lost;  /* samples of the counter that were lost; 0 if not recorded */
};
/* An entry of a branch stack. Element of arrays: its size never changes. */
struct sonde_branch {
	uint64_t from, to, flags; /* flags: PERF_BRANCH_* layout, little-endian numbering */
};
/*
 * The values of a sample. Bits of `present` are PERF_SAMPLE_* of linux/perf_event.h; members whose
 * bit is not set are 0. The arrays are borrowed until the next call of sonde_event_sample() or
 * sonde_session_next() on the session.
 */
struct sonde_sample {
	uint32_t size;
	uint32_t nr_reads;    /* length of reads */
	uint64_t present;     /* PERF_SAMPLE_* */
	uint64_t read_format; /* PERF_FORMAT_* of the event */
	uint64_t ip, addr, id, stream_id, period;
	uint64_t time_enabled_ns, time_running_ns;
	const struct sonde_read_value *reads; /* borrowed */
	uint64_t weight, data_src, transaction, phys_addr, cgroup;
	uint64_t data_page_size, code_page_size;
	uint64_t nr_branches; /* length of branches */
	uint64_t branch_hw_idx;
	const struct sonde_branch *branches; /* borrowed; most recent first */
	uint64_t user_regs_abi, user_regs_mask, intr_regs_abi, intr_regs_mask;
	const uint64_t *user_regs, *intr_regs; /* borrowed; one value per mask bit, ascending */
	const uint8_t *user_stack; /* borrowed; user_stack_len bytes from the stack pointer up */
	uint64_t user_stack_len;
	uint64_t raw_len; /* length of the raw payload, sonde_event.bytes */
};
/*
 * All values of a sample. Returns 0 on success, -ENODATA if the event is not a sample, -EBADMSG if
 * its record is damaged.
 */
SONDE_API int sonde_event_sample(const struct sonde_event *ev, struct sonde_sample *ret);
/*
 * The words for sonde_sample.data_src as text output prints them: "|OP LOAD|LVL L1 hit|...". They
 * are cut to size bytes with the NUL. Returns the length of the complete text.
 */
SONDE_API size_t sonde_session_data_src_text(const struct sonde_session *s, uint64_t data_src,
					     char *buf, size_t size);
/*
 * The name of a register of the machine that recorded the event; nr is its bit in a register mask.
 * The text may be written to room.
 */
SONDE_API const char *sonde_event_register_name(const struct sonde_event *ev, uint32_t nr,
						char room[16]);

/* Why an address has no symbol. */
enum sonde_unknown {
	SONDE_KNOWN = 0,
	SONDE_UNKNOWN_NO_MAPPING = 1,   /* the recording has no mapping at that address */
	SONDE_UNKNOWN_NO_FILE = 2,      /* memory that is not mapped from a file */
	SONDE_UNKNOWN_ABSENT = 3,       /* the file is not on this machine */
	SONDE_UNKNOWN_NO_RIGHT = 4,     /* no permission to read the file */
	SONDE_UNKNOWN_NOT_FOLLOWED = 5, /* no-follow=1, and no cache has the file */
	SONDE_UNKNOWN_OTHER_BUILD = 6,  /* the file of that name is another build */
	/* the file has no symbol table, its debug file is missing */
	SONDE_UNKNOWN_STRIPPED = 7,
	SONDE_UNKNOWN_NO_SYMBOL = 8,  /* the symbol table has nothing at that address */
	SONDE_UNKNOWN_NO_KERNEL = 9,  /* the symbols of the recorded kernel are missing */
	SONDE_UNKNOWN_ELSEWHERE = 10, /* an address of a guest or a hypervisor */
	SONDE_UNKNOWN_TOO_LARGE = 11  /* the file, or all maps of JITs together, exceed a limit */
};
/* "stripped", "not on this machine", ...; "" for SONDE_KNOWN and for undefined numbers. */
SONDE_API const char *sonde_unknown_text(uint32_t reason);

/*
 * The location of an address: its file, mapping and symbol, as far as they are known. Names are
 * valid as long as the session.
 */
struct sonde_location {
	uint32_t size;
	uint32_t sym_binding;        /* 0 local, 1 global, 2 weak */
	uint64_t addr;               /* the address that was looked up */
	const char *dso;             /* "[kernel.kallsyms]", "/usr/bin/x"; NULL if unknown */
	const char *dso_build_id;    /* hex, "" if unknown */
	uint64_t map_start, map_end; /* the mapping's addresses */
	uint64_t map_pgoff;          /* offset of map_start in the file */
	const char *sym;             /* NULL if unknown */
	/*
	 * Start and end of the symbol: offsets in the dso's file, but addresses for the kernel and
	 * for JITs. A kernel symbol registered at run time (a BPF program) is a dso of its own and
	 * begins at 0 in it.
	 */
	uint64_t sym_start, sym_end;
	uint64_t sym_off; /* addr - start of the symbol */
	/*
	 * Identifies the dso: two files of one name have two ids, and so has one file in two
	 * recordings. Ids are dense from 1 and valid as long as the session; 0 if none. dso_id and
	 * sym_start together identify a symbol.
	 */
	uint64_t dso_id;
	uint64_t dso_off; /* offset of addr in the dso's file; for kernel and JITs the address */
	/*
	 * Identifies this answer in its session: answers with the same number are equal in all
	 * members. Callers may use it as the key of a cache. 0 if the answer has no number.
	 */
	uint64_t answer;
	uint32_t unknown;       /* enum sonde_unknown */
	uint32_t sym_is_object; /* 1 if the symbol is a variable, 0 if it is a function */
};
/*
 * A cpumode for addresses among an event's values, other than its own ip. The address then decides
 * between kernel and user mode.
 */
#define SONDE_CPUMODE_OF_ADDRESS UINT32_MAX
/*
 * Looks up an address in the address space of the event's process, as of the event. cpumode is as
 * in sonde_event, or SONDE_CPUMODE_OF_ADDRESS. Returns 0 also if nothing is known there:
 * sonde_location.unknown then says why.
 */
SONDE_API int sonde_event_locate(const struct sonde_event *ev, uint64_t addr, uint32_t cpumode,
				 struct sonde_location *ret);
/*
 * Like sonde_event_locate(), but returns no copy: the result is borrowed until the next lookup of
 * an address. It is never NULL: if ev is NULL, the result is an unknown location.
 */
SONDE_API const struct sonde_location *sonde_event_located(const struct sonde_event *ev,
							   uint64_t addr, uint32_t cpumode);

/* More about a dso than its name. Texts are valid as long as the session. */
struct sonde_dso {
	uint32_t size;
	uint32_t reserved;
	uint64_t id;            /* sonde_location.dso_id */
	const char *short_name; /* "x" for "/usr/bin/x"; "[xfs]" for a module */
	const char *long_name;  /* the path if there is one; for a module the path of its .ko */
	/* Hex: the recorded id, else the id of the file that has the symbols; "" if unknown. */
	const char *build_id;
};
/* The dso at an address, found like in sonde_event_locate(). -ENOENT if none is known there. */
SONDE_API int sonde_event_dso(const struct sonde_event *ev, uint64_t addr, uint32_t cpumode,
			      struct sonde_dso *ret);

/* A name that a task has or had. Every COMM creates a new one, even if the text repeats. */
struct sonde_task_name {
	uint64_t id;       /* counted from 1 in a session, never used again */
	uint64_t since_ns; /* SONDE_NO_TIME if not recorded */
	uint32_t comm;     /* text id: sonde_session_string() */
	uint32_t by_exec;  /* 1 if exec set it */
};
/* Bits of sonde_task.flags. */
enum sonde_task_flags {
	SONDE_TASK_NAMED = 1, /* a name was recorded; otherwise its name is ":TID" */
	/* The task ended, and no later record mentions it. Only with compat=perf-6.12. */
	SONDE_TASK_GONE = 2
};
/* A task (perf's thread). A tid may be reused by later tasks; they have different ids. */
struct sonde_task {
	uint32_t size;
	uint32_t flags; /* enum sonde_task_flags */
	int32_t pid, tid;
	uint64_t id;                 /* counted from 1 in a session, never used again */
	struct sonde_task_name name; /* as of the event */
	/* The task's name from its last exec so far; without a recorded exec, its first name. */
	struct sonde_task_name program;
};
/*
 * A task as of the session's current event. Returns 0 on success, -ESTALE for a copy made by
 * sonde_event_dup(), -ENOMEM.
 */
SONDE_API int sonde_event_task(const struct sonde_event *ev, int32_t pid, int32_t tid,
			       struct sonde_task *ret);

/* What sonde_event_code() looks up; lines and texts are expensive. */
enum sonde_code_parts {
	SONDE_CODE_LINE = 1, /* file and line */
	SONDE_CODE_TEXT = 2, /* also the text of that line, which opens the source file */
	SONDE_CODE_INSN = 4  /* the instruction's bytes */
};
/* The code at an address. */
struct sonde_code {
	uint32_t size;
	uint32_t line;    /* 0 if unknown */
	const char *file; /* with its folder; NULL if unknown. Valid as long as the session */
	const char *text; /* not NUL-terminated; NULL if unknown. Borrowed until the next call */
	size_t text_len;
	uint32_t insn_len; /* 0 if unknown */
	uint8_t insn[20];  /* the first insn_len bytes are valid */
};
/*
 * The code at an address; addr and cpumode as for sonde_event_locate(). parts: enum
 * sonde_code_parts, or-ed. Code of the kernel, of hypervisors and of guests is never known. Returns
 * 0 also if nothing is known.
 */
SONDE_API int sonde_event_code(const struct sonde_event *ev, uint64_t addr, uint32_t cpumode,
			       unsigned parts, struct sonde_code *ret);

/* Bits of sonde_frame.flags. */
enum sonde_frame_flags {
	/* Unwound from recorded registers and stack: the ip of a caller is inside its call. */
	SONDE_FRAME_UNWOUND = 1,
	/* A function inlined at ip; the frame that it was inlined into follows. */
	SONDE_FRAME_INLINED = 2,
	/* From the branch stack: the ip of a caller is the start of its call instruction. */
	SONDE_FRAME_BRANCH = 4,
	/*
	 * The outermost frame of a chain whose further callers are or may be missing. The chain
	 * reached a limit (of the event type's recording, of the kernel's default, of the key
	 * max-stack), or unwinding ended before the outermost function.
	 */
	SONDE_FRAME_CUT = 8
};
/* A frame of a call chain. Element of arrays: its size never changes. */
struct sonde_frame {
	uint64_t ip; /* an address in the function */
	/* The mode of this frame: user before the first marker, 0 after an unknown marker. */
	uint32_t cpumode;
	uint32_t flags; /* enum sonde_frame_flags */
	/*
	 * Known only for unwound frames with inline=1, which looks for inlined functions. Valid as
	 * long as the session.
	 */
	const char *sym;  /* name of the frame; NULL if it is the symbol at ip */
	const char *file; /* file of the source line; NULL if unknown */
	uint32_t line;
	uint32_t reserved;
};
/*
 * The call chain, innermost frame first, without markers; *ret is borrowed until the next call of
 * this function on the session. Returns the number of frames (0 without a call chain and with
 * callchain=0), a negative errno on failure. If the recording has registers and stack, the
 * user-space frames are unwound from them.
 */
SONDE_API int sonde_event_callchain(const struct sonde_event *ev, const struct sonde_frame **ret);

/* ---- profiles -------------------------------------------------------------------------------- */

/*
 * A profile: samples added up by keys, in one pass, without keeping samples.
 *
 *	struct sonde_profile *p;
 *	struct sonde_profile_row row = { .size = sizeof(row) };
 *
 *	sonde_profile_new(&p, "keys=comm,sym\ncallgraph=caller\n", "here");
 *	sonde_profile_read(p, session);
 *	sonde_profile_finish(p);
 *	for (uint64_t i = 0; sonde_profile_row(p, 0, i, &row) > 0; i++)
 *		printf("%llu %s\n", (unsigned long long)row.period, sonde_profile_text(p, 0, i, 1));
 *	sonde_profile_free(p);
 *
 *	profile		tables 0..n-1, in the order in which the recording lists its event types
 *	  table		one event type, or one group of them: rows 0..n-1
 *	    row		one combination of the keys: counts, values 0..keys-1, a call tree
 *	      node	a run of frames that are only called together
 *	      value	text, number and rank of a key
 *	place		the function, file and line of an address. Rows and nodes refer to it
 *
 * Samples are added as numbers. sonde_profile_finish() looks up names, merges rows of equal values
 * and sorts the rows. A profile has no tables before that call, and the session may be closed after
 * it. Memory grows only with distinct keys and distinct call paths. Everything borrowed from a
 * profile is valid until sonde_profile_free(), unless its comment gives an earlier end.
 */
struct sonde_profile;

/*
 * Makes an empty profile. settings: lines of key=value, as for sonde_session_open(); "" means all
 * defaults. Returns 0 and *ret, which sonde_profile_free() frees; -EINVAL for an unknown key or a
 * bad value; -ENOMEM.
 *
 *	keys=LIST           comma-separated; default comm,dso,sym; empty: one row of all samples.
 *	                    See sonde_profile_key().
 *	                    Other words are fields of tracepoints: EVENT.FIELD, FIELD, EVENT.*,
 *	                    trace_fields, each with an optional /raw. They are looked up in the
 *	                    schemas when the first event is added, which fails with -EINVAL if
 *	                    there is no such field
 *	callgraph=none|callee|caller  call trees: frames of a path begin at the sampled function, or
 *	                    at the outermost caller. none (default)
 *	callgraph-key=function|address|srcline  which frames are equal; default function
 *	children=0|1        1: a row for each function of a sample's call path, once for each
 *	                    sample: sonde_profile_row.children_period. Needs callgraph
 *	borrow-chains=0|1   1: with children, samples of event types without call chains count for
 *	                    the functions in the last chain of their thread, too
 *	groups=recorded|none|all  recorded (default): event types of a recorded group share a table;
 *	                    none: no event types share one; all: all event types share one if the
 *	                    recording has no groups
 *	parent=REGEX        for the key parent; default ^sys_|^do_page_fault
 *	ignore-callees=REGEX  frames below a function that matches are dropped; the function then
 *	                    counts as the sampled one
 *	time-quantum=NS     for the key time; default 100000000
 *	raw-fields=0|1      1: fields of tracepoints are numbers, not texts made by print formats
 *	hide-unresolved=0|1 1: samples and frames without a symbol are dropped
 *	branches=0|1        1: each entry of a sample's branch stack counts as a sample of period 1,
 *	                    at the target; samples without branches do not count. Not with
 *	                    callgraph. The keys about branches need it
 *	weight-as-period=0|1  1: the period of a sample is its weight, or 1 if it has none. Not
 *	                    with branches
 *	blocks=0|1          1: the cycles of blocks of code between branches are added up:
 *	                    sonde_profile_block(). Needs branches=1
 *	branch-history=0|1  1: the branches of a sample's branch stack are frames of its path, in
 *	                    front of its call chain. Needs callgraph
 *	nanoseconds=0|1     1: texts of the key time have 9 digits behind the point, not 6
 *	full-source-path=0|1  1: texts of the key srcline have the file's folders
 *	empty-tables=0|1    1: events without samples have tables, too
 *	tree-order=size|place  place: siblings of call trees are ordered by file (the last recorded
 *	                    first), then by address
 *	socket=N parents-only=0|1  rows of samples on other processor sockets, and of samples whose
 *	                    key parent has no function, are marked SONDE_ROW_FILTERED
 *	comms=LIST dsos=LIST symbols=LIST pids=LIST tids=LIST  other samples are counted, but their
 *	                    rows are marked SONDE_ROW_FILTERED. The session's keys of these names
 *	                    drop samples instead
 *	weight=NAME         sums a further value: weight, period, addr or phys_addr of samples, or a
 *	                    number field of tracepoints. A sample without the value, or with a
 *	                    negative one, adds 0. May be given up to four times
 *	max-keys=N          limit on distinct combinations of keys and paths; default 10000000. The
 *	                    frames of all paths together have the limit 16 N. Samples of further
 *	                    ones are only counted, in sonde_profile_facts.dropped_samples
 */
SONDE_API int sonde_profile_new(struct sonde_profile **ret, const char *settings,
				const char *origin);
SONDE_API void sonde_profile_free(struct sonde_profile *p); /* NULL is allowed */

/*
 * The i-th sort key that `keys` accepts, without fields of tracepoints; NULL after the last.
 * *ret_title (may be NULL) is the title of its column. Valid as long as the library is loaded.
 */
SONDE_API const char *sonde_profile_key(size_t i, const char **ret_title);

/*
 * Adds all further samples of a session. Returns 0 at the end, a negative errno as
 * sonde_session_next() does. May be called again for further sessions.
 */
SONDE_API int sonde_profile_read(struct sonde_profile *p, struct sonde_session *s);
/* Adds one event. Returns 1 if it is a sample, 0 if not (it is ignored), a negative errno. */
SONDE_API int sonde_profile_add(struct sonde_profile *p, const struct sonde_event *ev);
/*
 * Adds the samples of a finished profile to *p, or subtracts them. *p is a new profile without
 * samples of its own and is finished afterwards; any number of profiles can be merged into it. The
 * other profile is not changed and may be freed. After a subtraction the sums in all structs are
 * differences: read them as int64_t. Rows, nodes and paths that only one side has are there, too,
 * and so are those whose difference is 0.
 *
 * Rows, nodes and paths are the same if their texts are: files by short name, functions by name,
 * unresolved places by address in the file, tasks by pid, tid and comm, event types by name.
 * Addresses are compared if keys has addr, addr_from or addr_to or callgraph-key=address, source
 * lines for srcline and srcfile. sonde_profile_table.schema and sonde_profile_row.task are numbers
 * of *p only.
 *
 * keys=, weight=, branches= and, unless *p has callgraph=none, callgraph-key= must be the same in
 * both profiles, and the other profile needs callgraph= if *p has it. Returns 0; -EINVAL if they
 * differ, if groups of events differ, if *p is finished or has samples of a session, or if the
 * other is not finished; -ENOMEM.
 */
SONDE_API int sonde_profile_merge(struct sonde_profile *p, const struct sonde_profile *more);
SONDE_API int sonde_profile_subtract(struct sonde_profile *p, const struct sonde_profile *base);
/*
 * Looks up names and makes the tables. No sample can be added afterwards. The sessions that were
 * read must still be open. Returns 0 on success; -EINVAL if a key names no field of any event;
 * -ENOMEM.
 */
SONDE_API int sonde_profile_finish(struct sonde_profile *p);
/*
 * Sorts the rows of all tables. order is a comma-separated list of numeric columns and keys; later
 * ones decide between rows that are equal in the earlier ones. Numeric columns, which put the
 * largest value first: children, period (overhead), samples (sample), period_sys, period_us,
 * period_guest_sys, period_guest_us, weight1 to weight4. A key sorts by sonde_profile_value.rank.
 * Rows that are equal in all of them are in the order of sonde_profile_row.merged. In a group,
 * members decide after the leader, in their order; group_member is the member that decides first
 * (0: the leader). "" (the order after sonde_profile_finish()) is "children,period" or "period",
 * then all keys.
 *
 * The column children follows perf's rule for rows with equal sums and the same first task: the row
 * with the longer path is first with callgraph=caller, the row with the shorter path with
 * callgraph=callee. The column children_only sorts without that rule, like perf's -g none.
 */
SONDE_API int sonde_profile_sort(struct sonde_profile *p, const char *order, uint32_t group_member);

/* Bits of sonde_profile_facts.flags. */
enum sonde_profile_flags {
	SONDE_PROFILE_SATURATED = 1,  /* a sum reached its largest value and stayed there */
	SONDE_PROFILE_CALLCHAINS = 2, /* a sample had a call chain */
	/* Sums are differences and of type int64_t, also in tables, rows, nodes and paths. */
	SONDE_PROFILE_DIFFERENCE = 4
};
/*
 * Facts about a finished profile. The caller sets `size`. dropped_samples, hidden_samples and
 * truncated_chains are sums over all merged profiles, also over those that were subtracted.
 */
struct sonde_profile_facts {
	uint32_t size;
	uint32_t flags; /* enum sonde_profile_flags */
	uint32_t nr_tables, nr_keys;
	uint64_t samples;            /* samples added, of all event types */
	uint64_t unresolved_samples; /* samples whose address has no symbol */
	uint64_t dropped_samples;    /* samples not added, because max-keys was reached */
	uint64_t hidden_samples;     /* samples not added, because of hide-unresolved */
	/* Samples whose call chain was full, or was not unwound to its outermost frame. */
	uint64_t truncated_chains;
	uint64_t first_ns, last_ns; /* times of samples; SONDE_NO_TIME if none has a time */
	/* Samples without a symbol, by enum sonde_unknown. */
	uint64_t unresolved_by_reason[16];
};
/* Fills *ret; returns 1. */
SONDE_API int sonde_profile_facts(const struct sonde_profile *p, struct sonde_profile_facts *ret);

/* A table. The caller sets `size`, here and in the structs below. */
struct sonde_profile_table {
	uint32_t size;
	uint32_t schema;  /* id of the event type in its session; for a group the leader's */
	const char *name; /* "cpu-clock"; for a group the leader's */
	/* The group's recorded name; "" if it has no name, NULL if no group was recorded. */
	const char *group;
	uint32_t nr_members; /* members of the group with its leader; 1 if it is no group */
	uint32_t flags;      /* 1: all its events are tracepoints */
	uint64_t nr_rows;
	/* Sums over all rows and members; shown_ members omit rows with SONDE_ROW_FILTERED. */
	uint64_t samples, period, shown_samples, shown_period;
};
/* Returns 1 and fills *ret, 0 if there is no such table. */
SONDE_API int sonde_profile_table(const struct sonde_profile *p, uint32_t table,
				  struct sonde_profile_table *ret);
/* A member of a group, 0 for the leader: its own name and sums, but the table's nr_rows. */
SONDE_API int sonde_profile_member(const struct sonde_profile *p, uint32_t table, uint32_t member,
				   struct sonde_profile_table *ret);

/* Bits of sonde_profile_row.flags. */
enum sonde_profile_row_flags {
	/* The first sample of the row does not pass comms=, dsos=, symbols=, pids= and tids=. */
	SONDE_ROW_FILTERED = 1,
	SONDE_ROW_UNRESOLVED = 2, /* the row's place has no symbol */
	SONDE_ROW_HAS_TREE = 4    /* a sample of the row has a call path */
};
/* A row. Its counts are of the samples that have its keys (perf's Self). */
struct sonde_profile_row {
	uint32_t size;
	uint32_t flags; /* enum sonde_profile_row_flags */
	uint64_t samples, period;
	/* With children=1 counts of samples whose path has the row's function; else as above. */
	uint64_t children_samples, children_period;
	/* period by mode: kernel, user, guest kernel, guest user. */
	uint64_t period_sys, period_us, period_guest_sys, period_guest_us;
	uint64_t weights[4];        /* sums for weight= */
	uint64_t first_ns, last_ns; /* times of the row's samples; SONDE_NO_TIME if none */
	uint64_t merged;            /* the row's position in the order in which perf merges rows */
	uint64_t task;              /* task of the row's first sample: sonde_task.id */
	/* The place for sym, dso, srcline ...; 0 if no key is about a place. */
	uint32_t place;
	uint32_t max_depth; /* frames of the row's longest path */
};
/* Returns 1 and fills *ret, 0 after the last row. Rows are in the order of the last sort. */
SONDE_API int sonde_profile_row(const struct sonde_profile *p, uint32_t table, uint64_t row,
				struct sonde_profile_row *ret);
/* Sets samples, period ... weights of *ret to the counts of one member of a group (0: the leader)
 * in a row. */
SONDE_API int sonde_profile_row_member(const struct sonde_profile *p, uint32_t table, uint64_t row,
				       uint32_t member, struct sonde_profile_row *ret);

/* The kind of sonde_profile_value. */
enum sonde_profile_value_kind {
	SONDE_VALUE_TEXT = 0,    /* number is not used */
	SONDE_VALUE_NUMBER = 1,  /* text is the number as perf prints it */
	SONDE_VALUE_ADDRESS = 2, /* number is an address, text "0x..." */
	SONDE_VALUE_NONE = 3 /* the row's samples do not have the value; text is perf's for it */
};
/* The value of a key in a row. */
struct sonde_profile_value {
	uint32_t size;
	uint32_t kind; /* enum sonde_profile_value_kind */
	/*
	 * Two values of one key have the same id if and only if they are equal, in all tables.
	 * After sorting by rank, a level of a hierarchy is a run of rows with equal ids.
	 */
	uint32_t id;
	/*
	 * Position of the value in perf's display order (texts ascending, dynamic fields by bytes
	 * descending ...). Values that are equal there have equal ranks.
	 */
	uint32_t rank;
	uint32_t unknown; /* enum sonde_unknown, for keys about a place */
	uint32_t place;   /* the place for sym, dso, srcline ...; 0 if there is none */
	uint64_t number;
	const char *text; /* without padding */
	/*
	 * dso: the path. pid: the comm. sym: NULL if unresolved, else the same as text. Field of a
	 * tracepoint: its bytes.
	 */
	const char *long_text;
	uint32_t bytes_len; /* for a field of a tracepoint, the length of long_text */
	/*
	 * Minimum width of the column in perf; 0 if it has none. comm, trace, dso_size, fields
	 * of tracepoints: the width that perf takes the row's text for, which may be less than its
	 * length; 0 if it is its length. symbol_daddr: has room for an address after the name.
	 */
	uint32_t width;
	/*
	 * dcacheline: perf's letter in front of the text, s for shared memory, X without a mapping.
	 * 0 if the letter is that of the place.
	 */
	char level;
	uint8_t reserved[7];
};
/* The value of key 0..nr_keys-1 of a row. Returns 1, 0 if there is no such row or key. */
SONDE_API int sonde_profile_value(const struct sonde_profile *p, uint32_t table, uint64_t row,
				  uint32_t key, struct sonde_profile_value *ret);
/* The text of that value; "" if there is no such row or key. */
SONDE_API const char *sonde_profile_text(const struct sonde_profile *p, uint32_t table,
					 uint64_t row, uint32_t key);
/*
 * The name and the title of a column: key 0..nr_keys-1 of the profile. EVENT.* and trace_fields
 * make several columns. *ret_table is the only table that has the column, UINT32_MAX if all have
 * it. ret_title and ret_table may be NULL. Returns NULL after the last column.
 */
SONDE_API const char *sonde_profile_column(const struct sonde_profile *p, uint32_t key,
					   const char **ret_title, uint32_t *ret_table);

/* The sum of a counter's values when a thread ended, as perf record -s records them. */
struct sonde_profile_read {
	uint32_t size;
	int32_t pid, tid;
	uint32_t schema;
	const char *name; /* of the event type */
	uint64_t value;
};
/*
 * The value of a counter for a thread; 0 if it was not read for that thread. Both are counted from
 * 0, in the order in which the recording has them. At most max-keys threads are kept. A merged
 * profile has none. Returns 1, 0 if there is no such thread or counter.
 */
SONDE_API int sonde_profile_read_value(const struct sonde_profile *p, uint32_t thread,
				       uint32_t counter, struct sonde_profile_read *ret);

/* The function, file and line at an address of a row or a frame. */
struct sonde_profile_place {
	uint32_t size;
	uint32_t unknown; /* enum sonde_unknown: the reason if sym is NULL */
	uint64_t ip;      /* the address, as recorded */
	/*
	 * The address in the dso's file, as perf prints it for the row of a sample; ip itself for
	 * the kernel and if there is no mapping.
	 */
	uint64_t dso_addr;
	uint64_t dso_id;             /* counted from 1 in the profile, in perf's order; 0 no dso */
	const char *dso;             /* short name; NULL if unknown */
	const char *dso_path;        /* long name */
	const char *sym;             /* NULL if unknown */
	uint64_t sym_start, sym_end; /* addresses like dso_addr */
	uint64_t map_bytes;          /* size of the mapping */
	const char *file;            /* file of the source line; NULL if unknown or not asked for */
	uint32_t line;
	uint32_t cpumode;    /* as sonde_event.cpumode */
	char level;          /* perf's letter: k . g u H */
	uint8_t is_inlined;  /* sym is a function inlined at ip */
	uint8_t sym_binding; /* 0 local, 1 global, 2 weak */
	uint8_t reserved[5];
};
/* Returns 1 and fills *ret; 0 if there is no such place. Places are numbered from 1. */
SONDE_API int sonde_profile_place(const struct sonde_profile *p, uint32_t place,
				  struct sonde_profile_place *ret);

/*
 * A node of a call tree: frames 0..nr_frames-1, in the order of callgraph=. A path continues in a
 * child or ends here.
 */
struct sonde_profile_node {
	uint32_t size;
	uint32_t nr_frames;
	const uint32_t *frames; /* places; borrowed until the next call of sonde_profile_tree() */
	uint32_t parent;        /* 0 for a root */
	/*
	 * The first child, and the next node with the same parent; 0 if there is none. They are in
	 * perf's order: the larger period first, then the younger dso, then the higher address.
	 */
	uint32_t child, next;
	uint32_t reserved;
	uint64_t hit_period, hit_samples; /* sums over paths that end here */
	uint64_t period, samples;         /* the same, with all paths that end below */
};
/*
 * Makes the call tree of a row. Returns 1 and the number of the first root for
 * sonde_profile_node(); 0 if the row has none (no path, or a row of a group without samples of the
 * leader). The tree is valid until the next call of this function.
 *
 * A row's own samples have their complete path. children=1: other samples have the part of their
 * path from the row's function on (callgraph=caller: to the sampled function; callee: to the
 * outermost caller). The sum of the roots' periods is children_period.
 */
SONDE_API int sonde_profile_tree(struct sonde_profile *p, uint32_t table, uint64_t row,
				 uint32_t *ret_root);
/*
 * The same for a caller that shows only nodes whose period is at least `least`: a smaller node has
 * only its first frame, no hits and no children. The tree of a row with many different paths then
 * takes a fraction of the time and the memory.
 */
SONDE_API int sonde_profile_tree_above(struct sonde_profile *p, uint32_t table, uint64_t row,
				       uint64_t least, uint32_t *ret_root);
SONDE_API int sonde_profile_node(const struct sonde_profile *p, uint32_t node,
				 struct sonde_profile_node *ret);

/*
 * Branches at a frame of a call tree, for branch-history=1; sums over the samples of its node. A
 * frame is the target or the source of a branch, or a frame of a call chain.
 */
struct sonde_profile_branches {
	uint32_t size;
	uint32_t is_target;               /* of its last branch; otherwise it was the source */
	uint64_t branches;                /* 0: the frame is of call chains only */
	uint64_t predicted, aborted;      /* of targets */
	uint64_t forward, backward;       /* conditional branches to a higher or lower address */
	uint64_t cross_4k, cross_2m;      /* into another page of 4 KiB, of 2 MiB */
	uint64_t types[24];               /* by PERF_BR_*; 16 + PERF_BR_NEW_* */
	uint64_t sources, cycles;         /* cycles: before the sources' branches */
	uint64_t iterations, loop_cycles; /* of loops that were left out behind the sources */
	/* 1: the first sample of the node came from the frame as a source; perf does not count it
	 */
	uint64_t first_is_source;
};
/* Returns 1 and fills *ret, 0 if there is no such frame or the profile has no branch history. */
SONDE_API int sonde_profile_branches(const struct sonde_profile *p, uint32_t node, uint32_t frame,
				     struct sonde_profile_branches *ret);
/*
 * The types of all branches of a profile with branches=1: only the members from `forward` to
 * `types` are set. Returns 0 if it has none. With compat a row counts its first branch only, once
 * for each of its branches.
 */
SONDE_API int sonde_profile_branch_types(const struct sonde_profile *p,
					 struct sonde_profile_branches *ret);

/*
 * Code of a function from the target of a branch to the source of the next one, for blocks=1.
 * Blocks with the same end are one, which begins where the longest does; without a known target in
 * the function it begins with the function.
 */
struct sonde_profile_block {
	uint32_t size;
	uint32_t start_place, end_place; /* for sonde_profile_place() */
	uint32_t reserved;
	uint64_t start, end;    /* offsets in the function */
	uint64_t cycles, count; /* sums over the blocks */
	uint64_t all_cycles;    /* of all branches of the profile */
};
/*
 * The block at a position, the largest share of cycles first. Blocks are those of functions that a
 * row of the table is about. Returns 1 and fills *ret, 0 after the last, or -ENOMEM.
 */
SONDE_API int sonde_profile_block(struct sonde_profile *p, uint32_t table, uint64_t block,
				  struct sonde_profile_block *ret);

/*
 * A distinct combination of keys, sampled place, call path and cpumode, with its sums: for folded
 * text and flame graphs. Paths of a table are in the order of their first samples.
 */
struct sonde_profile_path {
	uint32_t size;
	uint32_t nr_frames;
	/*
	 * Places, the outermost caller first. Borrowed as long as the profile with
	 * callgraph=caller, else until the next sonde_profile_path().
	 */
	const uint32_t *frames;
	uint64_t samples, period;
	uint64_t weights[4];
	uint64_t first_ns, last_ns; /* times of the path's samples; SONDE_NO_TIME if none */
	uint32_t place;             /* the sampled place; 0 if no key is about a place */
	uint32_t flags;             /* SONDE_ROW_FILTERED, if its row has it */
};
/* Returns 1 and fills *ret, 0 after the last path. Without callgraph= paths have no frames. */
SONDE_API int sonde_profile_path(struct sonde_profile *p, uint32_t table, uint64_t path,
				 struct sonde_profile_path *ret);
/* The value of key 0..nr_keys-1 in a path's samples. Returns like sonde_profile_value(). */
SONDE_API int sonde_profile_path_value(const struct sonde_profile *p, uint32_t table, uint64_t path,
				       uint32_t key, struct sonde_profile_value *ret);

/* ---- columns --------------------------------------------------------------------------------- */

/*
 * The structs of Arrow's C data interface and C stream interface. The macros of the specification
 * guard them, so other headers that declare them may be included, too.
 */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

/*
 * The type of an array. release(s) frees what s refers to, and sets s->release to NULL. A consumer
 * may move the struct or a child: it copies the struct and sets `release` of the original to NULL.
 */
struct ArrowSchema {
	const char *format; /* "i": int32, "u": UTF-8, "+s": a struct of the children ... */
	const char *name;
	const char *metadata; /* int32 number of pairs, then int32 length and bytes of each text */
	int64_t flags;        /* ARROW_FLAG_*, or-ed */
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary; /* type of the values, if format is that of codes */
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

/* Values. It is released and moved like an ArrowSchema. */
struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset; /* of the first value; columns have 0 */
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers; /* the first is a bitmap: 1 for a value, 0 for null; NULL: no nulls */
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/*
 * Arrays of one type. Functions that return int return 0 or a positive errno; get_last_error() then
 * has the text, valid until the next call on the stream. After the last array get_next() returns 0
 * and an array whose release is NULL.
 */
struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};
#endif

/*
 * Tables of typed columns, filled with the events of a session in one pass.
 *
 *	struct sonde_columns *c;
 *	struct ArrowSchema schema;
 *	struct ArrowArray batch;
 *	uint32_t table;
 *
 *	sonde_columns_new(&c, session);
 *	sonde_columns_add(c, "sched:sched_switch", "prev_pid,next_pid", NULL);
 *	sonde_columns_schema(c, 0, &schema);
 *	while (sonde_columns_next(c, &table, &batch) > 0) {
 *		use(&schema, &batch);
 *		batch.release(&batch);
 *	}
 *	schema.release(&schema);
 *	sonde_columns_free(c);
 *
 * A table has the events of one type, in the order in which the session delivers them. Its own
 * columns come first: time, cpu, pid, tid, comm, and `stack` if wanted. Then fields follow. A field
 * that is called like an own column gets the name `f_NAME` ("f_pid"). All columns are nullable:
 *
 *	column                          Arrow format          null if
 *	time                            l, nanoseconds        not recorded
 *	cpu, pid, tid                   i                     -1: not recorded
 *	comm                            i, dictionary u       tid is null
 *	stack                           i, dictionary +l of L the event has no call chain
 *	stack with FRAMES               i, dictionary +l of i the same
 *	integer, enum, bits             c C s S i I l L       the record is too short
 *	pointer                         L                     the same
 *	float                           f g                   the same
 *	text                            i, dictionary u       its bytes are outside the record
 *	array of integers               +l                    the same
 *	struct, anything else           z                     the same
 *	value of a sample (ip, addr..)  L                     the sample does not have it
 *
 * Text is valid UTF-8: a byte that is not becomes the four characters \xNN. Each batch has the
 * dictionary values found so far; a value keeps its code in all batches. The metadata of `time` has
 * "unit" (ns) and "sonde.clock" (the session's key clock); that of a field has "sonde.type", its
 * declaration.
 *
 * Schemas of one family (sonde_schema_family()) fill the same table. If their integer or float
 * fields of one name differ, the column has the narrowest type that has all their values, or l if
 * there is none. If their kinds differ, the first schema decides. Schemas that appear after
 * sonde_columns_add() do not change a column. A value that a column cannot hold is null and is
 * counted in sonde_columns_table.unfit.
 *
 * The session belongs to the columns while they read it: it delivers only the events that tables
 * need, and events that a caller reads in between are missing from the tables. Reading may pass
 * over samples that no table needs. If columns are freed before the end then, the next call that
 * reads the session fails with -EINVAL: open the recording again. Columns keep the session's
 * memory, so it may be closed before them; until then they must be used by the session's thread.
 * Schemas and arrays depend on neither: they own their memory and may be used and released by any
 * thread, in any order. Buffers are aligned to 64 bytes.
 */
struct sonde_columns;

/* Bits of sonde_columns_options.flags. */
enum sonde_columns_flags {
	SONDE_COLUMNS_BYTES = 1, /* text and comm as recorded: i, dictionary z */
	/*
	 * Fields whose values have names in a schema of the family, as text: i, dictionary u. A
	 * value without a name is its number. Other fields stay numbers.
	 */
	SONDE_COLUMNS_NAMES = 2,
	SONDE_COLUMNS_STACKS = 4,      /* a column `stack`: addresses, innermost frame first */
	SONDE_COLUMNS_FIELDS_ONLY = 8, /* no own columns, except those that `fields` names */
	SONDE_COLUMNS_FRAMES = 16      /* a column `stack`: positions in sonde_columns_frames() */
};
/* How a table is filled. A zeroed struct with `size` means all defaults. */
struct sonde_columns_options {
	uint32_t size;
	uint32_t flags; /* enum sonde_columns_flags */
	/*
	 * Limit on the rows of a batch; 0: 65536; at most 2^28. A batch is shorter if its arrays
	 * and bytes would exceed 64 MiB.
	 */
	uint32_t rows;
	uint32_t reserved;
};

/*
 * Makes columns without a table. Returns 0 and *ret, which sonde_columns_free() frees; -ENOMEM.
 */
SONDE_API int sonde_columns_new(struct sonde_columns **ret, struct sonde_session *s);
/* Frees columns, but not arrays and schemas made of them. NULL is allowed. */
SONDE_API void sonde_columns_free(struct sonde_columns *c);
/*
 * Adds a table for the events of a type: "sched:sched_switch", or "sched_switch" if only one system
 * has it; "cpu-clock" for "cpu-clock:u". fields: names, comma-separated; NULL: all fields but
 * common_*, and for events that are not tracepoints the values of samples: ip, addr, id, stream_id,
 * period, weight, data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size,
 * time_enabled, time_running. Both kinds may be named for any sample. A name means the field, as
 * does its column's name ("f_pid"); if the event has no such field, it means the own column. o may
 * be NULL: all defaults. If nothing was read from a pipe, this reads up to its first events.
 *
 * Returns the number of the table, from 0 on. -ENOENT for an unknown event or field; the nearest
 * names are in the chain of causes. -EINVAL for a name that is given twice or is ambiguous, for
 * wrong options, and after the first call of a fill or next function. -ENOMEM.
 */
SONDE_API int sonde_columns_add(struct sonde_columns *c, const char *event, const char *fields,
				const struct sonde_columns_options *o);
/*
 * The type of a table: a struct (+s) named after the event, with one child for each column. Returns
 * 0 and *ret, which ret->release() releases; -ENOENT if there is no such table; -ENOMEM.
 */
SONDE_API int sonde_columns_schema(struct sonde_columns *c, uint32_t table,
				   struct ArrowSchema *ret);
/*
 * The next batch of any table: an array of the table's type. Reads the session as far as needed. At
 * the end of the session the rest of each table follows, in the order of tables. Returns 1, *ret,
 * which ret->release() releases, and *ret_table; 0 at the end; a negative errno on failure, as from
 * sonde_session_next_batch(), -ENOMEM, or -EFBIG if a dictionary exceeds 2 GiB.
 */
SONDE_API int sonde_columns_next(struct sonde_columns *c, uint32_t *ret_table,
				 struct ArrowArray *ret);
/*
 * sonde_columns_next() in two steps, for hosts that hold a lock or handle signals.
 * sonde_columns_next_pending() never reads: it returns 1 and a batch, or 0 if none is complete.
 * sonde_columns_fill() reads for a short time: it returns 1 if there may be more, 0 at the end (the
 * rest of the tables is then pending), a negative errno on failure.
 */
SONDE_API int sonde_columns_next_pending(struct sonde_columns *c, uint32_t *ret_table,
					 struct ArrowArray *ret);
SONDE_API int sonde_columns_fill(struct sonde_columns *c);
/*
 * Ends the current batch of each table that has rows, so that sonde_columns_next_pending() returns
 * it. Live sessions use this to get batches in time. Returns 0, -ENOMEM, or -EFBIG.
 */
SONDE_API int sonde_columns_flush(struct sonde_columns *c);
/*
 * The frames of the events read so far, to which the column `stack` of a table refers if its flags
 * have SONDE_COLUMNS_FRAMES. A number in a stack is the row of a frame. Rows keep their place; each
 * call returns all of them, without a copy of earlier ones.
 *
 *	ip       L                    the address
 *	symbol   i, dictionary u      the function's name; null: unknown
 *	offset   L                    bytes from the function's start; null: unknown, or inlined
 *	dso      i, dictionary u      the file mapped there; null: unknown
 *
 * Rows differ in at least one column: an address that belonged to two functions, one after the
 * other, has two rows. Names are looked up while the session is read, as by sonde_event_locate().
 * Returns 0, *ret_schema and *ret, which
 * own their memory and are to be released; -ENOENT if the table has no frames; -ENOMEM.
 */
SONDE_API int sonde_columns_frames(struct sonde_columns *c, uint32_t table,
				   struct ArrowSchema *ret_schema, struct ArrowArray *ret);
/*
 * An Arrow stream of the only table. Returns 0 and *ret, which now owns c and frees it with
 * ret->release(); -EINVAL if there is not exactly one table; -ENOMEM. On failure c is unchanged.
 */
SONDE_API int sonde_columns_stream(struct sonde_columns *c, struct ArrowArrayStream *ret);

/* Facts about a table, as far as the session was read. */
struct sonde_columns_table {
	uint32_t size;
	uint32_t schema;     /* id of the first schema of its events */
	const char *name;    /* of the events; valid as long as the columns */
	uint32_t nr_columns; /* own columns and fields */
	uint32_t reserved;
	uint64_t rows;  /* in all batches, also in those not yet complete */
	uint64_t unfit; /* values that are null because the column's type cannot hold them */
	uint64_t lost;  /* events of any type that the recording reports as lost */
};
/* Returns 1 and *ret; 0 if there is no such table. */
SONDE_API int sonde_columns_table(const struct sonde_columns *c, uint32_t table,
				  struct sonde_columns_table *ret);

/* ---- aggregations ---------------------------------------------------------------------------- */

/*
 * Aggregations: events counted by keys, with sums or histograms of one of their fields, in one
 * pass, without keeping events.
 *
 *	const struct sonde_aggregate_options o = {
 *		.size = sizeof(o),
 *		.kind = "sum",
 *		.events = "syscalls:sys_exit_read",
 *		.field = "ret",
 *		.by = "comm",
 *		.where = "ret > 0",
 *	};
 *	const struct sonde_event *const *events;
 *	struct sonde_aggregate *a;
 *	size_t nr;
 *
 *	sonde_aggregate_new(&a, session, &o);
 *	while (nr = 256, sonde_session_next_batch(session, &events, &nr) > 0)
 *		sonde_aggregate_add(a, events, nr);
 *	sonde_aggregate_print(a, 1, NULL);
 *	sonde_aggregate_free(a);
 *
 * Any number of aggregations may take the events of a session, next to other readers. They do not
 * choose what the session delivers: sonde_aggregate_wants() says which event types a caller need
 * not read.
 *
 * Keys (`by`) are these values of an event, or else a field, or else a value of its sample (addr,
 * period ...; see sonde_columns_add()). `f_NAME` means the field that is called like one of them
 * ("f_pid"):
 *
 *	name                    name of the event type
 *	comm, pid, tid, cpu     of the event; sonde_event
 *	cgroup                  path of the control group of the task
 *	index                   which input of the session: sonde_event_input()
 *	kstack, ustack, stack   functions of the call chain: in the kernel, in user space, all
 *
 * Memory is bounded: an aggregation keeps `limit` keys, and at most as many again (at least 1024)
 * until it merges the smallest ones into one row, `(other)`. Counts of the other rows are then
 * lower bounds, because a key may have been merged and have occurred again. The same happens if
 * histograms need more than 65536 and 16 * limit buckets.
 *
 * An aggregation keeps the session's memory, so the session may be closed before it.
 */
struct sonde_aggregate;

/*
 * What is aggregated. A zeroed member means that it is not given; texts are copied. All events of a
 * kind but `count` need a value that fits into an int64_t.
 */
struct sonde_aggregate_options {
	uint32_t size;
	uint32_t limit; /* keys that are kept; 0: 100000; at most 2^28 */
	/*
	 * count: events. sum: a field added up. stats: count, sum, mean, least and largest value,
	 * percentiles. hist: a histogram with buckets of powers of two. lhist: one with buckets of
	 * `step` from `low` to `high`.
	 */
	const char *kind;
	/* Names or patterns as in the key event= of a session: "sched:*,pair(a:b,a:c)". */
	const char *events;
	const char *field; /* a field, or else a value of the sample; NULL for count */
	const char *by;    /* up to 8 keys, comma-separated; NULL: one row of all events */
	const char *where; /* as the key where= of a session: only events for which it is true */
	/* lhist: high is above the last bucket; at most 65536 buckets. */
	int64_t low, high, step;
};
/*
 * Makes an aggregation without events. Returns 0 and *ret, which sonde_aggregate_free() frees;
 * -EINVAL for wrong options and a wrong `where`; -ENOMEM; -ESRCH if the session has no such event,
 * or an event misses a field; the nearest names are in the chain of causes. Event types that only a
 * pattern chooses are left out if they miss a field, unless all of them do. The input of a pipe
 * describes its events later: there, sonde_aggregate_add() fails at the first event that is chosen
 * by its name and misses a field.
 */
SONDE_API int sonde_aggregate_new(struct sonde_aggregate **ret, struct sonde_session *s,
				  const struct sonde_aggregate_options *opts);
/* Frees an aggregation. NULL is allowed. */
SONDE_API void sonde_aggregate_free(struct sonde_aggregate *a);
/*
 * 0 if events of a schema are never added, so that sonde_session_want() may switch them off if
 * nobody else needs them; 1 if they are. -ESRCH as sonde_aggregate_add(). -ENOMEM.
 */
SONDE_API int sonde_aggregate_wants(struct sonde_aggregate *a, uint32_t schema);
/*
 * Adds n events of the session; those of other types are passed over. An event that has no value
 * for a key or the field, because its record is too short, or because an int64_t cannot hold it, is
 * left out and counted in sonde_aggregate_facts.unfit. A sum that leaves the range of int64_t stays
 * at its end, and is the defect `sum-overflow` of the session. Returns 0; -ESRCH or -EINVAL as
 * sonde_aggregate_new(), for event types that it did not know; -ENOMEM; -EFBIG if distinct call
 * chains exceed 2 GiB. After a failure, some of the events are added.
 */
SONDE_API int sonde_aggregate_add(struct sonde_aggregate *a,
				  const struct sonde_event *const *events, size_t n);
/* Forgets all events that were added. Returns 0, or -ENOMEM, which changes nothing. */
SONDE_API int sonde_aggregate_clear(struct sonde_aggregate *a);

/* Facts about an aggregation, up to now. */
struct sonde_aggregate_facts {
	uint32_t size;
	uint32_t nr_keys;  /* of each row */
	const char *kind;  /* as it was given; valid as long as the aggregation, as all texts */
	const char *title; /* "sum of ret of syscalls:sys_exit_read by comm where ret > 0" */
	uint64_t count;    /* events that were added */
	uint64_t unfit;    /* events that were left out because they have no value */
	/* Keys in the row `(other)`. A key that occurs again after it was merged counts again. */
	uint64_t merged;
	int64_t sum; /* of the field, over all rows; at an end of its range if it left it */
};
/* Returns 0 and fills *ret. The number of merged keys is exact after sonde_aggregate_rows(). */
SONDE_API int sonde_aggregate_facts(struct sonde_aggregate *a, struct sonde_aggregate_facts *ret);
/* The name of the i-th key, as it was given; NULL after the last. Valid as the aggregation. */
SONDE_API const char *sonde_aggregate_key(const struct sonde_aggregate *a, size_t i);

/* The form of a key's value. */
enum sonde_aggregate_form {
	SONDE_AGGREGATE_NONE = 0,     /* not recorded: an unknown task, no call chain ... */
	SONDE_AGGREGATE_NUMBER = 1,   /* number is an int64_t */
	SONDE_AGGREGATE_UNSIGNED = 2, /* number */
	SONDE_AGGREGATE_ADDRESS = 3,  /* number; a pointer */
	SONDE_AGGREGATE_TEXT = 4,
	/* "main;work;leaf": functions, the outermost first. A ';' in a name is ':'. */
	SONDE_AGGREGATE_STACK = 5
};
/* A key of a row. Element of arrays: its size never changes. */
struct sonde_aggregate_value {
	uint32_t kind; /* enum sonde_aggregate_form */
	uint32_t reserved;
	uint64_t number;
	const char *text; /* TEXT, STACK; else NULL */
};
/* A bucket of a histogram. Element of arrays: its size never changes. */
struct sonde_aggregate_bucket {
	/* The least and the largest value. INT64_MIN, INT64_MAX: there is no end on that side. */
	int64_t low, high;
	uint64_t count;
};
/* Bits of sonde_aggregate_row.flags. */
enum sonde_aggregate_flags {
	SONDE_AGGREGATE_OTHER = 1, /* the row of merged keys: it has no keys */
	/* The sum is out of range and shows its end; the mean is that of the exact sum. */
	SONDE_AGGREGATE_SATURATED = 2
};
/*
 * A row; with the kind count only `count` is set. Percentiles (stats) are the least value that so
 * many percent of all values do not exceed, in error by 1/128 of the value at most, exact below
 * 128. Buckets are those of hist and lhist, without empty ones at either end: hist has one bucket
 * for all negative values, one for 0, then 1, 2..3, 4..7 ...; lhist has further buckets for
 * everything below `low`, and from `high` on.
 */
struct sonde_aggregate_row {
	uint32_t size;
	uint32_t flags; /* enum sonde_aggregate_flags */
	uint64_t count;
	int64_t sum, min, max;
	int64_t mean; /* rounded to the nearest integer */
	int64_t p50, p90, p99;
	const struct sonde_aggregate_value *keys;
	const struct sonde_aggregate_bucket *buckets;
	uint32_t nr_keys, nr_buckets;
	int64_t p95;
};
/*
 * Sorts the rows: the largest first (by sum for sum, by count for all other kinds), those of equal
 * size by their keys in ascending order, `(other)` last. Call chains become names here. Returns the
 * number of rows, -ENOMEM. The rows stay until the next call of sonde_aggregate_add(), _clear() or
 * _free().
 */
SONDE_API int sonde_aggregate_rows(struct sonde_aggregate *a);
/*
 * The i-th row. Returns 1 and fills *ret, whose pointers are borrowed until the next call of this
 * function or of sonde_aggregate_print(), or as long as the rows; 0 if there is no such row, or
 * after events were added; -ENOMEM.
 */
SONDE_API int sonde_aggregate_row(struct sonde_aggregate *a, size_t i,
				  struct sonde_aggregate_row *ret);

/* How an aggregation is printed. A zeroed struct with `size` means all defaults. */
struct sonde_aggregate_print_options {
	uint32_t size;
	uint32_t top; /* limit on rows, besides `(other)`; 0: 20 as text, none as JSON */
	/*
	 * text (NULL): a title, and a table with bars or a histogram for each row. json: one
	 * object: docs/formats/aggregate-json.md.
	 */
	const char *format;
	uint32_t columns; /* text: of the terminal, which limits bars; 0: no limit */
	uint32_t reserved;
	/*
	 * The period that the rows are of, in nanoseconds since the session began; printed
	 * if to_ns is not 0.
	 */
	uint64_t from_ns, to_ns;
};
/*
 * Sorts the rows and writes them to fd; o may be NULL: all defaults. Values of a field that is
 * called `ns` or ends with `_ns` are durations in text ("1.23 ms"). Returns 0 on success, -EINVAL
 * for wrong options, -ENOMEM, or the errno of writing.
 */
SONDE_API int sonde_aggregate_print(struct sonde_aggregate *a, int fd,
				    const struct sonde_aggregate_print_options *o);

/* ---- text output ----------------------------------------------------------------------------- */

/*
 * Writes all events of the session as text to fd, laid out as perf script does. Returns 0 on
 * success, -EPIPE if the reader closed the pipe, -ENODATA if damage kept every sample from being
 * read, or another negative errno. The output up to a failure is kept.
 */
SONDE_API int sonde_session_write_text(struct sonde_session *s, int fd);
/*
 * Like sonde_session_write_text(), but writes the session's format. With jsonl
 * (docs/formats/jsonl.md) losses and defects are lines, too; other records of state are lines with
 * events=all or with their key show-...-events. -EINVAL if jsonl is combined with a key that lays
 * out text: fields, dump, per-event-dump, deltatime, latency, max-blocks, show-round-events or
 * header-info.
 */
SONDE_API int sonde_session_write(struct sonde_session *s, int fd);

/* ---- recording ------------------------------------------------------------------------------- */

/* One of -e, --filter, -G, --trigger, in the order given; the other members are NULL. */
struct sonde_record_event {
	const char *events; /* "sched:sched_switch,raw_syscalls:*" */
	const char *filter; /* kernel filter for the events of the last -e before it */
	/*
	 * Comma-separated control groups. The n-th group of all -G is for the n-th event of all -e.
	 * An empty group means all tasks. A single group is for all events before it.
	 */
	const char *cgroup;
	/* With ftrace=1: a trigger of ftrace for the events of the last -e: "stacktrace:1". */
	const char *trigger;
};

/*
 * settings: lines of key=value. If a key is repeated, its last line counts. A key of value 0|1 is 0
 * by default. Keys are the option names of perf record. A value is what perf record takes; ""
 * stands for an option whose optional value is omitted.
 *
 *    What is recorded:
 *	all-cpus=0|1        1: all processes (also if there is neither a command nor another target)
 *	cpu=LIST            only these cpus: 0,2-3
 *	pid=LIST tid=LIST   running processes, threads; comma-separated numbers
 *	uid=USER            processes of a user: a number or a name
 *	no-inherit=auto|0|1 1: children are not recorded; auto: children of threads (tid) are not,
 *	                    all others are
 *	per-thread=0|1      1: a buffer per thread instead of one per cpu
 *	count=N freq=HZ|max one sample every N events; about HZ samples a second, or the most that
 *	                    the kernel allows
 *	strict-freq=0|1     1: a frequency that the kernel does not allow is an error
 *	group=0|1           1: all events are one group
 *	all-user=0|1        1: all events count in user space only
 *	all-kernel=0|1      1: all events count in the kernel only
 *	exclude-self=auto|0|1  1: omit tracepoints that the recorder itself triggers; auto: with
 *	                    all-cpus, omit those of system calls, file systems, block devices,
 *	                    writeback and kmem
 *	call-graph=MODE     fp[,FRAMES], dwarf[,BYTES], lbr; "" is fp
 *	kernel-callchains=0|1 user-callchains=0|1  1: record only this part of call chains
 *	no-samples=0|1      1: record no samples, only records of state
 *	stat=0|1            1: record counts for each thread, too
 *    Values of a sample (auto: as events and targets need):
 *	timestamp=auto|0|1 period=auto|0|1 sample-cpu=auto|0|1  the time, the period, the cpu
 *	data=0|1 phys-data=0|1  the address of the data, the physical address
 *	data-page-size=0|1 code-page-size=0|1  the size of the page that holds the data, the code
 *	raw-samples=0|1     the raw bytes, which tracepoints always have
 *	sample-identifier=0|1  the event's identifier; it is recorded anyway
 *	running-time=0|1    for reads of groups: how long a group was counted
 *	weight=0|1 transaction=0|1  the weight, the transaction flags, for events that have them
 *	intr-regs=NAMES user-regs=NAMES  registers, comma-separated; "" is all; "?" is an error that
 *	                    lists them
 *	branch-filter=LIST  branch stacks of these kinds: any, any_call, any_ret, ind_call, ind_jmp,
 *	                    call, cond, abort_tx, in_tx, no_tx, stack, save_type, priv, u, k, hv
 *	aux-sample=OPTS snapshot=OPTS  refused: they need hardware tracing
 *
 *    Clock, records of state, build ids:
 *	clockid=CLOCK       monotonic, monotonic_raw, boottime, realtime, tai, or a number
 *	namespaces=0|1      1: record the namespaces of processes
 *	all-cgroups=0|1     1: record control groups, and that of each sample
 *	switch-events=0|1   1: record context switches
 *	no-bpf-event=0|1    1: do not record the loading of BPF programs
 *	synth=LIST          describe the state before the recording: no, all, or some of
 *	                    task,mmap,cgroup
 *	num-thread-synthesize=N  ... with so many threads
 *	tail-synthesize=0|1 1: ... at the end of the recording
 *	proc-map-timeout=MS limit on reading the mappings of one process; default none
 *	no-buildid=0|1      1: neither record build ids nor fill the cache
 *	buildid-all=0|1     1: record build ids of all mapped files, also of those without samples
 *	buildid-mmap=0|1    1: the kernel records build ids with each mapping
 *	buildid-dir=DIR     the cache; default ~/.debug; /dev/null: none
 *	kcore=0|1           refused: the recording contains the kernel's symbols
 *	no-buildid-cache=auto|0|1  auto: the cache is filled unless files are switched
 *
 *    Buffers:
 *	ftrace=0|1|auto     1: ftrace's buffers are recorded, through an instance of tracefs, and
 *	                    the file is a trace.dat. Only tracepoints, filters, triggers, targets
 *	                    and output= have an effect. If the output is a pipe: tracepoints are
 *	                    taken out of these buffers, and written as samples. auto, the default
 *	                    of sonde_live_open(): where that gives the same events; 0 elsewhere
 *	buffer-size=SIZE    with ftrace=1: the size of each cpu's buffer; 4M if not given
 *	ftrace-clock=CLOCK  with ftrace=1: the clock, one that trace_clock lists; perf, the clock of
 *	                    other recordings, if not given
 *	mmap-pages=N|SIZE[,N|SIZE]  the size of each cpu's buffer, and of that for hardware tracing
 *	mmap-flush=SIZE     do not read a buffer before it holds so many bytes
 *	overwrite=0|1       1: new events overwrite the oldest; what remains at the end is written
 *	no-buffering=0|1    1: every event wakes the recorder
 *	aio=N               write in a thread; up to N times (1..4) the size of the buffers may be
 *	                    pending
 *	affinity=node|cpu   the thread that empties buffers moves to the cpu, or to its node
 *	threads=SPEC        several threads empty buffers: cpu, core, package, numa, or lists of
 *	                    cpus; output is a directory
 *	realtime=PRIORITY   the recorder runs with SCHED_FIFO
 *	compression-level=N compress records: 1 to 22; "" is 1
 *	compressed-records=old|new  the form that perf writes before 6.16, or since
 *
 *    Start, end, output:
 *	delay=MS|RANGES     begin after so many milliseconds, with -1 when `control` says so; or
 *	                    record only in these ranges: 10-20,30-40
 *	control=fd:N[,N]|fifo:PATH[,PATH]  read commands from there and answer on the second one:
 *	                    enable, disable, evlist, ping, stop
 *	dry-run=0|1         1: check options, targets and command; record nothing
 *	output=FILE         "-": pipe mode on standard output; also without this key if standard
 *	                    output is a pipe
 *	output-fd=N         pipe mode on descriptor N, which stays the caller's
 *	latency=MS          pipe mode: the reader can deliver an event so long after it happened, at
 *	                    most; default 100
 *	reader=PID          pipe mode: exclude-self omits this process, too
 *	started=PID         instead of a command: a process that waits and is about to execute one;
 *	                    its events are recorded from its execve() on, until the recorder stops
 *	max-size=SIZE       end the recording at this size
 *	switch-output=signal|SIZE|TIME  begin another file with sonde_recorder_switch(), or after so
 *	                    many bytes or so much time
 *	switch-output-event=EVENTS  begin another file when one of these events occurs
 *	switch-max-files=N  keep the last N files
 *	timestamp-filename=0|1  1: file names end with the time
 *	timestamp-boundary=0|1  the times of the first and the last sample; they are recorded anyway
 */
struct sonde_record_options {
	uint32_t size;
	/* If NULL, records cycles, or cpu-clock if there is no such counter. */
	const struct sonde_record_event *events;
	size_t nr_events;           /* length of events */
	const char *settings;       /* NULL if none */
	const char *const *command; /* NULL-terminated; NULL if none */
	/* The complete command line, for the header; borrowed until close; NULL if none. */
	const char *const *argv;
	/*
	 * Gets lines for the user ("falling back to cpu-clock", the closing summary). level: 0
	 * warning, 1 normal, 2 verbose. It is called until the recorder is closed, possibly by a
	 * thread of the recorder while the caller is in another call.
	 */
	void (*say)(void *ctx, int level, const char *line);
	void *say_ctx; /* ctx of say */
};

/* The result of a recording. A caller sets `size`, or leaves it 0. */
struct sonde_record_result {
	uint32_t size;
	/* The workload's status; 126, 127 if it could not be run; 128+N if signal N killed it. */
	int32_t exit_status;
	uint64_t samples; /* samples in the file */
	uint64_t lost;    /* events that the kernel dropped, or that could not be written */
	uint64_t bytes_written;
};

/* A recording being made. */
struct sonde_recorder;
/*
 * Parses events, opens them and the output, and starts the workload stopped. On failure nothing is
 * left behind; -EBADR: an event or a filter is wrong. A command that cannot be found or executed is
 * reported by sonde_recorder_run(), not here.
 *
 * If the caller catches or ignores SIGXFSZ, a file size limit is an error like a full disk;
 * otherwise it kills the process. If the caller catches or ignores SIGPIPE, the reader of a pipe
 * ends the recording by closing its end; otherwise that kills the process.
 *
 * The limit of open files (RLIMIT_NOFILE) is raised if the recording needs more, and stays raised.
 * The scheduling of the calling thread is changed until close (short time slices, realtime=): call
 * open, run and close in one thread.
 */
SONDE_API int sonde_recorder_open(struct sonde_recorder **ret,
				  const struct sonde_record_options *opts);
/*
 * Records until the workload ends or sonde_recorder_stop() is called. A second stop also ends the
 * waiting for a workload that does not end, and for a reader of a pipe that does not read; the rest
 * then counts as lost. A reader that closes its end of the pipe ends the recording as a stop does;
 * this is no failure for callers that catch or ignore SIGPIPE. *ret is filled on failure, too. If
 * events could not be enabled or the workload could not be run (exit_status 126 or 127), there is
 * no file. After any other failure the file is readable and has all that was recorded before.
 */
SONDE_API int sonde_recorder_run(struct sonde_recorder *r, struct sonde_record_result *ret);
/* Ends the recording: sonde_recorder_run() returns. May be called from a signal handler. */
SONDE_API void sonde_recorder_stop(struct sonde_recorder *r);
/*
 * Ends the file and begins another one if settings switch files (switch-output,
 * switch-output-event); otherwise does nothing. May be called from a signal handler.
 */
SONDE_API void sonde_recorder_switch(struct sonde_recorder *r);
/* Frees a recorder; its file stays. NULL is allowed. */
SONDE_API void sonde_recorder_close(struct sonde_recorder *r);

/* ---- live ------------------------------------------------------------------------------------ */

/*
 * What happens now, as a session. A recorder runs in a thread of this process, with the rights of
 * this process, and the session gets its events in the order of their times. It is a session like
 * that of a pipe: read once, its schemas appear with the first event of each type at the latest.
 *
 *	sonde_live_open(&l, &opts);       events are opened, the command waits
 *	sonde_live_start(l);              from here on events are recorded
 *	sonde_live_session(l, "", &s);
 *	while (sonde_session_next(s, &ev) > 0)
 *		...                       until the command ends, or sonde_live_stop()
 *	sonde_live_result(l, &result);
 *	sonde_live_close(l);              closes the session, too
 *
 * A caller that reads too slowly loses events, not memory: the kernel drops them, and they are
 * reported as losses in their place. An event that is older than one already delivered is delivered
 * at once, with the flag SONDE_EVENT_LATE.
 */
struct sonde_live_options {
	uint32_t size;
	/* An event can be delivered so long after it happened, at most. 0: 100 */
	uint32_t latency_ms;
	/*
	 * Events, settings and command, as for sonde_recorder_open(), but for the keys of the
	 * output. Its lines for the user are also kept for sonde_live_line(). Its argv and command
	 * are borrowed until close.
	 */
	const struct sonde_record_options *record;
	/* This file gets a copy, a recording in pipe mode; NULL if none. */
	const char *output;
	/*
	 * The path of the program sonde: `sonde record -o -` is started through sudo(8), or
	 * pkexec(1) if there is no sudo, and records with its rights; the command, and everything
	 * else, keeps those of the caller. It takes no settings that name files, descriptors or
	 * priorities. The password is asked for on the terminal. A caller that is root needs none
	 * of this. NULL: this process records, with its own rights.
	 */
	const char *sudo;
	/*
	 * In place of sudo, a socket (SOCK_SEQPACKET): one byte with three descriptors (SCM_RIGHTS)
	 * asks its other end for `sonde record -o - --serve` with these as 0, 1 and 2. `sonde run`
	 * is that other end under sudo. 0: none
	 */
	int32_t broker_fd;
};
struct sonde_live;
/*
 * Fails like sonde_recorder_open() (-EBADR: an event or a filter is wrong), and leaves nothing
 * behind then. -EACCES and -EPERM: rights are missing; the causes say which.
 */
SONDE_API int sonde_live_open(struct sonde_live **ret, const struct sonde_live_options *opts);
/*
 * Begins to record, and starts the command: events from the return on are recorded. -EALREADY if it
 * was called before.
 */
SONDE_API int sonde_live_start(struct sonde_live *l);
/*
 * Opens the session: once, before or after the start (-EALREADY). text: its text form, without
 * input=. It is closed with the live session: the caller must not close it.
 */
SONDE_API int sonde_live_session(struct sonde_live *l, const char *text,
				 struct sonde_session **ret);
/*
 * Ends the recording. The session delivers the events up to now, then ends. A command gets SIGTERM.
 * May be called from a signal handler or from another thread.
 */
SONDE_API void sonde_live_stop(struct sonde_live *l);
/*
 * The next line for the user, and its level (sonde_record_options.say): each is returned once. NULL
 * if there is none now. Valid until close.
 */
SONDE_API const char *sonde_live_line(struct sonde_live *l, int *ret_level);
/*
 * Waits for the end of the recording, and of a command. Call it after the session has ended or
 * sonde_live_stop(). *ret is filled on failure, too: see sonde_recorder_run().
 */
SONDE_API int sonde_live_result(struct sonde_live *l, struct sonde_record_result *ret);
/* Ends everything; output= stays. NULL is allowed. */
SONDE_API void sonde_live_close(struct sonde_live *l);
/*
 * The other process of struct sonde_live_options.sudo: records what in_fd asks for, writes it to
 * out_fd and answers on say_fd. Returns at the end: 0, or the failure, which was reported. The
 * caller must not be ended by SIGINT or SIGPIPE.
 */
SONDE_API int sonde_live_serve(int in_fd, int out_fd, int say_fd);

/* ---- counting -------------------------------------------------------------------------------- */

/* How counts are added up: one row for each event and each of these. */
enum sonde_stat_by {
	SONDE_STAT_BY_ALL = 0, /* one row for each event */
	SONDE_STAT_BY_CPU = 1,
	SONDE_STAT_BY_CORE = 2,
	SONDE_STAT_BY_DIE = 3,
	SONDE_STAT_BY_SOCKET = 4,
	SONDE_STAT_BY_NODE = 5, /* NUMA */
	SONDE_STAT_BY_THREAD = 6
};

/*
 * What is counted. A caller sets `size`. Settings are lines key=value:
 *
 *	all-cpus=0|1        everything on all cpus; the default without a command and other targets
 *	cpu=LIST            everything on these cpus: "0,2-3"
 *	pid=LIST tid=LIST   running processes with all their threads; running threads
 *	no-inherit=auto|0|1 1: what the tasks start is not counted
 *	group=0|1           all events are one group
 *	all-user=0|1 all-kernel=0|1   only what happens in user space, in the kernel
 *	for-each-cgroup=LIST  each event once for each of these control groups
 *	detailed=0..3       number of additions to the default events
 *	null=0|1            no events: only the time is measured
 *	no-scale=0|1        1: counts of events that shared a counter are not extrapolated
 *	by=all|cpu|core|die|socket|node|thread
 *	leave-out=0|1       1: events that the user may not open are left out, if any can be opened
 *	percore-show-thread=0|1  by=cpu: an event with the term percore has a row for each cpu, with
 *	                    the sum of its core; 0: a row for each core
 *	no-merge=0|1        1: an event of several sources (x/ev/ of x_0 and x_1) has rows for each
 *	                    and is named by it; 0: one row with the sum
 *	hybrid-merge=0|1    1: an event of a hybrid processor has one row, the sum over all types
 *	                    of cores
 *	cputype=TYPE        events of a hybrid processor are counted on cores of this type only:
 *	                    core, atom
 *	interval=MS         sonde_stat_next() returns a round every MS milliseconds
 *	interval-count=N    counting ends after N intervals; 0 no limit
 *	timeout=MS          counting ends after so long; the command gets SIGTERM
 *	delay=MS            counting begins so long after the command; -1: once control= says so
 *	control=CHANNEL     takes the commands enable, disable, ping and stop, like a recorder
 *	sync=0|1            sync() before each run
 *	pre=COMMAND post=COMMAND   shell commands before and after each run
 *	output=FILE         the counts are also written to FILE, a recording of perf stat record
 */
struct sonde_stat_options {
	uint32_t size;
	uint32_t nr_events;
	/* Events with their filters and control groups; without any, the default events. */
	const struct sonde_record_event *events;
	const char *settings;       /* NULL if none */
	const char *const *command; /* NULL-terminated; NULL if none */
	/* The complete command line, for the header of output=; NULL if none. Borrowed until close.
	 */
	const char *const *argv;
	/* Gets lines for the user, like those of struct sonde_record_options. */
	void (*say)(void *ctx, int level, const char *line);
	void *say_ctx; /* ctx of say */
};

/* An event that is counted. Texts live as long as the count. */
struct sonde_stat_event {
	uint32_t size;
	uint32_t is_supported; /* 0: the kernel or the processor does not have it */
	const char *name;      /* as it was given: "cs", "sched:sched_switch" */
	const char *cgroup;    /* NULL if all control groups */
	const char *unit;      /* of a count times scale: "msec", "ns", "MiB"; "" if none */
	double scale;
	/* The event whose rows have the counts of this one: that of the same name of another event
	 * source, or itself. */
	uint32_t rows_event;
};

/* How a metric is read. */
enum sonde_stat_metric_kind {
	SONDE_STAT_NUMBER = 0,       /* "1.234 GHz" */
	SONDE_STAT_RATIO = 1,        /* two decimals: "0.87 insn per cycle" */
	SONDE_STAT_PERCENT = 2,      /* two decimals: "1.25% of all branches" */
	SONDE_STAT_PERCENT_FINE = 3, /* three decimals: "1.250 % of all cache refs" */
	/* One decimal: "40.0% Retiring". A second figure of these kinds is on the same line. */
	SONDE_STAT_PERCENT_COARSE = 4,
	SONDE_STAT_WHOLE = 5,      /* no decimals: "160 cycles / elision" */
	SONDE_STAT_WHOLE_SMALL = 6 /* no decimals, few digits: "3 SMI#" */
};

/* A figure derived from several counts. */
struct sonde_stat_metric {
	double value;
	const char *unit;   /* "CPUs utilized", "K/sec"; static */
	uint32_t kind;      /* enum sonde_stat_metric_kind */
	uint32_t has_value; /* 0: the counts that it needs are missing */
};

/* A row has a count, or the reason why it has none. */
enum sonde_stat_state {
	SONDE_STAT_COUNTED = 0,
	SONDE_STAT_NOT_COUNTED = 1,  /* the event was never on a counter */
	SONDE_STAT_NOT_SUPPORTED = 2 /* the kernel or the processor does not have it */
};

/* The count of one event on one place. Numbers of places that do not apply are -1. */
struct sonde_stat_row {
	uint32_t size;
	uint32_t event;       /* for sonde_stat_event() */
	uint32_t state;       /* enum sonde_stat_state */
	uint32_t nr_counters; /* counters added up in this row: cpus of a core */
	int32_t cpu, core, die, socket, node;
	int32_t tid;
	const char *comm; /* of tid; "" if none. Borrowed like the rows */
	uint64_t count;   /* of this round; extrapolated if the event shared a counter */
	double value;     /* mean of the runs so far; of an interval, its count */
	double deviation; /* standard deviation of the mean; 0 with fewer than two runs */
	uint64_t enabled_ns, running_ns; /* of this round, all counters together */
	/* The figures derived from this count. Their units are static. */
	uint32_t nr_metrics;
	struct sonde_stat_metric metrics[2];
	/* means of enabled_ns and running_ns, as value is that of count */
	double mean_enabled_ns, mean_running_ns;
};

/* What a round of counts covers. */
enum sonde_stat_round_kind {
	SONDE_STAT_INTERVAL = 0, /* since the round before */
	SONDE_STAT_RUN = 1       /* a complete run, its last round */
};

/* One reading of all counters, added up. */
struct sonde_stat_round {
	uint32_t size;
	uint32_t kind;       /* enum sonde_stat_round_kind */
	uint64_t time_ns;    /* since counting began */
	double elapsed_ns;   /* how long was counted; of a run, the mean of the runs so far */
	double deviation_ns; /* standard deviation of that mean */
	uint64_t run_ns;     /* how long this run took */
	/* processor time of the command in this run; 0 without one */
	uint64_t user_ns, system_ns;
	const struct sonde_stat_row *rows; /* event after event; borrowed until the next call */
	size_t nr_rows;
	uint32_t nr_runs; /* complete runs so far, this one included */
	uint32_t is_last; /* of a file: 1 for its last run */
};

/* A count being made, or one read from a file. */
struct sonde_stat;
/*
 * Parses events and settings, and finds the target. -EBADR: an event, a filter or a setting is
 * wrong. Events that the kernel does not support are counted as such; missing rights are an error.
 */
SONDE_API int sonde_stat_open(struct sonde_stat **ret, const struct sonde_stat_options *opts);
/*
 * Reads the counts of a recording of perf stat record or sonde stat record; "-" is the standard
 * input. sonde_stat_next() returns its rounds, sonde_stat_start() is not called. Settings are lines
 * key=value, NULL if none:
 *
 *	by=recorded|all|cpu|core|die|socket|node|thread   recorded: as the recorder added up; also
 *	                    if the file's counts have no cpus, or no threads
 *	compat=VERSION      rates of intervals as perf's report has them
 *	force=0|1           also reads a file of another user
 *
 * -ENODATA: the file has no counts. -EBADMSG: it is damaged; the message names the offset.
 */
SONDE_API int sonde_stat_read(struct sonde_stat **ret, const char *path, const char *settings);
/*
 * A fact about a file of counts: "by" (how its counts are added up), "interval" (milliseconds), and
 * the keys of sonde_session_info(). NULL if the file does not say, and for counts being made.
 * Borrowed until the next call.
 */
SONDE_API const char *sonde_stat_info(const struct sonde_stat *s, const char *key);
/*
 * Begins a run: opens the counters and starts the command. May be called again after a run has
 * ended. On failure *ret_status is the exit status of a command that could not be run (126, 127),
 * otherwise 0.
 */
SONDE_API int sonde_stat_start(struct sonde_stat *s, int *ret_status);
/*
 * Waits for the next round. Returns 1 with a round, 0 when counting has ended. The last round of a
 * run is a SONDE_STAT_RUN. A file's runs follow each other: 0 means its end. A file of intervals
 * has no SONDE_STAT_RUN. -ECANCELED instead of 0: the run has ended, and its command post= failed.
 */
SONDE_API int sonde_stat_next(struct sonde_stat *s, struct sonde_stat_round *ret);
/*
 * The status of the command of the last run: its exit status, or 128+N if signal N killed it. 0
 * without a command.
 */
SONDE_API int sonde_stat_status(const struct sonde_stat *s);
/*
 * Ends counting: the counts so far are its result. A command that still runs gets SIGTERM. May be
 * called from a signal handler.
 */
SONDE_API void sonde_stat_stop(struct sonde_stat *s);
/* An event by its index; NULL behind the last one. */
SONDE_API const struct sonde_stat_event *sonde_stat_event(const struct sonde_stat *s, size_t event);
/* Frees a count. NULL is allowed. */
SONDE_API void sonde_stat_close(struct sonde_stat *s);

/* ---- what can be recorded -------------------------------------------------------------------- */

/* Kinds of events that can be recorded. */
enum sonde_event_kind {
	SONDE_EVENT_HARDWARE = 1, /* counted by the processor, by names that processors share */
	SONDE_EVENT_SOFTWARE = 2, /* counted by the kernel */
	SONDE_EVENT_CACHE = 4,    /* accesses to caches */
	SONDE_EVENT_PMU = 8,      /* from an event source in sysfs */
	SONDE_EVENT_TRACEPOINT = 16,
	SONDE_EVENT_PFM = 32, /* counted by the processor, by its vendor's names (libpfm) */
	/*
	 * Markers in programs (SDT) that perf's cache of files by build id lists. They can be
	 * recorded after perf probe made a tracepoint of them.
	 */
	SONDE_EVENT_SDT = 64
};

/* An event that can be recorded. Members that do not apply to its kind are NULL. */
struct sonde_listed_event {
	uint32_t size;
	uint32_t kind; /* enum sonde_event_kind */
	/* As sonde record -e takes it: "page-faults", "msr/tsc/", "sched:sched_switch". */
	const char *name;
	const char *alias;       /* another name of the same event; NULL if none */
	const char *description; /* sentences; NULL if none is known */
	/*
	 * HARDWARE, SOFTWARE, CACHE: the kernel's type and number as TYPE:CONFIG, "1:3", which -e
	 * takes, too.
	 */
	const char *number;
	/*
	 * PMU: the terms that the name stands for, "event=0xc0,umask=0x1". PFM: the modifiers that
	 * may be added to the name, "u k e i c= t".
	 */
	const char *terms;
	/* PMU: the count multiplied by scale is in this unit: "Joules", "2.3e-10". NULL if none. */
	const char *unit, *scale;
	/* TRACEPOINT: the line of tracefs that defines a probe: "p:probe/x do_sys_open". */
	const char *probe;
	const char *file, *build_id; /* SDT: where the marker is; the id is hex */
};

/* Which events are listed. A caller sets `size`. */
struct sonde_list_options {
	uint32_t size;
	uint32_t kinds; /* enum sonde_event_kind, or-ed; 0 all */
	/*
	 * PFM: the processor by libpfm's name for it ("skl", "amd64_fam19h_zen4"), where * and ?
	 * match; NULL for that of this machine.
	 */
	const char *processor;
	const char *buildid_dir; /* SDT: perf's cache; NULL for ~/.debug */
};

/*
 * Calls event() for each event that the running machine can record: kind after kind in the order of
 * their numbers, sorted by name within a kind. Its argument is borrowed for the call. Hardware,
 * software and cache events are listed if the kernel opens them. If opts is NULL, all events are
 * listed. If tracepoints cannot be read, the call fails (-EACCES, -ENOENT) after it reported all
 * other events. If PFM is the only kind, the call fails without libpfm (-ENOTSUP) and if libpfm
 * does not know the processor (-ENODEV); among other kinds it is then left out.
 */
SONDE_API int sonde_list_events(const struct sonde_list_options *opts,
				void (*event)(void *ctx, const struct sonde_listed_event *event),
				void *ctx);

/* A term of an event source. Element of arrays: its size never changes. */
struct sonde_source_term {
	const char *name; /* "umask" */
	const char *text; /* where sysfs says that its bits are: "config:8-15,32-35" */
	uint64_t max;     /* largest value; 0 if sonde cannot set the term */
};

/* An event source in sysfs: -e takes NAME/TERM=VALUE,.../. */
struct sonde_event_source {
	uint32_t size;
	uint32_t type; /* of its events, in perf_event_attr */
	const char *name;
	/* The cpus that count for all others: "0,18"; NULL if each cpu counts for itself. */
	const char *cpus;
	const struct sonde_source_term *terms; /* sorted by name */
	size_t nr_terms;
};

/*
 * Calls source() for each event source whose events can be named by terms, sorted by name. Its
 * argument is borrowed for the call. Returns 0 on success, negative errno on failure; a machine
 * without sources is a success.
 */
SONDE_API int sonde_list_sources(void (*source)(void *ctx, const struct sonde_event_source *source),
				 void *ctx);

/* A tracepoint of the running kernel. */
struct sonde_tracepoint;
/*
 * Reads the description of a tracepoint of the running kernel: "sched:sched_switch". Returns 0 on
 * success, -ENOENT if there is no such tracepoint or no tracefs, -EACCES without the right to read
 * it, or another negative errno.
 */
SONDE_API int sonde_tracepoint_open(struct sonde_tracepoint **ret, const char *name);
/*
 * Its fields, flags and symbols, for the functions sonde_schema_*(). Valid until
 * sonde_tracepoint_close().
 */
SONDE_API const struct sonde_schema *sonde_tracepoint_schema(const struct sonde_tracepoint *t);
/* Frees a tracepoint; NULL is allowed. */
SONDE_API void sonde_tracepoint_close(struct sonde_tracepoint *t);

/* ---- build ids ------------------------------------------------------------------------------- */

/* The running kernel or a module of it. */
struct sonde_kernel_part {
	uint32_t size;
	uint32_t reserved;
	uint64_t start, end; /* addresses; 0 if the kernel hides them */
	/* "[kernel.kallsyms]"; for a module its file, or "[name]" if the file is unknown. */
	const char *name;
	const char *build_id; /* hex; "" if unknown */
};
/*
 * Calls part() for the running kernel, then for its modules in ascending order of addresses. Its
 * argument is borrowed for the call. Returns 0 on success, a negative errno if the list cannot be
 * read.
 */
SONDE_API int sonde_running_kernel(void (*part)(void *ctx, const struct sonde_kernel_part *part),
				   void *ctx);
/* Room for a build id as hex with its NUL. */
enum { SONDE_BUILD_ID_CHARS = 41 };
/*
 * The build id of an ELF file as hex. Returns 1 on success; 0 and "" if the file has none, is not
 * an ELF file or cannot be opened; -EINVAL for NULL. Only regular files are read.
 */
SONDE_API int sonde_file_build_id(const char *path, char ret[SONDE_BUILD_ID_CHARS]);

/* ---- version --------------------------------------------------------------------------------- */

/* The version of the library: "0.1.0". Both texts are valid as long as the library is loaded. */
SONDE_API const char *sonde_version(void);
/* The libraries and features of this build: "zstd=1.5.4 ...". */
SONDE_API const char *sonde_features(void);
/*
 * Loads the libraries that are otherwise loaded when they are first needed (libdw, capstone, lzma,
 * zlib). For programs that give up the right to load code, before they do. A library that is not
 * there is passed over: what needs it fails later, with its name.
 */
SONDE_API void sonde_load_libraries(void);
/*
 * len bytes of text as a JSON string with its quotes, as --format jsonl writes it; bytes that are
 * not UTF-8 become lone surrogates. free() frees it. NULL if there is no memory.
 */
SONDE_API char *sonde_json_string(const char *text, size_t len);

/*
 * "Did you mean ...?": finds the known name that is most like a mistyped one.
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
	 * Number of letters to insert, drop, change and swap to get from wanted to closest. The
	 * system of a tracepoint counts as one letter if wanted has none. UINT32_MAX for names of
	 * more than 96 letters.
	 */
	uint32_t distance;
	const char *wanted; /* set by the caller; an event as SYSTEM:NAME */
	/*
	 * The best candidate so far, the first of equal ones; NULL if none. Borrowed from the
	 * caller.
	 */
	const char *closest;
	/* closest if about two thirds of wanted's letters are right, else NULL */
	const char *meant;
};

/* Returns 1 if the candidate is now the closest, 0 if not, -EINVAL without `size` or `wanted`. */
SONDE_API int sonde_nearest_offer(struct sonde_nearest *n, const char *candidate);

#ifdef __cplusplus
}
#endif

#endif
