/* SPDX-License-Identifier: MIT */
/*
 * Texts of `sonde report` about a recording's records, in place of tables: --stats, --tasks,
 * --mmaps, -D.
 */
#ifndef SONDE_CLI_REPORT_RECORDS_H
#define SONDE_CLI_REPORT_RECORDS_H

#include "cli.h"
#include "report_options.h"

/* True if the options ask for such a text. */
bool report_records_wanted(const struct report_args *a);
/* Prints the text. Returns the status. */
int report_records_print(const struct cli *cli, struct report_args *a);
/* For --header: prints the header, in its own session. Returns 0, or a negative errno. */
int report_records_print_header(const struct cli *cli, const struct report_args *a);

#endif
