/* SPDX-License-Identifier: MIT */
/*
 * What is true when no option says it: defaults < perf's files < sonde's files < environment. The keys:
 *
 *	perf's files    pager.script  buildid.dir
 *	sonde's files   script.compat  script.color  script.pager  script.python  buildid.dir
 */
#ifndef SONDE_CLI_SETTINGS_H
#define SONDE_CLI_SETTINGS_H

#include "cli.h"

/*
 * Reads the files into cli->config and sets what options may override: cli->compat, cli->buildid_dir. 0, or a status
 * after telling what is wrong.
 */
int settings_read(struct cli *cli);
/*
 * The line of the shell that shows text on a terminal: SONDE_PAGER, PERF_PAGER, the files, PAGER, /usr/bin/pager,
 * /usr/bin/less. NULL: none, by an option, by the files or because it is cat. Lent.
 */
const char *settings_pager(const struct cli *cli);
/* Whether names stand out. wish: auto, always, never; NULL: as the files say. */
bool settings_color(const struct cli *cli, const char *wish);
/* script.python, or NULL. Lent. */
const char *settings_python(const struct cli *cli);

#endif
