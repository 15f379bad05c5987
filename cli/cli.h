/* SPDX-License-Identifier: MIT */
/*
 * Describes a sub-command. Each file cmd_NAME.c defines one: main.c parses its options into
 * `values`, then calls run(), which makes a session's text form and runs the session. Only this
 * folder prints errors.
 */
#ifndef SONDE_CLI_H
#define SONDE_CLI_H

#include "config.h"
#include "opt.h"
#include "say.h"

#include <sonde/sonde.h>

/* Options of every command, before or after its name. */
struct cli {
	const char *command;     /* its name; NULL before it is known */
	const char *compat;      /* NULL if not given */
	const char *buildid_dir; /* NULL for ~/.debug */
	const char *tracefs_dir; /* --debugfs-dir; NULL if it is to be searched for */
	int verbose;
	int pager; /* 1 if wanted, -1 if not wanted, 0 as configured */
	bool no_progress;
	bool help, version, exec_path, list_commands, list_options;
	struct config config; /* empty for commands that read no configuration */
	/* The memory of buildid_dir if a configuration file sets it; else NULL. */
	char *own_dir;
	char **argv; /* the complete command line, as given */
};

/* cli_status() replaces CLI_FAILED and CLI_USAGE by the statuses of cli_rules(). */
enum cli_exit { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_LOSS = 3 };

/* A word after the command's options that chooses other options: `sonde stat report`. */
struct command_verb {
	const char *word;
	const struct opt *options;
	bool takes_command; /* a command to run follows */
};

struct command {
	const char *name, *summary; /* "reads a recording ..." */
	const char *const *usage;   /* lines without "sonde "; NULL-terminated */
	const struct opt *options;
	const struct command_verb *verbs; /* ended by one without a word; NULL if there are none */
	const char *examples;             /* lines for help; "" if there are none */
	/* Initial value of the struct that the options fill; values_size bytes. */
	const void *defaults;
	size_t values_size;
	bool permute; /* options may follow operands */
	bool hidden;
	bool configured; /* reads the configuration files of cli/settings.h */
	/*
	 * Sets values from the configuration before options do. Returns 0, or a status after
	 * reporting the error. NULL if not needed.
	 */
	int (*configure)(struct cli *cli, void *values);
	/* argv[0..argc): the words that are not options. Returns the exit status. */
	int (*run)(struct cli *cli, void *values, int argc, char **argv);
	/* For options that are lines of a session's text form (OPT_KEY); NULL if there are none. */
	int (*set_key)(struct opt_parser *p, void *values, const struct opt *o, const char *value);
	/*
	 * See struct opt_parser; NULL if not needed. The values of the second set are the struct
	 * cli.
	 */
	int (*set_word)(struct opt_parser *p, void *values, const char *word);
	/*
	 * Adds words from another source before argv[0..argc). Returns argv or a new array, or NULL
	 * after reporting a failure. The member is NULL if there are no such words.
	 */
	char **(*more_words)(int *argc, char **argv);
	/*
	 * True if these words are for perf itself when called as perf (other_perf.h). NULL if they
	 * never are.
	 */
	bool (*is_perfs)(int argc, char **argv);
	/* An addition to messages about a wrong option, "" if none. May be NULL. */
	const char *(*hint)(const void *values);
	void (*done)(void *values); /* frees what options allocated; may be NULL */
};

extern const struct command cmd_buildid_list, cmd_check, cmd_convert, cmd_cut, cmd_evlist,
	cmd_flamegraph, cmd_heatmap, cmd_help, cmd_info, cmd_list, cmd_new, cmd_perf_alias,
	cmd_record, cmd_report, cmd_run, cmd_script, cmd_shell, cmd_split, cmd_stat, cmd_version;
extern const struct command *const commands[]; /* commands.c; NULL-terminated */
extern const struct opt cli_options[];         /* options that set struct cli */

/*
 * Answers options that only ask for information. Returns true, with the exit status in *ret, if
 * there was one. c is NULL before any command.
 */
bool globals_answer(const struct cli *cli, const struct command *c, int *ret);

/*
 * Returns NULL if there is no such command; *ret_nearest (may be NULL) is then the nearest name or
 * NULL.
 */
const struct command *command_find(const char *name, const char **ret_nearest);
/* Finds a verb by its word, or by the beginning of it, of three letters and more, as perf does. */
const struct command_verb *command_find_verb(const struct command *c, const char *word);
void command_print_help(const struct command *c, FILE *out);
/* Prints the help on standard output, through a pager if the text is longer than the terminal. */
void command_show_help(const struct cli *cli, const struct command *c);

/*
 * In fail.c. Prints the library's chain of causes, the place of failure first. Returns the status
 * for "failed".
 */
int cli_fail(const struct cli *cli);
/* Reports a wrong command line; returns the status for "usage". */
int cli_usage(const struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* compat.c */
bool cli_compat_known(const char *version);    /* a valid value of --compat */
void cli_compat_list(char *text, size_t size); /* "none, perf-6.1 and perf-6.12" */
/* True if a version of perf was given. Programs that this one starts get the version, too. */
bool cli_compat(const struct cli *cli);
/* The rules of perf that apply. An unknown version has the default's rules. */
const struct sonde_rules *cli_rules(const struct cli *cli);
int cli_status(const struct cli *cli, enum cli_exit status);

#endif
