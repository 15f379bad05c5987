/* SPDX-License-Identifier: MIT */
/* The text that only perf.data has, provided to the text sink by a sink of this folder. */
#ifndef SONDE_SINKS_PERF_TEXT_PROVIDER_H
#define SONDE_SINKS_PERF_TEXT_PROVIDER_H

#include "sinks/text/provider.h"

extern const struct text_provider_ops perf_text_provider;

#endif
