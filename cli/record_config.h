/* SPDX-License-Identifier: MIT */
/*
 * Settings of a recording from the configuration files (cli/settings.h lists the keys). Options
 * override them.
 */
#ifndef SONDE_CLI_RECORD_CONFIG_H
#define SONDE_CLI_RECORD_CONFIG_H

#include "cli.h"
#include "record_options.h"

/*
 * Collects the settings of a recording: lines from files, then lines from options. Released with
 * lines_done(). Returns 0, or -1 after reporting the error.
 */
int record_config_lines(const struct cli *cli, const struct record_args *a, struct lines *ret);

#endif
