/* SPDX-License-Identifier: MIT */
/*
 * sonde convert to a recording of another format: one file, or a folder for a CTF trace, which gets
 * its name when complete.
 */
#ifndef SONDE_CLI_CONVERT_FILE_H
#define SONDE_CLI_CONVERT_FILE_H

#include "recording.h"

/* The word of the session's key `format`; NULL if --to NAME is not such a format. */
const char *convert_file_format(const char *name);
/*
 * Writes the session of rec's lines. events: -e LIST, NULL for all. replace: an existing output.
 * Returns the status.
 */
int convert_file_run(const struct cli *cli, struct reading_options *rec, const char *format,
		     const char *events, const char *output, bool replace);

#endif
