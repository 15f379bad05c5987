/* SPDX-License-Identifier: MIT */
/* What lines of text have of perf.data alone: given to the text sink by the sink of perf.data. */
#ifndef SONDE_SINKS_PERF_TEXT_PROVIDER_H
#define SONDE_SINKS_PERF_TEXT_PROVIDER_H

#include "sinks/text/provider.h"

extern const struct text_provider_ops perf_text_provider;

#endif
