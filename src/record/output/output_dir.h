/* SPDX-License-Identifier: MIT */
/*
 * Recordings that are directories: DIR/data contains everything but the events, DIR/data.N the
 * events of buffer N.
 */
#ifndef SONDE_RECORD_OUTPUT_OUTPUT_DIR_H
#define SONDE_RECORD_OUTPUT_OUTPUT_DIR_H

#include <stddef.h>

#include "record/output/output.h"

/* Like output_open(), for a directory with nr_parts files. The caller owns the descriptors. */
int output_dir_open(struct output *o, const char *path, size_t nr_parts, int *ret_fd,
		    int *ret_part_fds);

#endif
