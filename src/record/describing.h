/* SPDX-License-Identifier: MIT */
/*
 * --synth and related options: the parts of the running system that a file describes, the number of
 * threads that describe them, and the place in the file.
 */
#ifndef SONDE_RECORD_DESCRIBING_H
#define SONDE_RECORD_DESCRIBING_H

#include <stdbool.h>
#include <stdint.h>

#include "record/options.h"

struct describing {
	bool tasks, maps, cgroups;
	unsigned nr_threads;
	bool at_end;       /* the records are at the end of the file, not at its beginning */
	bool maps_limited; /* reading the mappings of one process ends after maps_ms */
	uint32_t maps_ms;
};

int describing_parse(struct describing *ret, const struct record_options *opts);

#endif
