/* SPDX-License-Identifier: MIT */
/* Recordings that are directories: DIR/data with everything but the events, DIR/data.N with those of buffer N. */
#ifndef SONDE_RECORD_OUTPUT_DIR_H
#define SONDE_RECORD_OUTPUT_DIR_H

#include <stdbool.h>
#include <stddef.h>

#include "record/output.h"

/* As output_open(), of a directory with nr_parts files. The descriptors are the caller's. */
int output_dir_open(struct output *o, const char *path, size_t nr_parts, int *ret_fd,
		    int *ret_part_fds);
/* Whether there is a directory with nothing but the files of a recording. */
bool output_dir_is_recording(const char *path);
/* Removes such a directory; false: it is another, or cannot be removed. */
bool output_dir_remove(const char *path);

#endif
