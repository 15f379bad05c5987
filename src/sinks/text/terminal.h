/* SPDX-License-Identifier: MIT */
/*
 * Text for a terminal: what a recording holds may not speak to it. Control characters are shown as
 * \x1b, in files and pipes they are left as they are.
 */
#ifndef SONDE_SINKS_TEXT_TERMINAL_H
#define SONDE_SINKS_TEXT_TERMINAL_H

#include <stdbool.h>

#include "base/outbuf.h"

/*
 * Everything from `start` on in what was written; line_ends: newlines and tabs are the layout's and
 * stay.
 */
void text_terminal_quiet(struct outbuf *out, size_t start, bool line_ends);

#endif
