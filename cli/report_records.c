/* SPDX-License-Identifier: MIT */
#include "report_records.h"

#include <stdio.h>

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

int report_records_print(const struct cli *cli, struct report_args *a)
{
	char lines[128];

	if (a->tasks || a->mmaps) {
		if (a->stats)
			return report_records_conflict(cli);
		return recording_print(cli, &a->rec,
				       a->mmaps ? "format=tasks\nmmaps=1\n" : "format=tasks\n");
	}
	snprintf(lines, sizeof(lines),
		 "format=%s\nwith-empty=%d\nwith-hint=%d\ncount-branches=%d\n",
		 a->dump ? "record-dump" : "record-counts", a->no_skip_empty,
		 a->dump && !a->quiet && !a->header, a->dump && !a->no_branch_stack);
	return recording_print(cli, &a->rec, lines);
}
