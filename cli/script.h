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
#include "strict.h"

struct skeleton;

struct script {
	const char *name;        /* [LANG:]FILE, as given */
	bool positional;         /* it was the first word, without -s */
	const char *interpreter; /* --interpreter, or NULL */
	const char *python;      /* what the files say, or NULL */
	const char *session;     /* text form */
	char **args;             /* of the script, without its name */
	int nr_args;
	struct strict strict;
};

/* Does not return when the interpreter could be started; else the exit status, after telling why. */
int script_run(const struct cli *cli, const struct script *s);
void script_languages_print(FILE *out);
void script_languages_print_json(void);
/* Its module is installed, or built next to this program. */
struct language;
bool script_language_is_ready(const struct language *l);
/* The folder below which scripts find scripts/LANG/..., as told to them in PERF_EXEC_PATH; NULL; to be freed. */
char *script_exec_path(void);

/* A language whose scripts we know of, whether or not its module is there. */
struct language {
	const char *name; /* for people; NULL ends the table */
	const char *const
		*prefixes; /* what may stand before ':' in -s, any case; NULL-terminated */
	const char *const *suffixes; /* of files, without the dot */
	const char *const *programs; /* what a script's first line calls it: beginnings of names */
	const char *folder;          /* perf's, below scripts/ of PERF_EXEC_PATH; NULL none */
	/* NULL while sonde has no module for it; then what follows is not used. */
	int (*find)(const struct script *s, const char *file, char **ret_path,
		    const char **ret_why);
	const char *prelude; /* below the folder of bindings */
	/* The prelude is this module, which the interpreter loads before the script; NULL: a program that runs the script. */
	const char *module;
	/* The interpreter starts with SIGINT blocked, and the prelude unblocks it. */
	bool holds_interrupts;
	const char *package; /* what is missing when the prelude is */
	/* Writes a skeleton (generate.h); NULL: none can be made. */
	int (*generate)(FILE *out, const struct skeleton *sk);
};

extern const struct language script_languages[];
/* The one of that prefix, any case; NULL. */
const struct language *script_language_called(const char *name, size_t len);
/* The one of a file's suffix; NULL. */
const struct language *script_language_by_suffix(const char *name);

/*
 * interpreter.c: a language's find(): 0, the interpreter's path (to be released with free()) and why it is this one; -1
 * after telling that there is none.
 */
int interpreter_python(const struct script *s, const char *file, char **ret_path,
		       const char **ret_why);
int interpreter_perl(const struct script *s, const char *file, char **ret_path,
		     const char **ret_why);
/* The program and its first argument that a file's first line names, after "env"; false when there is no such line. */
bool interpreter_shebang(const char *file, char *buf, size_t size);

#endif
