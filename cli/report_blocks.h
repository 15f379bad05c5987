/* SPDX-License-Identifier: MIT */
/* --total-cycles: blocks of code between branches, by the cycles that they took. */
#ifndef SONDE_CLI_REPORT_BLOCKS_H
#define SONDE_CLI_REPORT_BLOCKS_H

#include "report_view.h"

/* Prints the blocks of a table. Returns 0, or a negative errno. */
int report_blocks_print(FILE *out, const struct report_view *v, uint32_t index);

#endif
