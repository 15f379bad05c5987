/* SPDX-License-Identifier: MIT */
/* What lines of text have of perf.data alone: given to the text sink by the sink of perf.data. */
#ifndef SONDE_SINKS_PERF_TEXT_PARTS_H
#define SONDE_SINKS_PERF_TEXT_PARTS_H

#include "sinks/text/parts.h"

extern const struct text_parts_ops perf_text_parts;

#endif
