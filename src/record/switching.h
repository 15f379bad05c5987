/* SPDX-License-Identifier: MIT */
/*
 * When a recording continues in a new file (--switch-output and related options), and at which size
 * it ends (--max-size).
 */
#ifndef SONDE_RECORD_SWITCHING_H
#define SONDE_RECORD_SWITCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/say.h"
#include "record/options.h"

struct switching {
	bool is_on;
	/* a file of this size ends, and the next one begins; 0 means any size */
	uint64_t file_bytes;
	uint64_t interval_ns; /* a file of this age ends, too; 0 means any age */
	uint64_t max_files;   /* older ones are removed; 0 means all are kept */
	uint64_t max_bytes;   /* a file of this size ends the recording; 0 means no limit */
	bool has_time_names;  /* a file that has ended is called FILE.YYYYMMDDhhmmssNN */
};

int switching_parse(struct switching *ret, const struct record_options *opts, bool is_pipe,
		    const struct say *say);

#endif
