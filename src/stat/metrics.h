/* SPDX-License-Identifier: MIT */
/* Figures derived from counts of the same place: rates, ratios, shares. */
#ifndef SONDE_STAT_METRICS_H
#define SONDE_STAT_METRICS_H

#include "stat/rows.h"

/* Sets the metrics of each row. elapsed_ns: how long was counted. */
int stat_metrics_fill(struct stat_rows *r, const struct stat_subject *s, double elapsed_ns);

#endif
