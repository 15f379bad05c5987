/* SPDX-License-Identifier: MIT */
/* sonde report: adds samples up and prints them as tables, laid out as perf report --stdio does. */
#include "cli.h"

#include "pager.h"
#include "recording.h"
#include "report.h"
#include "report_config.h"
#include "report_frame.h"
#include "report_options.h"
#include "report_profile.h"
#include "report_records.h"
#include "settings.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* If called as perf, another perf prints the tables as long as sonde misses options of perf's. */
static bool cmd_report_is_perfs(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--header-only"))
			return false;
	return true;
}

/* A pipe can be read only once: its header is not printed. */
static bool cmd_report_reads_pipe(const struct reading_options *rec)
{
	char *input = lines_given(&rec->lines, "input");
	const bool is_pipe = input && !strcmp(input, "-");

	free(input);
	return is_pipe;
}

/* The tables of a recording that could be opened. */
struct cmd_report_tables {
	struct report report;
	bool is_open;
};

/* perf reads what a pipe says about groups too late. */
static bool cmd_report_lacks_groups(struct sonde_session *s)
{
	return !sonde_session_info(s, "event-groups") || report_is_pipe(s);
}

static int cmd_report_print_tables(struct sonde_session *s, void *ctx)
{
	struct cmd_report_tables *tables = ctx;
	struct report *r = &tables->report;

	tables->is_open = true;
	if (r->args->group_sort && cmd_report_lacks_groups(s) &&
	    cli_rules(r->cli)->statuses_are_errnos) {
		fputs("--group-sort-idx: the recording does not describe groups of events\n",
		      stderr);
		r->status = 256 - EINVAL;
		return 0;
	}
	if (r->args->header && !r->args->quiet && !cmd_report_reads_pipe(&r->args->rec)) {
		const int n = report_records_print_header(r->cli, r->args);

		if (n < 0)
			return n;
	}
	return report_print(s, r);
}

/*
 * perf's status where sonde could not open a session with the options. perf opens the recording and
 * begins to print before it looks at them.
 */
static int cmd_report_perf_status(const struct report_args *a, int status)
{
	char *vmlinux = lines_given(&a->rec.lines, "vmlinux");
	char *input = lines_given(&a->rec.lines, "input"), *cpu = NULL, *time = NULL;
	const bool is_readable = !access(input ? input : "perf.data", R_OK);

	if (is_readable && !strncmp(sonde_error_text(), "--switch-o", 10)) {
		status = 256 - ENOENT;
	} else if (is_readable && vmlinux && access(vmlinux, R_OK)) {
		status = 256 - EINVAL;
	} else if (is_readable) {
		time = lines_given(&a->rec.lines, "time");
		cpu = lines_given(&a->rec.lines, "cpu");
		if (time || cpu) {
			report_frame_begin(stdout, a);
			status = time ? 256 - EINVAL : CLI_OK;
		}
	}
	free(vmlinux);
	free(input);
	free(cpu);
	free(time);
	return status;
}

static int cmd_report_run_tables(struct cli *cli, struct report_args *a)
{
	const char *pager = isatty(STDOUT_FILENO) ? settings_pager(cli) : NULL;
	/* A profile takes less time for an event than handing it from thread to thread does. */
	const char *threads = getenv("SONDE_THREADS") ? "" : "threads=1\n";
	char lines[80];
	struct cmd_report_tables tables = {
		.report = { .cli = cli, .args = a, .status = CLI_OK },
	};
	int status;

	if (pager && pager_start(pager) < 0)
		return cli_status(cli, CLI_FAILED);
	/*
	 * Counters of threads are in records, not in samples. --disable-order is about -D: samples
	 * belong to the name and the mappings that their task had at their time.
	 */
	snprintf(lines, sizeof(lines), "%s%s%sunsorted=0\n", threads, RECORDING_SMALL_WINDOWS,
		 a->threads ? "events=all\n" : "");
	status = recording_run(cli, &a->rec, lines, cmd_report_print_tables, &tables);
	if (status && !tables.is_open && cli_rules(cli)->statuses_are_errnos)
		return cmd_report_perf_status(a, status);
	/* perf fails only if it cannot open a recording. */
	if (cli_compat(cli) && tables.is_open && status == cli_status(cli, CLI_FAILED))
		return CLI_OK;
	return status ? status : tables.report.status;
}

