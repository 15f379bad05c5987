/* SPDX-License-Identifier: MIT */
/*
 * The settings of a recording (sonde.h lists every key and its values): those of what is captured,
 * and those of the files that are written. As capture/setup/options.h keeps them: texts, parsed by
 * the part that obeys them.
 */
#ifndef SONDE_RECORD_OPTIONS_H
#define SONDE_RECORD_OPTIONS_H

#include <stdint.h>

#include "capture/setup/options.h"

enum record_compressed { RECORD_COMPRESSED_OLD, RECORD_COMPRESSED_NEW };

/* Members as in struct capture_options. */
struct record_options {
	struct capture_options capture; /* whom, and what of them */
	/* what is described */
	char *synth, *num_thread_synthesize, *proc_map_timeout;
	uint32_t tail_synthesize;
	/* files that were mapped */
	char *buildid_dir;
	uint32_t no_buildid, buildid_all, kcore;
	uint32_t no_buildid_cache; /* enum capture_auto */
	/* how buffers are emptied */
	char *mmap_flush, *aio, *affinity, *threads, *realtime, *compression_level;
	uint32_t compressed_records; /* enum record_compressed */
	/* when */
	char *delay, *control;
	uint32_t dry_run;
	/* where to */
	char *output, *max_size, *switch_output, *switch_output_event, *switch_max_files;
	uint32_t timestamp_filename, timestamp_boundary;
};

/*
 * settings: lines key=value; NULL: none. ret is filled only on success; -EBADR: a key or value is
 * wrong.
 */
int record_options_parse(struct record_options *ret, const char *settings);
void record_options_done(struct record_options *o);

#endif
