/* SPDX-License-Identifier: MIT */
#include "stat_report.h"

#include "stat_output.h"
#include "stat_print.h"
#include "stat_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct stat_reported {
	struct cli *cli;
	const struct stat_args *args;
	struct sonde_stat *stat;
	struct stat_printer printer;
	struct stat_times times;
	struct stat_runs runs; /* filled for --format json */
	bool is_json;
	int refused; /* the status; 0 while the rounds can be printed */
};

/* Like perf: a pipe at the standard input is read if no file is named. */
static const char *report_input(const struct stat_args *a)
{
	struct stat st;

	if (a->input && *a->input)
		return a->input;
	return !fstat(STDIN_FILENO, &st) && S_ISFIFO(st.st_mode) ? "-" : "perf.data";
}

/* The recorder's command line stands for what was counted. */
static char *report_subject(const struct stat_reported *r)
{
	const char *command = sonde_stat_info(r->stat, "cmdline");
	const char *form = sonde_stat_info(r->stat, "form");
	const bool is_pipe = form && !strcmp(form, "pipe");
	char *ret;

	if (!command || !*command || (is_pipe && cli_compat(r->cli)))
		command = is_pipe ? "pipe" : report_input(r->args);
	return asprintf(&ret, "'%s'", command) < 0 ? NULL : ret;
}

static int report_print_run(struct stat_reported *r, const struct sonde_stat_round *round)
{
	const bool is_text = r->printer.layout == &stat_text_layout;
	char *subject = report_subject(r);

	if (!subject)
		return -ENOMEM;
	r->printer.has_deviation = round->nr_runs > 1;
	if (is_text)
		stat_print_title(r->printer.out, subject, round->nr_runs);
	stat_print_round(&r->printer, round);
	free(subject);
	if (!is_text)
		return 0;
	if (round->nr_rows)
		fputc('\n', r->printer.out);
	stat_print_times(r->printer.out, round, &r->times, false, false);
	return 0;
}

/* One object has the counts of complete runs. */
static int report_refuse_intervals(struct stat_reported *r)
{
	r->refused = cli_usage(r->cli,
			       "stat report: --format json has the counts of complete runs, and "
			       "%s has intervals: -j prints each",
			       report_input(r->args));
	return 0;
}

static int report_rounds(struct stat_reported *r)
{
	struct sonde_stat_round round = { .size = sizeof(round) };
	int e;

	while ((e = sonde_stat_next(r->stat, &round)) > 0) {
		if (round.kind == SONDE_STAT_INTERVAL && r->is_json)
			return report_refuse_intervals(r);
		if (round.kind == SONDE_STAT_INTERVAL) {
			stat_print_round(&r->printer, &round);
			continue;
		}
		e = stat_times_add(&r->times, round.run_ns);
		if (e == 0 && r->is_json)
			e = stat_runs_add(&r->runs, &r->printer, &round);
		else if (e == 0 && round.is_last)
			e = report_print_run(r, &round);
		if (e < 0)
			return e;
	}
	return e;
}

static enum sonde_stat_by report_by(const struct sonde_stat *s)
{
	const char *by = sonde_stat_info(s, "by");
	enum sonde_stat_by ret = SONDE_STAT_BY_ALL;

	for (size_t i = 0; by && stat_by_names[i]; i++)
		if (!strcmp(stat_by_names[i], by))
			ret = (enum sonde_stat_by)i;
	return ret;
}

static int report_print(struct stat_reported *r, enum sonde_stat_by by, bool has_by)
{
	int e;

	stat_printer_choose(&r->printer, r->cli, r->args);
	r->printer.stat = r->stat;
	r->is_json = r->args->format && !strcmp(r->args->format, "json");
	/* perf's place for counts is standard error; formats for programs are read from a pipe */
	r->printer.out = r->args->format && strcmp(r->args->format, "text") != 0 ? stdout : stderr;
	r->printer.by = report_by(r->stat);
	r->printer.is_interval = sonde_stat_info(r->stat, "interval") != NULL;
	stat_printer_init(&r->printer);
	if (has_by && r->printer.by != by)
		cli_say("stat report: the counts are not by %s: they are shown as they were "
			"recorded",
			stat_by_names[by]);
	e = report_rounds(r);
	if (e == 0 && r->is_json && !r->refused) {
		stat_runs_begin_json(&r->runs, r->printer.out);
		fputs("}\n", r->printer.out);
	}
	stat_runs_done(&r->runs);
	free(r->times.seconds);
	if (e == -ENOMEM)
		cli_say("stat report: out of memory");
	else if (e < 0)
		return cli_fail(r->cli);
	else if (r->refused)
		return r->refused;
	return e == -ENOMEM || stat_output_is_lost(r->cli, r->args, r->printer.out)
		       ? cli_status(r->cli, CLI_FAILED)
		       : CLI_OK;
}

int stat_report(struct cli *cli, const struct stat_args *a, enum sonde_stat_by by, bool has_by)
{
	struct stat_reported r = { .cli = cli, .args = a };
	char settings[128];
	int status, e;

	snprintf(settings, sizeof(settings), "by=%s\ncompat=%s\nforce=%d\n",
		 has_by ? stat_by_names[by] : "recorded", cli->compat ? cli->compat : "none",
		 a->force);
	e = sonde_stat_read(&r.stat, report_input(a), settings);
	if (e < 0)
		return cli_fail(cli);
	status = report_print(&r, by, has_by);
	sonde_stat_close(r.stat);
	return status;
}
