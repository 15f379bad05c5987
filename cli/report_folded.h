/* SPDX-License-Identifier: MIT */
#ifndef SONDE_CLI_REPORT_FOLDED_H
#define SONDE_CLI_REPORT_FOLDED_H

#include <sonde/sonde.h>
#include <stdio.h>

/*
 * Prints a line for each distinct call path of a profile by comm and sym, as docs/formats/report.md
 * describes. weight is "samples", "period", or NULL for samples. Returns 0 or a negative errno.
 */
int report_folded(FILE *out, struct sonde_profile *p, const char *weight);

#endif
