/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include "progress.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int recording_set_key(struct opt_parser *p, void *values, const struct opt *o, const char *value)
{
	struct reading_options *rec = values;

	return lines_set(&rec->lines, p, o->word, o->key, value);
}

void recording_done(void *values)
{
	struct reading_options *rec = values;

	lines_done(&rec->lines);
}

int recording_set_itrace(struct opt_parser *p, struct lines *l, const char *value)
{
	char *line = NULL, *parsed = NULL;
	int r = asprintf(&line, "itrace=%s\n", value ? value : "");

	if (r < 0)
		return opt_error(p, "out of memory");
	r = sonde_session_parse(line, &parsed);
	free(line);
	free(parsed);
	return r < 0 ? opt_error(p, "--%s", sonde_error_text())
		     : lines_set(l, p, "itrace", "itrace", value ? value : "");
}

int recording_check_one(const struct cli *cli, const char *command,
			const struct reading_options *rec)
{
	const int given = lines_count(&rec->lines, "input");

	/* perf reads the last of them. */
	if (given <= 1 || cli_rules(cli)->last_input_only)
		return CLI_OK;
	return cli_usage(cli, "%s: one recording at a time, not %d", command, given);
}

int recording_operand(const struct cli *cli, const char *command, struct reading_options *rec,
		      int argc, char **argv)
{
	struct opt_parser p = { 0 };
	int status = recording_check_one(cli, command, rec);
	char *given;

	if (status || !argc)
		return status;
	given = lines_given(&rec->lines, "input");
	free(given);
	if (argc > 1 || given)
		return cli_usage(cli, "%s: one recording at a time, not '%s' too", command,
				 argv[given ? 0 : 1]);
	if (!lines_set(&rec->lines, &p, "input", "input", argv[0]))
		return CLI_OK;
	return cli_usage(cli, "%s: %s", command, p.error);
}

int recording_input(const struct cli *cli, struct lines *l)
{
	struct opt_parser p = { 0 };
	char *given;
	struct stat st;

	if (!cli_rules(cli)->reads_stdin_pipe || fstat(STDIN_FILENO, &st) || !S_ISFIFO(st.st_mode))
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

void recording_print_filters(struct sonde_session *s)
{
	const char *line = sonde_session_filters_line(s);

	if (*line)
		cli_say("%s", line);
}

void recording_print_pairs(struct sonde_session *s)
{
	struct sonde_pair p;

	for (size_t i = 0; sonde_session_pair(s, i, &p) > 0; i++) {
		if (!(p.unmatched_starts | p.unmatched_stops | p.dropped | p.given_up))
			continue;
		cli_say("%s: %llu pairs; without the other event: %llu starts, %llu stops; "
			"dropped because events were lost in between: %llu; given up because too "
			"many were open: %llu",
			p.name, (unsigned long long)p.pairs, (unsigned long long)p.unmatched_starts,
			(unsigned long long)p.unmatched_stops, (unsigned long long)p.dropped,
			(unsigned long long)p.given_up);
	}
}

static int recording_run_session(const struct cli *cli, const struct reading_options *rec,
				 const char *text, int (*work)(struct sonde_session *s, void *ctx),
				 void *ctx)
{
	struct sonde_session *s;
	const char *line;
	int status = CLI_OK, r = sonde_session_open(&s, text, "the command line");

	if (r < 0) {
		int failed = cli_fail(cli);

		/*
		 * A recording without the requested data (-ETIME: times) is a wrong command line,
		 * too.
		 */
		return (r == -EINVAL || r == -ETIME ||
			(r == -ESRCH && !rec->unknown_event_fails)) &&
				       !cli_rules(cli)->unserved_is_failure
			       ? CLI_USAGE
			       : failed;
	}
	r = work(s, ctx);
	if (r == -ENOMEM && !*sonde_error_text()) { /* set by work() itself */
		cli_say("out of memory");
		status = cli_status(cli, CLI_FAILED);
	} else if (r < 0 && r != -EPIPE) {
		status = cli_fail(cli);
	}
	if (r == -ENOSPC) /* no space for the output; perf does the same */
		status = CLI_FAILED;
	recording_print_filters(s);
	recording_print_pairs(s);
	line = sonde_session_defects_line(s);
	if (*line)
		cli_say("%s", line);
	status = strict_status(&rec->strict, s, status);
	sonde_session_close(s);
	return status;
}

char *recording_text(const struct cli *cli, const struct lines *l, const char *more)
{
	const char *dir = cli->buildid_dir;
	char *text;

	if (asprintf(&text, "%s%s%s%s%s%s%s%s%s", l->text ? l->text : "",
		     cli->compat ? "compat=" : "", cli->compat ? cli->compat : "",
		     cli->compat ? "\n" : "", dir ? "buildid-dir=" : "", dir ? dir : "",
		     dir ? "\n" : "", progress_begin(cli, false), more) < 0)
		return NULL;
	return text;
}

int recording_run(const struct cli *cli, struct reading_options *rec, const char *more,
		  int (*work)(struct sonde_session *s, void *ctx), void *ctx)
{
	int status = recording_input(cli, &rec->lines);
	char *text;

	if (status)
		return status;
	if (cli->buildid_dir && strchr(cli->buildid_dir, '\n'))
		return cli_usage(cli, "the value of --buildid-dir contains a line feed");
	text = recording_text(cli, &rec->lines, more);
	if (!text) {
		cli_say("out of memory");
		return cli_status(cli, CLI_FAILED);
	}
	if (rec->sandbox)
		status = sandbox_enter(cli, rec->to_read ? rec->to_read : &rec->lines, rec->output);
	if (!status)
		status = recording_run_session(cli, rec, text, work, ctx);
	free(text);
	return status;
}

void recording_print_notes(struct sonde_session *s)
{
	size_t len;

	for (const char *line = sonde_session_notes(s); *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		cli_say("%.*s", (int)len, line);
	}
}

static int recording_write_session(struct sonde_session *s, void *ctx)
{
	return sonde_session_write(s, STDOUT_FILENO);
}

int recording_print(const struct cli *cli, struct reading_options *rec, const char *more)
{
	return recording_run(cli, rec, more, recording_write_session, NULL);
}
