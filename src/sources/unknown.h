/* SPDX-License-Identifier: MIT */
/* Describes input that no source knows, and names tools that read it. */
#ifndef SONDE_SOURCES_UNKNOWN_H
#define SONDE_SOURCES_UNKNOWN_H

#include <stddef.h>
#include <stdint.h>

enum { UNKNOWN_TEXT_BYTES = 200 };

/* Writes a clause for a message about the input's first bytes: "it looks like ...". */
void unknown_describe(const uint8_t *head, size_t len, char ret[UNKNOWN_TEXT_BYTES]);
/* The same for a directory without a file of events. dir is borrowed. "" if it is unknown. */
const char *unknown_directory(int dir);

#endif
