/* SPDX-License-Identifier: MIT */
#include "report_records.h"

#include <stdio.h>

bool report_records_wanted(const struct report_args *a)
{
	return a->stats || a->dump;
}

int report_records_print(const struct cli *cli, struct report_args *a)
{
	char lines[128];

	snprintf(lines, sizeof(lines),
		 "format=%s\nwith-empty=%d\nwith-hint=%d\ncount-branches=%d\n",
		 a->dump ? "record-dump" : "record-counts", a->no_skip_empty,
		 a->dump && !a->quiet && !a->header, a->dump && !a->no_branch_stack);
	return recording_print(cli, &a->rec, lines);
}
