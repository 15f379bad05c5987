/* SPDX-License-Identifier: MIT */
/*
 * Recordings that are directories: DIR/data with everything but the events, DIR/data.N with those
 * of buffer N.
 */
#ifndef SONDE_RECORD_OUTPUT_DIR_H
#define SONDE_RECORD_OUTPUT_DIR_H

#include <stddef.h>

#include "record/output.h"

/* As output_open(), of a directory with nr_parts files. The descriptors are the caller's. */
int output_dir_open(struct output *o, const char *path, size_t nr_parts, int *ret_fd,
		    int *ret_part_fds);

#endif
