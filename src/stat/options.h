/* SPDX-License-Identifier: MIT */
/* The settings of a count; sonde.h lists every key and its values. */
#ifndef SONDE_STAT_OPTIONS_H
#define SONDE_STAT_OPTIONS_H

#include <stdint.h>

#include "capture/setup/options.h"

/* Members are represented like those of struct capture_options. */
struct stat_options {
	struct capture_options capture; /* target, levels, inheritance */
	char *for_each_cgroup, *cputype;
	uint64_t detailed; /* how many more events the default list has: 0 to 3 */
	uint32_t null_run, no_scale, leave_out, percore_show_thread, no_merge, hybrid_merge;
	uint32_t by; /* enum sonde_stat_by */
	uint64_t interval_ms, interval_count, timeout_ms;
	char *delay_ms, *control, *pre, *post, *output;
	uint32_t sync;
};

/* "recorded", then the words of enum sonde_stat_by; ended by NULL. */
extern const char *const stat_by_words[];

/* settings: lines key=value, or NULL. -EBADR if a key or value is wrong. */
int stat_options_parse(struct stat_options *ret, const char *settings);
void stat_options_done(struct stat_options *o);

#endif
