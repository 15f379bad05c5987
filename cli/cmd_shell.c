/* SPDX-License-Identifier: MIT */
/* sonde shell: the user's IPython, or Python, with recordings open. */
#include "cli.h"

#include "interpreter.h"
#include "languages.h"
#include "settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct args {
	const char *interpreter;
};

/* The path of the program that the interpreter runs, released with free(); NULL after reporting. */
static char *shell_program(void)
{
	const struct language *python = script_language_called("python", strlen("python"));
	char *prelude = script_language_prelude(python), *lib = NULL, *path = NULL;

	if (!prelude) {
		cli_say("shell: %s is not installed", python->package);
		return NULL;
	}
	lib = script_language_lib(python, prelude);
	if (!lib || asprintf(&path, "%s/shell.py", lib) < 0) {
		cli_say("out of memory");
		path = NULL;
	}
	free(lib);
	free(prelude);
	return path;
}

/* Becomes INTERPRETER [-i] PROGRAM FILE... Returns a status after reporting that it cannot. */
static int shell_start(const struct cli *cli, const char *interpreter, const char *program,
		       int argc, char **argv)
{
	char **words = calloc((size_t)argc + 5, sizeof(*words));
	int n = 0;

	if (!words || (cli->buildid_dir && setenv("PERF_BUILDID_DIR", cli->buildid_dir, 1))) {
		cli_say("out of memory");
		free(words);
		return cli_status(cli, CLI_FAILED);
	}
	words[n++] = (char *)interpreter;
	if (isatty(STDIN_FILENO)) /* otherwise standard input is a program */
		words[n++] = (char *)"-i";
	words[n++] = (char *)program;
	if (argc)
		memcpy(words + n, argv, (size_t)argc * sizeof(*words));
	else
		words[n] = (char *)"perf.data";
	fflush(stdout);
	execv(interpreter, words);
	cli_say("cannot run %s: %m", interpreter);
	free(words);
	return cli_status(cli, CLI_FAILED);
}

static int shell_run(struct cli *cli, void *values, int argc, char **argv)
{
	const struct args *a = values;
	const struct interpreter_wish wish = { .given = a->interpreter,
					       .python = settings_python(cli) };
	char *program = shell_program(), *interpreter = NULL;
	int status = cli_status(cli, CLI_FAILED);
	const char *why;

	/* There is no script whose first line could name an interpreter. */
	if (program && !interpreter_python(&wish, "/dev/null", &interpreter, &why)) {
		if (cli->verbose)
			cli_say("%s runs the shell (%s)", interpreter, why);
		status = shell_start(cli, interpreter, program, argc, argv);
	}
	free(interpreter);
	free(program);
	return status;
}

/* clang-format off */
static const struct opt options[] = {
	OPT_OUR_TEXT(0, "interpreter", "PROGRAM", struct args, interpreter,
		"runs PROGRAM, a Python of version 3.9 or newer, in place of the first one found"),
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = { "shell [OPTIONS] [FILE...]", NULL };

const struct command cmd_shell = {
	.name = "shell",
	.summary = "opens recordings in your IPython, or Python, to ask questions",
	.usage = usage,
	.options = options,
	.examples = "  sonde shell perf.data\n"
		    "  echo 'print(rec.count(by=\"name\"))' | sonde shell perf.data\n",
	.values_size = sizeof(struct args),
	.permute = true,
	.configured = true,
	.run = shell_run,
};
