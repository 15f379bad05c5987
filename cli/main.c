/* SPDX-License-Identifier: MIT */
/* sonde: finds the sub-command, parses its options, runs it. */
#include "cli.h"

#include "as_perf.h"
#include "other_perf.h"
#include "pager.h"
#include "settings.h"

#include <stdlib.h>
#include <string.h>

static int main_unknown_command(const struct cli *cli, const char *name, int argc, char **argv)
{
	const char *nearest;
	int status = other_perf_run(cli, name, argc, argv);

	if (status)
		return status;
	command_find(name, &nearest);
	if (other_perf_report_missing(name, argc, argv))
		;
	else if (nearest)
		cli_say("no command '%s' (nearest: %s); '%s help' lists them", name, nearest,
			as_perf_name());
	else
		cli_say("no command '%s'; '%s help' lists them", name, as_perf_name());
	return (int)cli_rules(cli)->status_no_command; /* perf prints no usage here */
}

/* An unknown version has no statuses of its own. */
static int main_check_compat(struct cli *cli)
{
	const char *version = cli->compat;
	char list[128];

	if (!version || cli_compat_known(version))
		return CLI_OK;
	cli->compat = NULL;
	cli_compat_list(list, sizeof(list));
	return cli_usage(cli, "--compat takes %s, not '%s'", list, version);
}

static int main_run_command(struct cli *cli, const struct command *c, int argc, char **argv)
{
	struct opt_parser p = {
		.permute = c->permute,
		.set_key = c->set_key,
		.set_word = c->set_word,
	};
	void *values = calloc(1, c->values_size + 1);
	char **words;
	int status;

	if (!values) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	status = c->configured ? settings_read(cli, c->name) : 0;
	if (status) {
		free(values);
		return status;
	}
	if (c->defaults)
		memcpy(values, c->defaults, c->values_size);
	status = c->configure ? c->configure(cli, values) : 0;
	if (status) {
		free(values);
		return status;
	}
	p.sets[0] = (struct opt_set){ c->options, values };
	p.sets[1] = (struct opt_set){ cli_options, cli };
	words = c->more_words ? c->more_words(&argc, argv) : argv;
	if (!words) {
		free(values);
		return cli_status(cli, CLI_FAILED);
	}
	cli->command = c->name;
	argc = opt_parse(&p, argc, words);
	if (argc < 0) {
		status = cli_usage(cli, "%s: %s%s", c->name, p.error,
				   c->hint ? c->hint(values) : "");
	} else if ((status = main_check_compat(cli))) {
		;
	} else if (globals_answer(cli, c, &status)) {
		;
	} else if (cli->help) {
		command_show_help(cli, c);
		status = CLI_OK;
	} else if (cli->version) {
		status = cmd_version.run(cli, NULL, 0, NULL);
	} else {
		status = c->run(cli, values, argc, words);
	}
	if (c->done)
		c->done(values);
	if (words != argv)
		free(words);
	free(values);
	return status;
}

/*
 * Output that could not be written is a failure, with perf's status, unless the reader closed the
 * pipe.
 */
static int main_finish(const struct cli *cli, int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	cli_say("cannot write to the standard output: %m");
	return status ? status : CLI_FAILED;
}

/* argv[0..argc): the words after the program's name. Words are moved. */
static int main_run_words(struct cli *cli, int argc, char **argv)
{
	struct opt_parser p = { .sets = { { cli_options, cli } } };
	const struct command *c;
	int status;

	argc = opt_parse(&p, argc, argv);
	if (argc < 0)
		return cli_usage(cli, "%s", p.error);
	if (argc) {
		c = command_find(argv[0], NULL);
		if (!c)
			return main_unknown_command(cli, argv[0], argc - 1, argv + 1);
		status = 0;
		if (c->is_perfs && c->is_perfs(argc - 1, argv + 1))
			status = other_perf_run(cli, argv[0], argc - 1, argv + 1);
		if (status)
			return status;
		return main_run_command(cli, c, argc - 1, argv + 1);
	}
	if ((status = main_check_compat(cli)))
		return status;
	if (globals_answer(cli, NULL, &status))
		return status;
	if (cli->verbose && !cli->help) {
		/* perf's -v without a command. */
		cli->verbose -= !cli->version;
		cli->version = true;
	}
	if (!cli->version && !cli->help) {
		command_print_help(NULL, as_perf() ? stdout : stderr);
		return (int)cli_rules(cli)->status_no_command;
	}
	c = cli->version ? &cmd_version : &cmd_help;
	cli->version = cli->help = false;
	return main_run_command(cli, c, 0, argv);
}

int main(int argc, char **argv)
{
	struct cli cli = { .argv = argv };
	char **words = calloc((size_t)argc + 3, sizeof(*words));
	const char *command;
	int status;

	if (!words) {
		cli_say("out of memory");
		return CLI_FAILED;
	}
	/* Parsing moves words, and a recording's header needs the command line as it was. */
	as_perf_look(&cli, argc ? argv[0] : NULL, &command);
	words[1] = (char *)command;
	if (argc)
		memcpy(words + 1 + !!command, argv + 1, (size_t)(argc - 1) * sizeof(*words));
	argc += !!command;
	status = main_finish(&cli, main_run_words(&cli, argc ? argc - 1 : 0, words + 1));
	pager_wait();
	config_done(&cli.config);
	free(cli.own_dir);
	free(words);
	return status;
}
