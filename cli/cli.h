/* SPDX-License-Identifier: MIT */
/*
 * What a sub-command is. One file cmd_NAME.c describes each: main.c parses its options into
 * `values`, then calls run(), which describes a session in its text form and runs it. Only this
 * folder prints errors.
 */
#ifndef SONDE_CLI_H
#define SONDE_CLI_H

#include "config.h"
#include "opt.h"
#include "say.h"

#include <sonde/sonde.h>

/* What every command takes, before or after its name. */
struct cli {
	const char *compat;      /* NULL: none */
	const char *buildid_dir; /* NULL: ~/.debug */
	const char *tracefs_dir; /* --debugfs-dir; NULL: found */
	int verbose;
	int pager; /* 1 asked for, -1 not wanted, 0 as the files say */
	bool no_progress;
	bool help, version, exec_path, list_commands, list_options;
	struct config config; /* empty for commands that read none */
	char *own_dir;        /* holds buildid_dir when a file told of it; NULL */
	char **argv;          /* the whole command line, as given */
};

/* cli_status() gives the statuses of perf for CLI_FAILED and CLI_USAGE. */
enum cli_exit { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_LOSS = 3 };

struct command {
	const char *name, *summary; /* "reads a recording ..." */
	const char *const *usage;   /* lines without "sonde "; NULL-terminated */
	const struct opt *options;
	const char *examples; /* lines for help, "" none */
	const void *defaults; /* of the struct that the options fill; values_size bytes */
	size_t values_size;
	bool permute; /* options may follow operands */
	bool hidden;
	bool configured; /* reads the files of cli/settings.h */
	/* argv[0..argc): the words that are no options. Returns the exit status. */
	int (*run)(struct cli *cli, void *values, int argc, char **argv);
	/* For options that are lines of a session's text form (OPT_KEY); NULL: there are none. */
	int (*set_key)(struct opt_parser *p, void *values, const struct opt *o, const char *value);
	/* See struct opt_parser; NULL: none. The second set's values are the struct cli. */
	int (*set_word)(struct opt_parser *p, void *values, const char *word);
	/*
	 * Words before argv[0..argc) that come from elsewhere: argv, a new array, or NULL after
	 * telling; NULL: there are none.
	 */
	char **(*more_words)(int *argc, char **argv);
	/* Called as perf, these words are for perf itself (other_perf.h); NULL: never. */
	bool (*is_perfs)(int argc, char **argv);
	/* What to add when an option was wrong, "" nothing; NULL: never anything. */
	const char *(*hint)(const void *values);
	void (*done)(void *values); /* releases what options allocated; NULL: nothing */
};

extern const struct command cmd_buildid_list, cmd_check, cmd_cut, cmd_evlist, cmd_help, cmd_info, cmd_list,
	cmd_perf_alias, cmd_record, cmd_report, cmd_script, cmd_split, cmd_version;
extern const struct command *const commands[]; /* commands.c; NULL-terminated */
extern const struct opt cli_options[];         /* those of struct cli */

/*
 * Options that only ask something: answered here, and *ret is the status; c NULL: before any
 * command.
 */
bool globals_answer(const struct cli *cli, const struct command *c, int *ret);

/* NULL when there is none; *ret_nearest (NULL is fine) gets the nearest name or NULL. */
const struct command *command_find(const char *name, const char **ret_nearest);
void command_print_help(const struct command *c, FILE *out);
/* The same on the standard output, through a pager if it is longer than the terminal has rows. */
void command_show_help(const struct cli *cli, const struct command *c);

/*
 * fail.c. Tells the library's chain of causes, the place of failure first; returns the status for
 * "failed".
 */
int cli_fail(const struct cli *cli);
/* Tells of a wrong command line; returns the status for "usage". */
int cli_usage(const struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* compat.c */
bool cli_compat_known(const char *version);    /* to --compat */
void cli_compat_list(char *text, size_t size); /* "none, perf-6.1 and perf-6.12" */
/* A version of perf was asked for, which programs that this one starts are told. */
bool cli_compat(const struct cli *cli);
/* What is done here as perf does it. An unknown version has the default's rules. */
const struct sonde_rules *cli_rules(const struct cli *cli);
int cli_status(const struct cli *cli, enum cli_exit status);

#endif
