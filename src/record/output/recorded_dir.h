/* SPDX-License-Identifier: MIT */
/* An earlier recording that is a directory, at the path of a new one. */
#ifndef SONDE_RECORD_OUTPUT_RECORDED_DIR_H
#define SONDE_RECORD_OUTPUT_RECORDED_DIR_H

#include <stdbool.h>

/* True if path is a directory with nothing but the files of a recording. */
bool recorded_dir_check(const char *path);
/* Removes such a directory. False if it is another kind of directory or cannot be removed. */
bool recorded_dir_remove(const char *path);

#endif
