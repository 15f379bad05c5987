/* SPDX-License-Identifier: MIT */
/*
 * The settings of a capture as they were given; sonde.h lists every key and its values. Values with
 * a grammar of their own stay texts; the code that applies them parses them before anything is
 * opened. Their errors name the option as `sonde record` spells it and return -EBADR.
 */
#ifndef SONDE_CAPTURE_SETUP_OPTIONS_H
#define SONDE_CAPTURE_SETUP_OPTIONS_H

#include <stdint.h>

#include "base/keys.h"

/* Indexes into the words of a setting that has an automatic default. */
enum capture_auto { CAPTURE_AUTO, CAPTURE_NO, CAPTURE_YES };
extern const char *const capture_auto_words[];

/*
 * Text: owned, NULL if not given, "" if given without its optional value. uint32_t: a flag, 0 or 1,
 * or an index into the words of the setting.
 */
struct capture_options {
	/* target */
	char *cpu, *pid, *tid, *uid;
	uint32_t all_cpus, per_thread;
	uint32_t no_inherit; /* enum capture_auto */
	/* rate */
	char *count, *freq;
	uint32_t strict_freq, group, all_user, all_kernel;
	uint32_t exclude_self; /* enum capture_auto */
	char *reader;          /* the process that reads a pipe is part of "self" */
	/* contents of a sample */
	char *call_graph, *intr_regs, *user_regs, *branch_filter, *aux_sample, *snapshot, *clockid;
	uint32_t kernel_callchains, user_callchains;
	uint32_t data, phys_data, data_page_size, code_page_size, stat, no_samples, raw_samples;
	uint32_t sample_identifier, running_time, weight, transaction;
	uint32_t timestamp, period, sample_cpu; /* enum capture_auto */
	/* state records */
	uint32_t namespaces, all_cgroups, switch_events, no_bpf_event, buildid_mmap;
	/* buffers */
	char *mmap_pages;
	char *buffer_size, *ftrace_clock; /* of ftrace=1 */
	uint32_t overwrite, no_buffering;
};

/* The keys of the settings. Offsets are those of struct capture_options. */
extern const struct key capture_keys[];
extern const size_t nr_capture_keys;

#endif
