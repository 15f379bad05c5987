/* SPDX-License-Identifier: MIT */
/* Help for users; from the same tables the options of man pages and candidates for shells. */
#include "cli.h"

#include "as_perf.h"
#include "complete.h"
#include "pager.h"
#include "settings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct args {
	bool man, complete;
};

static void help_print_overview(FILE *out)
{
	fprintf(out,
		"sonde records what a Linux machine does, event by event, and hands the events to "
		"text and scripts.\n\n"
		"usage: %s [OPTIONS] COMMAND [ARGS]\n\n"
		"Commands:\n",
		as_perf_name());
	for (const struct command *const *c = commands; *c; c++)
		if (!(*c)->hidden)
			fprintf(out, "  %-13s %s\n", (*c)->name, (*c)->summary);
	fputs("\nOptions of every command:\n", out);
	opt_print_help(cli_options, out);
	fprintf(out, "\n'%s help COMMAND' describes a command.\n", as_perf_name());
}

static void help_print(const struct command *c, FILE *out)
{
	if (!c) {
		help_print_overview(out);
		return;
	}
	fprintf(out, "sonde %s: %s\n\n", c->name, c->summary);
	for (const char *const *u = c->usage; *u; u++)
		fprintf(out, "%s %s %s\n", u == c->usage ? "usage:" : "   or:", as_perf_name(), *u);
	if (c->options->kind) {
		fputs(c->options->kind == OPT_KIND_GROUP ? "\n" : "\nOptions:\n", out);
		opt_print_help(c->options, out);
	}
	fputs("\nOptions of every command:\n", out);
	opt_print_help(cli_options, out);
	if (*c->examples)
		fprintf(out, "\nExamples:\n%s", c->examples);
}

static size_t help_nr_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

void command_show_help(const struct cli *cli, const struct command *c)
{
	const char *pager = isatty(STDOUT_FILENO) ? settings_pager(cli) : NULL;
	struct winsize screen = { 0 };
	char *text = NULL;
	size_t len;
	FILE *out = pager ? open_memstream(&text, &len) : NULL;

	if (!out) {
		help_print(c, stdout);
		return;
	}
	help_print(c, out);
	if (fclose(out) || !text) {
		help_print(c, stdout);
		free(text);
		return;
	}
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &screen);
	if (screen.ws_row && help_nr_lines(text) >= screen.ws_row)
		/* a failure was reported; the text then appears without a pager */
		(void)pager_start(pager);
	fputs(text, stdout);
	free(text);
}

void command_print_help(const struct command *c, FILE *out)
{
	help_print(c, out);
}

static void help_print_man(const struct command *c, FILE *out)
{
	if (c) {
		opt_print_man(c->options, out);
		return;
	}
	opt_print_man(cli_options, out);
}

/* The help of commands that perf runs. */
static bool help_is_perfs(int argc, char **argv)
{
	return argc == 1 && argv[0][0] != '-' && !command_find(argv[0], NULL);
}

static int help_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct args *args = values;
	const struct command *c = NULL;
	const char *nearest;

	if (args->complete) {
		complete_print(cli, argc, argv);
		return CLI_OK;
	}
	if (argc > 1)
		return cli_usage(cli, "help: takes one command");
	if (argc) {
		c = command_find(argv[0], &nearest);
		if (!c && nearest)
			return cli_usage(cli, "no command '%s' (nearest: %s)", argv[0], nearest);
		if (!c)
			return cli_usage(cli, "no command '%s'; '%s help' lists them", argv[0],
					 as_perf_name());
	}
	if (args->man)
		help_print_man(c, stdout);
	else
		command_show_help(cli, c);
	return CLI_OK;
}

/* clang-format off */
static const struct opt options[] = {
	{ OPT_KIND_FLAG, 0, "man", NULL, OPT_AT(struct args, man, bool), NULL, OPT_HIDDEN, NULL,
	  "prints the options as the body of a man page's section, in scdoc" },
	{ OPT_KIND_FLAG, 0, "complete", NULL, OPT_AT(struct args, complete, bool), NULL, OPT_HIDDEN,
		NULL,
	  "prints the candidates for the last of the words, for the shells" },
	OPT_END,
};
/* clang-format on */
static const char *const usage[] = { "help [COMMAND]", NULL };

const struct command cmd_help = {
	.name = "help",
	.summary = "shows the commands, or how one is used",
	.usage = usage,
	.options = options,
	.examples = "",
	.values_size = sizeof(struct args),
	.permute = true,
	.run = help_run,
	.is_perfs = help_is_perfs,
};
