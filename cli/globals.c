/* SPDX-License-Identifier: MIT */
/* The options that are allowed before or after any command. */
#include "cli.h"

#include "script_find.h"

#include <stdlib.h>
#include <string.h>

static int globals_set_paginate(struct opt_parser *p, void *values, const char *value, bool negated)
{
	struct cli *cli = values;

	cli->pager = negated ? -1 : 1;
	return 0;
}

static int globals_set_no_pager(struct opt_parser *p, void *values, const char *value, bool negated)
{
	return globals_set_paginate(p, values, value, true);
}

/* With a folder: sets the folder of scripts; without: prints it. */
static int globals_set_exec_path(struct opt_parser *p, void *values, const char *value,
				 bool negated)
{
	struct cli *cli = values;

	if (!value)
		cli->exec_path = true;
	else if (setenv("PERF_EXEC_PATH", value, 1))
		return opt_error(p, "out of memory");
	return 0;
}

/* VARIABLE[=LEVEL]. Only one of perf's variables has a meaning here. */
static int globals_set_debug(struct opt_parser *p, void *values, const char *value, bool negated)
{
	static const char *const names[] = { "verbose", "ordered-events", "stderr", "data-convert",
					     "perf-event-open" };
	struct cli *cli = values;
	const char *level = strchr(value, '=');
	size_t len = strcspn(value, "=");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) != len || strncmp(names[i], value, len))
			continue;
		if (!i)
			cli->verbose = level ? atoi(level + 1) : 1;
		return 0;
	}
	return opt_error(p,
			 "--debug takes verbose, ordered-events, stderr, data-convert and "
			 "perf-event-open, not '%.*s'",
			 (int)len, value);
}

static int globals_refuse_html(struct opt_parser *p, void *values, const char *value, bool negated)
{
	return opt_error(p, "--html-path: there are no HTML pages; see sonde(1) or 'sonde help'");
}

static int globals_refuse_debug_file(struct opt_parser *p, void *values, const char *value,
				     bool negated)
{
	return opt_error(p, "--debug-file: messages of -v go to stderr");
}

/* clang-format off */
const struct opt cli_options[] = {
	OPT_TEXT(0, "compat", "VERSION", struct cli, compat,
		 "gives the output, the values and the exit statuses of that "
		 "tool: perf-6.1 or perf-6.12"),
	OPT_TEXT(0, "buildid-dir", "DIR", struct cli, buildid_dir,
		 "takes DIR as the build-id cache; default ~/.debug, or buildid.dir of the "
		 "configuration"),
	OPT_CALL('p', NULL, NULL, globals_set_paginate, OPT_HIDDEN,
		"the same, where the command has no -p"),
	OPT_CALL(0, "paginate", NULL, globals_set_paginate, 0,
		 "shows text on a terminal in a pager, as is the default"),
	OPT_CALL(0, "no-pager", NULL, globals_set_no_pager, OPT_NO_NEGATION,
		"shows text without a pager"),
	OPT_FLAG(0, "no-progress", struct cli, no_progress,
		 "draws no progress line on the terminal"),
	OPT_CALL(0, "pager", NULL, globals_set_paginate, OPT_HIDDEN, "the same as --paginate"),
	OPT_CALL(0, "exec-path", "DIR", globals_set_exec_path, OPT_VALUE_OPTIONAL | OPT_NO_NEGATION,
		 "takes DIR as the folder of perf's scripts (PERF_EXEC_PATH); alone: prints that "
		 "folder"),
	OPT_CALL(0, "debug", "VARIABLE[=LEVEL]", globals_set_debug, OPT_HIDDEN | OPT_NO_NEGATION,
		""),
	{ OPT_KIND_TEXT, 0, "debugfs-dir", "DIR", OPT_AT(struct cli, tracefs_dir, const char *),
		NULL,
	  OPT_HIDDEN, NULL, "" },
	OPT_CALL(0, "debug-file", "FILE", globals_refuse_debug_file, OPT_HIDDEN, ""),
	OPT_CALL(0, "html-path", NULL, globals_refuse_html, OPT_HIDDEN, ""),
	{ OPT_KIND_FLAG, 0, "list-cmds", NULL, OPT_AT(struct cli, list_commands, bool), NULL,
	  OPT_HIDDEN, NULL, "prints the names of the commands" },
	{ OPT_KIND_FLAG, 0, "list-opts", NULL, OPT_AT(struct cli, list_options, bool), NULL,
	  OPT_HIDDEN, NULL, "prints the names of a command's options" },
	OPT_COUNT('v', "verbose", struct cli, verbose, "prints more on stderr; twice: still more"),
	OPT_FLAG('h', "help", struct cli, help, "shows this text"),
	OPT_FLAG(0, "version", struct cli, version,
		 "shows the version; with -v the features of this build, and which configuration "
		 "was read"),
	OPT_END,
};
/* clang-format on */

static int globals_print_exec_path(const struct cli *cli)
{
	char *path = script_exec_path();

	if (!path) {
		cli_say("--exec-path: the module for scripts in Python is not installed");
		return cli_status(cli, CLI_FAILED);
	}
	printf("%s\n", path);
	free(path);
	return CLI_OK;
}

bool globals_answer(const struct cli *cli, const struct command *c, int *ret)
{
	*ret = CLI_OK;
	if (cli->exec_path) {
		*ret = globals_print_exec_path(cli);
	} else if (cli->list_commands) {
		for (const struct command *const *each = commands; *each; each++)
			if (!(*each)->hidden)
				printf("%s ", (*each)->name);
		putchar('\n');
	} else if (cli->list_options) {
		opt_print_words(c ? c->options : cli_options, stdout);
		putchar('\n');
	} else {
		return false;
	}
	return true;
}
