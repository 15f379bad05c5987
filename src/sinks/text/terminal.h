/* SPDX-License-Identifier: MIT */
/*
 * Makes recorded text harmless for a terminal: control characters are printed as \x1b. Files and
 * pipes get the text unchanged.
 */
#ifndef SONDE_SINKS_TEXT_TERMINAL_H
#define SONDE_SINKS_TEXT_TERMINAL_H

#include <stdbool.h>

#include "base/outbuf.h"

/*
 * Quotes the text in `out` from `start` on. line_ends: newlines and tabs belong to the layout and
 * are kept.
 */
void text_terminal_quiet(struct outbuf *out, size_t start, bool line_ends);

#endif
