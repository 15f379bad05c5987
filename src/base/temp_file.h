/* SPDX-License-Identifier: MIT */
#ifndef SONDE_BASE_TEMP_FILE_H
#define SONDE_BASE_TEMP_FILE_H

/* An empty file without a name, in TMPDIR or /tmp: gone when closed. A descriptor, or <0 with a message. */
int temp_file_open(void);

#endif
