/* SPDX-License-Identifier: MIT */
/*
 * Commands that print something about a recording in one run: open the session, write it, report.
 */
#ifndef SONDE_CLI_RECORDING_H
#define SONDE_CLI_RECORDING_H

#include "cli.h"
#include "lines.h"
#include "sandbox.h"
#include "strict.h"

/* Options of such a command; its struct of values begins with this one. */
struct reading_options {
	struct lines lines; /* lines of the session's text form */
	struct strict strict;
	bool sandbox;
	const char *output; /* file that the command makes, for the sandbox; NULL if none */
	/* Lines that name all files to read, for the sandbox; NULL if `lines` names them. */
	const struct lines *to_read;
	bool unknown_event_fails; /* an event that the recording does not have: status 1, not 2 */
};

#define NO_FOLLOW_OPTION                                                                        \
	OPT_OUR_KEY(0, "no-follow", NULL, "no-follow",                                          \
		    "opens no file because the recording names it: programs and their symbols " \
		    "are found only by build id")
#define MAX_UNPACKED_OPTION                                                                      \
	OPT_OUR_KEY(0, "max-unpacked", "SIZE", "max-unpacked",                                   \
		    "reads a packed or compressed recording up to SIZE (4G) unpacked; default: " \
		    "200 times what is packed, at least 1G")
/* clang-format off */
#define FORMATS_OPTIONS \
	OPT_OUR_KEY(0, "kernel-formats", NULL, "kernel-formats", \
		"takes the running kernel's descriptions of tracepoints that the recording does " \
		"not describe, if it has them under the same name and number"), \
	OPT_OUR_KEY(0, "tracefs", "FOLDER", "tracefs", \
		"takes descriptions of tracepoints from FOLDER, a copy of tracefs " \
		"(FOLDER/events/SYSTEM/EVENT/format), like --kernel-formats; and reads ftrace's " \
		"text by them")
/* clang-format on */
/*
 * Options of all commands of this kind; values are a struct s whose member m is a struct
 * reading_options.
 */
#define RECORDING_OPTIONS(s, m)                                                    \
	OPT_KEY('f', "force", NULL, "force", "reads a recording of another user"), \
		RECORDING_OTHER_OPTIONS(s, m)
/* The same for a command whose --force does more. */
#define RECORDING_OTHER_OPTIONS(s, m)                                                        \
	FORMATS_OPTIONS, MAX_UNPACKED_OPTION, NO_FOLLOW_OPTION, STRICT_OPTIONS(s, m.strict), \
		SANDBOX_OPTION(s, m.sandbox)
/*
 * Options that choose events by keys of the session, so that they mean the same in all commands.
 * takes: "takes only samples".
 */
/* clang-format off */
#define INPUT_OPTION \
	OPT_KEY('i', "input", "FILE", "input", \
		"reads FILE; default perf.data, '-': the standard input")
#define TIME_OPTION(takes) \
	OPT_KEY(0, "time", "FROM,TO", "time", \
		takes " of this time, in seconds; either side may be left out. Or percents of " \
		"the recording: 10%/2")
#define CPU_OPTION(takes) \
	OPT_KEY('C', "cpu", "CPUS", "cpu", \
		takes " of these cpus, as 0,2-3, and those whose cpu was not recorded")
#define TASK_OPTIONS(takes) \
	OPT_KEY(0, "pid", "PIDS", "pid", takes " of these processes"), \
	OPT_KEY(0, "tid", "TIDS", "tid", takes " of these threads")
#define COMM_OPTION(word, takes) \
	OPT_KEY('c', word, "NAMES", "comm", takes " of threads with these names")
#define WHERE_OPTION(takes) \
	OPT_OUR_KEY(0, "where", "EXPR", "where", \
		takes " for which EXPR is true, as sonde script --where does")
#define CHOICE_OPTIONS(takes) \
	TIME_OPTION(takes), CPU_OPTION(takes), TASK_OPTIONS(takes), COMM_OPTION("comms", takes), \
	WHERE_OPTION(takes)
