/* SPDX-License-Identifier: MIT */
/*
 * The settings of a recording (sonde.h lists every key and its values): settings of the capture,
 * and settings of the files that are written. Values are texts, like in capture/setup/options.h;
 * the code that applies them parses them.
 */
#ifndef SONDE_RECORD_OPTIONS_H
#define SONDE_RECORD_OPTIONS_H

#include <stdint.h>

#include "capture/setup/options.h"

/* auto: in a live session, where it is possible and gives the same events. */
enum record_ftrace { RECORD_FTRACE_NO, RECORD_FTRACE_YES, RECORD_FTRACE_AUTO };
enum record_compressed { RECORD_COMPRESSED_OLD, RECORD_COMPRESSED_NEW };

/* Members are represented like those of struct capture_options. */
struct record_options {
	struct capture_options capture; /* targets and sampling */
	/* description of the running system */
	char *synth, *num_thread_synthesize, *proc_map_timeout;
	uint32_t tail_synthesize;
	/* files that were mapped */
	char *buildid_dir;
	uint32_t no_buildid, buildid_all, kcore;
	uint32_t no_buildid_cache; /* enum capture_auto */
	/* emptying of the buffers */
	char *mmap_flush, *aio, *affinity, *threads, *realtime, *compression_level;
	uint32_t compressed_records; /* enum record_compressed */
	/* start and end */
	char *delay, *control, *started;
	uint32_t dry_run;
	/*
	 * tracepoints are taken out of ftrace's buffers: into a trace.dat, or as a stream if the
	 * output is a pipe
	 */
	uint32_t ftrace; /* enum record_ftrace */
	/* output */
	char *output, *output_fd, *latency, *max_size;
	char *switch_output, *switch_output_event, *switch_max_files;
	uint32_t timestamp_filename, timestamp_boundary;
};

/*
 * settings: lines key=value, or NULL. ret is filled only on success. -EBADR if a key or value is
 * wrong.
 */
int record_options_parse(struct record_options *ret, const char *settings);
/* -EBADR, too, if a key names a file, a descriptor or a priority: for settings of somebody who has
 * fewer rights than this process. */
int record_options_check_foreign(const char *settings);
void record_options_done(struct record_options *o);

#endif
