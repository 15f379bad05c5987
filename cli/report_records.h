/* SPDX-License-Identifier: MIT */
/*
 * What `sonde report` prints about a recording's records in place of tables: --stats, --tasks,
 * --mmaps, -D.
 */
#ifndef SONDE_CLI_REPORT_RECORDS_H
#define SONDE_CLI_REPORT_RECORDS_H

#include "cli.h"
#include "report_options.h"

/* True if the options ask for such a text. */
bool report_records_wanted(const struct report_args *a);
/* Prints it; the status. */
int report_records_print(const struct cli *cli, struct report_args *a);
/* --header: prints the header, in a session of its own. Returns 0, or a negative errno. */
int report_records_print_header(const struct cli *cli, const struct report_args *a);

#endif
