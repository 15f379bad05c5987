/* SPDX-License-Identifier: MIT */
/*
 * The line on the terminal of standard error that says how far a reading is (progress=1):
 * "37 %, 1200000 events, 12 s left". There is one in a process, as there is one terminal.
 */
#ifndef SONDE_PROGRESS_LINE_H
#define SONDE_PROGRESS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sonde_progress;

enum { PROGRESS_LINE_BYTES = 128 };

/* The words of the line; returns their length. */
size_t progress_line_text(const struct sonde_progress *p, char ret[PROGRESS_LINE_BYTES]);
/* The same while a packed recording is copied into a file: of its packed bytes, total 0 unknown. */
size_t progress_line_unpacking(uint64_t done, uint64_t total, uint64_t elapsed_ms,
			       char ret[PROGRESS_LINE_BYTES]);
/* In the place of what was drawn, unless this process does not have the terminal. */
void progress_line_draw(const char *text, size_t len);
/* Removes it; last: for good. A signal handler may call this. */
void progress_line_wipe(bool is_last);

#endif
