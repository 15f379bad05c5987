/* SPDX-License-Identifier: MIT */
/* Commands that write a recording from a recording. */
#ifndef SONDE_CLI_COPYING_H
#define SONDE_CLI_COPYING_H

#include "cli.h"
#include "recording.h"

/*
 * Writes the chosen events of rec's session to its output. A signal that ends the process leaves no
 * output file, and then takes its default action. Returns the status.
 */
int copying_run(const struct cli *cli, struct reading_options *rec);

#endif
