/* SPDX-License-Identifier: MIT */
/*
 * The line on the terminal of standard error that shows the progress of reading (progress=1):
 * "37 %, 1200000 events, 12 s left". A process has one such line, because it has one terminal.
 */
#ifndef SONDE_PROGRESS_LINE_H
#define SONDE_PROGRESS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sonde_progress;

enum { PROGRESS_LINE_BYTES = 128 };

/* Makes the text of the line; returns its length. */
size_t progress_line_text(const struct sonde_progress *p, char ret[PROGRESS_LINE_BYTES]);
/*
 * The same while a packed recording is unpacked into a file. Counts packed bytes; total is 0 if
 * unknown.
 */
size_t progress_line_unpacking(uint64_t done, uint64_t total, uint64_t elapsed_ms,
			       char ret[PROGRESS_LINE_BYTES]);
/* Replaces the drawn line. Does nothing in a background job. */
void progress_line_draw(const char *text, size_t len);
/* Removes the line; is_last: no line is drawn afterwards. A signal handler may call this. */
void progress_line_wipe(bool is_last);

#endif
