/* SPDX-License-Identifier: MIT */
/*
 * Settings of a report from the configuration files, which options override:
 *
 *	report.sort_order  report.percent-limit  report.children  report.group  report.skip-empty
 *	report.queue-size (no effect)  hist.percentage  call-graph.print-type  call-graph.order
 *	call-graph.sort-key  call-graph.threshold  call-graph.print-limit
 */
#ifndef SONDE_CLI_REPORT_CONFIG_H
#define SONDE_CLI_REPORT_CONFIG_H

#include "cli.h"

/* values: a struct report_args. Returns 0, or a status after reporting the error. */
int report_config(struct cli *cli, void *values);

#endif
