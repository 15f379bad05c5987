/* SPDX-License-Identifier: MIT */
/*
 * Runs a script: decides its language and its interpreter, and passes the session to it.
 *
 * No interpreter is linked into sonde. script_run() replaces this process by
 *
 *	INTERPRETER /abs/prelude SCRIPT ARGS...
 *
 * SONDE_SESSION_FD is the descriptor of a memory file with the session's text form. SONDE_CONFIG_FD
 * is the descriptor of one with the configuration; it is not set if the configuration is empty.
 * With SONDE_STRICT=1 the prelude returns exit status 3 if anything is wrong with the recording,
 * with SONDE_STRICT=loss if data was lost.
 */
#ifndef SONDE_CLI_SCRIPT_H
#define SONDE_CLI_SCRIPT_H

#include "cli.h"
#include "interpreter.h"
#include "strict.h"

struct script {
	const char *name; /* [LANG:]FILE, as given */
	bool positional;  /* the script was the first word, without -s */
	struct interpreter_wish interpreter;
	const char *session; /* text form */
	char **args;         /* the script's arguments without its name */
	int nr_args;
	struct strict strict;
	/*
	 * Facts for a script of sonde run: names and values, each ended by a NUL. SONDE_RUN_FD is
	 * the descriptor of a memory file that has them. NULL: the script is run as perf's are.
	 *
	 *	live       1: the script records; otherwise the session has inputs
	 *	settings   lines for the recorder; several are joined
	 *	event, filter, cgroup  the next sonde_record_event; "" stands for NULL
	 *	command    a word of the command, several times
	 *	code       the program, if it was given by -e
	 *	output, latency, for, top, format, dry-run   the values of these options
	 */
	const char *run;
	size_t run_len;
};

/*
 * Does not return if the interpreter starts. Otherwise returns the exit status after reporting the
 * reason.
 */
int script_run(const struct cli *cli, const struct script *s);

#endif
