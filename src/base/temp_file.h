/* SPDX-License-Identifier: MIT */
#ifndef SONDE_BASE_TEMP_FILE_H
#define SONDE_BASE_TEMP_FILE_H

/*
 * Creates an empty file without a name in TMPDIR or /tmp. It is gone when closed. Returns a
 * descriptor, or <0 with a message.
 */
int temp_file_open(void);

#endif
