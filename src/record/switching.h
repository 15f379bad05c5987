/* SPDX-License-Identifier: MIT */
/*
 * When a recording takes up a new file, and when it is large enough: --switch-output and its kin,
 * --max-size.
 */
#ifndef SONDE_RECORD_SWITCHING_H
#define SONDE_RECORD_SWITCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/say.h"
#include "record/options.h"

struct switching {
	bool is_on;
	/* a file so large is the last one's end; 0: its size does not matter */
	uint64_t file_bytes;
	uint64_t interval_ns; /* so does this time; 0: time does not matter */
	uint64_t max_files;   /* older ones are removed; 0: all are kept */
	uint64_t max_bytes;   /* of a file; ends the recording; 0: no limit */
	bool has_time_names;  /* a file that has ended is called FILE.YYYYMMDDhhmmssNN */
};

int switching_parse(struct switching *ret, const struct record_options *opts, bool is_pipe,
		    const struct say *say);

#endif
