/* SPDX-License-Identifier: MIT */
/* Commands that write a recording out of a recording. */
#ifndef SONDE_CLI_COPYING_H
#define SONDE_CLI_COPYING_H

#include "cli.h"
#include "recording.h"

/*
 * Writes what the session of rec's lines chooses to where they say. A signal that asks us to end leaves no file behind, and
 * then does what it does by default. Returns the status.
 */
int copying_run(const struct cli *cli, struct reading_options *rec);

#endif
