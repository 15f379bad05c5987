/* SPDX-License-Identifier: MIT */
/*
 * What is true when no option says it: defaults < perf's files < sonde's files < environment. The keys:
 *
 *	perf's files    pager.script  buildid.dir  record.build-id  record.call-graph  record.aio  call-graph.record-mode
 *	                call-graph.dump-size  core.proc-map-timeout
 *	sonde's files   script.compat  script.color  script.pager  script.python  script.path  record.compat, and all
 *			of perf's but its pager
 */
#ifndef SONDE_CLI_SETTINGS_H
#define SONDE_CLI_SETTINGS_H

#include "cli.h"

/*
 * Reads the files into cli->config and sets what options may override: cli->compat, cli->buildid_dir. 0, or a status
 * after telling what is wrong.
 */
int settings_read(struct cli *cli, const char *command);
/*
 * The line of the shell that shows text on a terminal: SONDE_PAGER, PERF_PAGER, the files, PAGER, /usr/bin/pager,
 * /usr/bin/less. NULL: none, by an option, by the files or because it is cat. Lent.
 */
const char *settings_pager(const struct cli *cli);
/* Whether names stand out. wish: auto, always, never; NULL: as the files say. */
bool settings_color(const struct cli *cli, const char *wish);
/* script.python, or NULL. Lent. */
const char *settings_python(const struct cli *cli);
/* script.path: folders of scripts, separated by ':'; or NULL. Lent. */
const char *settings_script_path(const struct cli *cli);

#endif
