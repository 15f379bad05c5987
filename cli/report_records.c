/* SPDX-License-Identifier: MIT */
#include "report_records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool report_records_wanted(const struct report_args *a)
{
	return a->stats || a->dump || a->tasks || a->mmaps;
}

static int report_records_conflict(const struct cli *cli)
{
	if (!cli_compat(cli))
		return cli_usage(cli, "report: --tasks and --mmaps take the place of --stats");
	fputs("Error:\n--tasks and --mmaps can't be used together with --stats\n", stderr);
	return CLI_OK;
}

static int report_records_write(struct sonde_session *s, void *ctx)
{
	bool *is_open = ctx;

	*is_open = true;
	return sonde_session_write(s, STDOUT_FILENO);
}

/* perf fails only if it cannot open a recording. */
static int report_records_run(const struct cli *cli, struct report_args *a, const char *lines)
{
	bool is_open = false;
	const int status = recording_run(cli, &a->rec, lines, report_records_write, &is_open);

	return cli_compat(cli) && is_open && status == cli_status(cli, CLI_FAILED) ? CLI_OK
										   : status;
}

int report_records_print(const struct cli *cli, struct report_args *a)
{
	char lines[128];

	if (a->tasks || a->mmaps) {
		if (a->stats)
			return report_records_conflict(cli);
		snprintf(lines, sizeof(lines), "format=tasks\nmmaps=%d\nunsorted=0\n", a->mmaps);
		return report_records_run(cli, a, lines);
	}
	snprintf(lines, sizeof(lines),
		 "format=%s\nwith-empty=%d\nwith-hint=%d\ncount-branches=%d\n",
		 a->dump ? "record-dump" : "record-counts", a->no_skip_empty,
		 a->dump && !a->quiet && !a->header, a->dump && !a->no_branch_stack);
	return report_records_run(cli, a, lines);
}

int report_records_print_header(const struct cli *cli, const struct report_args *a)
{
	char *text = recording_text(cli, &a->rec.lines, "header=all\n");
	struct sonde_session *s;
	int r;

	if (!text)
		return -ENOMEM;
	r = sonde_session_open(&s, text, "the command line");
	free(text);
	if (r < 0)
		return r;
	fflush(stdout);
	r = sonde_session_write(s, STDOUT_FILENO);
	sonde_session_close(s);
	return r;
}
