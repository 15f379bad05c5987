/* SPDX-License-Identifier: MIT */
/* What the configuration files say of recordings (cli/settings.h lists the keys): beneath what the options say. */
#ifndef SONDE_CLI_RECORD_CONFIG_H
#define SONDE_CLI_RECORD_CONFIG_H

#include "cli.h"
#include "record_options.h"

/*
 * The settings of a recording, files' lines before those of the options; to be released with lines_done(). 0, or -1 after
 * telling what is wrong.
 */
int record_config_lines(const struct cli *cli, const struct record_args *a, struct lines *ret);

#endif