/* perf's status of this is that of a failed call, not of a usage error. */
static int cmd_report_check_prefix(const struct cli *cli, const struct report_args *a)
{
	if (!a->prefix_strip || a->prefix)
		return CLI_OK;
	if (!cli_compat(cli))
		return cli_usage(cli, "report: --prefix-strip needs --prefix");
	fputs("--prefix-strip requires --prefix\n", stderr);
	return 256 - EINVAL;
}

/* Parts of the text that other formats do not have, and --weight, which folded has only. */
static int cmd_report_check_format(const struct cli *cli, const struct report_args *a)
{
	const struct {
		const char *option;
		bool is_given;
	} parts[] = {
		{ "--tasks", a->tasks },
		{ "--mmaps", a->mmaps },
		{ "--stats", a->stats },
		{ "-D", a->dump },
		{ "--header", a->header },
		{ "--header-only", a->header_only },
		{ "--total-cycles", a->total_cycles },
	};

	for (size_t i = 0; a->format && i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].is_given)
			return cli_usage(cli,
					 "report: %s prints text: leave it out, or --format %s",
					 parts[i].option, a->format);
	if (a->weight && (!a->format || strcmp(a->format, "folded")))
		return cli_usage(cli, "report: --weight is for --format folded");
	return CLI_OK;
}

/* True if text is no regular expression, which it reports. */
static bool cmd_report_refuses_regex(const char *option, const char *text)
{
	char why[256];
	regex_t regex;
	int r;

	if (!text)
		return false;
	r = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
	if (r) {
		regerror(r, &regex, why, sizeof(why));
		cli_say("report: %s takes a regular expression, not '%s': %s", option, text, why);
	} else {
		regfree(&regex);
	}
	return r;
}

static int cmd_report_run(struct cli *cli, void *values, int argc, char **argv)
{
	struct report_args *a = values;
	int status = cmd_report_check_prefix(cli, a);

	if (!status)
		status = cmd_report_check_format(cli, a);
	if (status)
		return status;
	if (*a->wrong && !cli_rules(cli)->report_takes_wrong_values)
		return cli_usage(cli, "report: %s", a->wrong);
	if (cmd_report_refuses_regex("--ignore-callees", a->ignore_callees))
		return cli_status(cli, CLI_USAGE);
	/* perf prints no table and exits with 0. */
	if (cmd_report_refuses_regex("-p", a->parent))
		return cli_compat(cli) ? CLI_OK : cli_status(cli, CLI_USAGE);
	/* For perf a single word is the name of a symbol, and a header has no symbols. */
	if (argc > 1 || (argc && a->header_only && !cli_rules(cli)->words_are_no_recordings))
		return cli_usage(
			cli,
			"report: one word at most, a part of functions' names, not '%s'; -i "
			"names the recording",
			argv[argc - 1]);
	if (argc)
		a->symbol_filter = argv[0];
	/* perf prints no header with -q, and continues with the tables. */
	if (a->header_only && !(a->quiet && cli_compat(cli)))
		return recording_print(cli, &a->rec, "header=all\n");
	if (report_records_wanted(a))
		return report_records_print(cli, a);
	return cmd_report_run_tables(cli, a);
}

static const char *const usage[] = { "report [OPTIONS] [SYMBOL]", "report --header-only [OPTIONS]",
				     NULL };
static const struct report_args cmd_report_defaults = { .graph = { .kind = REPORT_GRAPH,
								   .min_percent = 0.5 } };

const struct command cmd_report = {
	.name = "report",
	.summary = "adds up a recording's samples by function, thread, file or event",
	.usage = usage,
	.options = report_options,
	.examples = "  sonde report\n"
		    "  sonde report -s comm,sym -g callee\n"
		    "  sonde report --header-only -I -i perf.data\n",
	.defaults = &cmd_report_defaults,
	RECORDING_COMMAND(struct report_args),
	.configure = report_config,
	.run = cmd_report_run,
	.is_perfs = cmd_report_is_perfs,
};
