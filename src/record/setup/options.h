/* SPDX-License-Identifier: MIT */
/*
 * The settings of a recording (sonde.h tells every key and what it may be) as they were given: values with a grammar of
 * their own stay texts, parsed by the part of the recorder that obeys them before anything is opened. Their messages name
 * the option as `sonde record` spells it and return -EBADR.
 */
#ifndef SONDE_RECORD_SETUP_OPTIONS_H
#define SONDE_RECORD_SETUP_OPTIONS_H

#include <stdint.h>

/* Places in the words of a setting that decides for itself when it is not given. */
enum record_auto { RECORD_AUTO, RECORD_NO, RECORD_YES };
enum record_compressed { RECORD_COMPRESSED_OLD, RECORD_COMPRESSED_NEW };

/* Text: owned, NULL when not given, "" when given without its optional value. uint32_t: flags, 0 or 1, or words. */
struct record_options {
	/* whom */
	char *cpu, *pid, *tid, *uid;
	uint32_t all_cpus, per_thread;
	uint32_t no_inherit; /* enum record_auto */
	/* what of them */
	char *count, *freq;
	uint32_t strict_freq, group, all_user, all_kernel;
	uint32_t exclude_self; /* enum record_auto */
	/* what a sample holds */
	char *call_graph, *intr_regs, *user_regs, *branch_filter, *aux_sample, *snapshot, *clockid;
	uint32_t kernel_callchains, user_callchains;
	uint32_t data, phys_data, data_page_size, code_page_size, stat, no_samples, raw_samples;
	uint32_t sample_identifier, running_time, weight, transaction;
	uint32_t timestamp, period, sample_cpu; /* enum record_auto */
	/* records of state */
	char *synth, *num_thread_synthesize, *proc_map_timeout;
	uint32_t namespaces, all_cgroups, switch_events, no_bpf_event, tail_synthesize;
	/* files that were mapped */
	char *buildid_dir;
	uint32_t no_buildid, buildid_all, buildid_mmap, kcore;
	uint32_t no_buildid_cache; /* enum record_auto */
	/* buffers, and how they are emptied */
	char *mmap_pages, *mmap_flush, *aio, *affinity, *threads, *realtime, *compression_level;
	uint32_t overwrite, no_buffering;
	uint32_t compressed_records; /* enum record_compressed */
	/* when */
	char *delay, *control;
	uint32_t dry_run;
	/* where to */
	char *output, *max_size, *switch_output, *switch_output_event, *switch_max_files;
	uint32_t timestamp_filename, timestamp_boundary;
};

/* settings: lines key=value; NULL: none. ret is filled only on success; -EBADR: a key or value is wrong. */
int record_options_parse(struct record_options *ret, const char *settings);
void record_options_done(struct record_options *o);

#endif