/* does: "prints" */
#define SWITCH_OPTIONS(does, what) \
	OPT_KEY(0, "switch-on", "EVENT", "switch-on", \
		"takes only " what " from the first EVENT on"), \
	OPT_KEY(0, "switch-off", "EVENT", "switch-off", "takes no " what " from EVENT on"), \
	OPT_KEY(0, "show-on-off-events", NULL, "show-on-off-events", \
		does " the events of --switch-on and --switch-off too")
#define MAX_STACK_OPTION \
	OPT_NUMBER_KEY(0, "max-stack", "FRAMES", "max-stack", "limits the frames of a call chain")
#define INLINE_OPTION(does) \
	OPT_KEY(0, "inline", NULL, "inline", \
		does " the functions inlined at a frame; the default")
/* clang-format on */
/* Options of commands that print names of functions: the files with the symbols. */
#define SYMBOL_FILE_OPTIONS                                                                   \
	OPT_KEY(0, "symfs", "DIR", "symfs",                                                   \
		"looks below DIR for the files that the recording names"),                    \
		OPT_KEY(0, "kallsyms", "FILE", "kallsyms", "takes kernel symbols from FILE"), \
		OPT_KEY('k', "vmlinux", "FILE", "vmlinux",                                    \
			"takes kernel symbols from the kernel's FILE")
#define DEMANGLE_OPTION                          \
	OPT_KEY(0, "demangle", NULL, "demangle", \
		"prints names of C++ and Rust as they were written; the default")
#define DEMANGLE_KERNEL_OPTION \
	OPT_KEY(0, "demangle-kernel", NULL, "demangle-kernel", "demangles names of the kernel, too")
/*
 * Members of such a command's struct command; values are a struct s that begins with a struct
 * reading_options.
 */
#define RECORDING_COMMAND(s)                                           \
	.values_size = sizeof(s), .permute = true, .configured = true, \
	.set_key = recording_set_key, .done = recording_done

/*
 * For struct command: options that are lines of the session's text form; values begin with a struct
 * reading_options.
 */
int recording_set_key(struct opt_parser *p, void *values, const struct opt *o, const char *value);
void recording_done(void *values);
/*
 * For struct opt: --itrace, whose value is checked and has no effect. value is NULL if negated or
 * omitted.
 */
int recording_set_itrace(struct opt_parser *p, struct lines *l, const char *value);
/* Returns 0, or a status after reporting that -i was given more than once. */
int recording_check_one(const struct cli *cli, const char *command,
			const struct reading_options *rec);
/* Like recording_check_one(); a single word may replace -i FILE, but not be added to it. */
int recording_operand(const struct cli *cli, const char *command, struct reading_options *rec,
		      int argc, char **argv);
/*
 * Selects standard input, as perf does, if it is a pipe and there is no -i. Returns 0, or a status
 * after reporting that there is no memory.
 */
int recording_input(const struct cli *cli, struct lines *l);
/*
 * A line for recording_run(): a profile uses each event once, so that smaller windows cost it no
 * time, and take less memory.
 */
#define RECORDING_SMALL_WINDOWS "window=262144\n"

/*
 * Opens the session of rec's lines and of `more` ("key=value\n..."), calls work, reports failures,
 * and prints the closing line. Returns the status, possibly CLI_LOSS (strict.h).
 */
struct sonde_session;
int recording_run(const struct cli *cli, struct reading_options *rec, const char *more,
		  int (*work)(struct sonde_session *s, void *ctx), void *ctx);
/*
 * The text form of the session of l and `more`, released with free(); NULL if there is no memory.
 */
char *recording_text(const struct cli *cli, const struct lines *l, const char *more);
/* Prints warnings about the session's output (sonde_session_notes()). */
void recording_print_notes(struct sonde_session *s);
/*
 * Called after the last event: if no event passed the filters, reports that
 * (sonde_session_filters_line()).
 */
void recording_print_filters(struct sonde_session *s);
/* Called after the last event: for each --pair the events that are in no pair, if there are any. */
void recording_print_pairs(struct sonde_session *s);
/*
 * Writes the session of rec's lines and of `more` ("key=value\n...") to standard output. Returns
 * the status.
 */
int recording_print(const struct cli *cli, struct reading_options *rec, const char *more);

#endif
