/* SPDX-License-Identifier: MIT */
/*
 * Values that apply if no option sets them: defaults < perf's files < sonde's files < environment.
 * The keys:
 *
 *	perf's files    pager.script  buildid.dir  record.build-id  record.call-graph  record.aio
 *	                call-graph.record-mode  call-graph.dump-size  core.proc-map-timeout
 *	                those of cli/report_config.h
 *	sonde's files   script.compat  script.color  script.pager  script.python  script.path
 *	                record.compat  report.compat, and all of perf's except pager.script
 */
#ifndef SONDE_CLI_SETTINGS_H
#define SONDE_CLI_SETTINGS_H

#include "cli.h"

/*
 * Reads the files into cli->config. Sets cli->compat and cli->buildid_dir unless options did.
 * Returns 0, or a status after reporting the error.
 */
int settings_read(struct cli *cli, const char *command);
/*
 * The shell command that shows text on a terminal, from SONDE_PAGER, PERF_PAGER, the files, PAGER,
 * /usr/bin/pager, /usr/bin/less. NULL if an option or a file disables it, or if it is cat.
 * Borrowed.
 */
const char *settings_pager(const struct cli *cli);
/*
 * True if names are highlighted. wish is auto, always or never; NULL if the configuration decides.
 */
bool settings_color(const struct cli *cli, const char *wish);
/* script.python, or NULL. Borrowed. */
const char *settings_python(const struct cli *cli);
/* script.path: folders of scripts, separated by ':'; or NULL. Borrowed. */
const char *settings_script_path(const struct cli *cli);

#endif
