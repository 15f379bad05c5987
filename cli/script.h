/* SPDX-License-Identifier: MIT */
/*
 * Running a script: which language it is in, which interpreter it gets, and the hand-over.
 *
 * No interpreter is linked into sonde. script_run() replaces this process by
 *
 *	INTERPRETER /abs/prelude SCRIPT ARGS...
 *
 * with the session's text form in a memory file whose descriptor SONDE_SESSION_FD names, and in that of
 * SONDE_CONFIG_FD what the files of configuration say (absent: nothing). SONDE_STRICT=1 asks the prelude for exit status 3
 * when anything is wrong with the recording, SONDE_STRICT=loss when data was lost.
 */
#ifndef SONDE_CLI_SCRIPT_H
#define SONDE_CLI_SCRIPT_H

#include "cli.h"
#include "interpreter.h"
#include "strict.h"

struct script {
	const char *name; /* [LANG:]FILE, as given */
	bool positional;  /* it was the first word, without -s */
	struct interpreter_wish interpreter;
	const char *session; /* text form */
	char **args;         /* of the script, without its name */
	int nr_args;
	struct strict strict;
};

/* Does not return when the interpreter could be started; else the exit status, after telling why. */
int script_run(const struct cli *cli, const struct script *s);

#endif
