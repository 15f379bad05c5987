/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int recording_set_key(struct opt_parser *p, void *values, const struct opt *o, const char *value)
{
	return lines_set(values, p, o->word, o->key, value);
}

void recording_done(void *values)
{
	lines_done(values);
}

int recording_operand(const struct cli *cli, const char *command, struct lines *l, int argc,
		      char **argv)
{
	struct opt_parser p = { 0 };
	char *given;

	if (!argc)
		return CLI_OK;
	given = lines_given(l, "input");
	free(given);
	if (argc > 1 || given)
		return cli_usage(cli, "%s: one recording at a time, not '%s' too", command,
				 argv[given ? 0 : 1]);
	if (!lines_set(l, &p, "input", "input", argv[0]))
		return CLI_OK;
	return cli_usage(cli, "%s: %s", command, p.error);
}

int recording_input(const struct cli *cli, struct lines *l)
{
	struct opt_parser p = { 0 };
	char *given;
	struct stat st;

	if (!cli_compat(cli) || fstat(STDIN_FILENO, &st) || !S_ISFIFO(st.st_mode))
		return CLI_OK;
	given = lines_given(l, "input");
	if (given) {
		free(given);
		return CLI_OK;
	}
	if (!lines_set(l, &p, "input", "input", "-"))
		return CLI_OK;
	cli_say("%s", p.error);
	return cli_status(cli, CLI_FAILED);
}

static int write_session(const struct cli *cli, const char *text)
{
	struct sonde_session *s;
	const char *line;
	int status = CLI_OK, r = sonde_session_open(&s, text, "the command line");

	if (r < 0) {
		int failed = cli_fail(cli);

		return r == -EINVAL && !cli_compat(cli) ? CLI_USAGE : failed;
	}
	r = sonde_session_write(s, STDOUT_FILENO);
	if (r < 0 && r != -EPIPE)
		status = cli_fail(cli);
	line = sonde_session_defects_line(s);
	if (*line)
		cli_say("%s", line);
	sonde_session_close(s);
	return status;
}

int recording_print(const struct cli *cli, struct lines *l, const char *more)
{
	int status = recording_input(cli, l);
	char *text;

	if (status)
		return status;
	if (asprintf(&text, "%s%s%s%s%s", l->text ? l->text : "", cli->compat ? "compat=" : "",
		     cli->compat ? cli->compat : "", cli->compat ? "\n" : "", more) < 0) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	status = write_session(cli, text);
	free(text);
	return status;
}
