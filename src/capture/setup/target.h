/* SPDX-License-Identifier: MIT */
/* The target of a recording: cpus, and tasks on them. */
#ifndef SONDE_CAPTURE_SETUP_TARGET_H
#define SONDE_CAPTURE_SETUP_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "capture/cpu_watch.h"
#include "capture/cpus.h"
#include "capture/say.h"
#include "capture/setup/options.h"

struct target {
	bool system_wide; /* all tasks on the cpus are recorded: tids is a single -1 */
	bool by_pid;      /* given processes or threads are recorded, until all have ended */
	bool workload;    /* only the command is recorded: its tid is not yet added */
	bool per_thread;  /* one buffer per tid, on any cpu: cpus is a single -1 */
	bool no_inherit;  /* children of the tasks are not recorded */
	bool chosen_cpus; /* cpus is a subset of the online cpus */
	struct capture_cpus cpus;
	/*
	 * during the recording: new cpus seen online, and recorded cpus found to have been offline
	 */
	struct capture_cpus came, went;
	struct cpu_watch watch;
	VEC(int32_t) tids;
};

/*
 * Reads the settings, and the state of the machine that they refer to. -EBADR if they are wrong,
 * -ESRCH if there is no such process, -ENODEV if there is no such cpu. If settings exclude each
 * other, one is used and the choice is reported.
 */
int target_find(struct target *ret, const struct capture_options *opts, bool has_command,
		const struct say *say);
/* From now on, notices cpus whose events the kernel removes. */
void target_watch(struct target *t);
/* During the recording: compares the online cpus with the recorded ones. */
void target_look(struct target *t);
/* Like target_look(), at the end of a file. Also finds cpus that were offline between two calls. */
void target_look_back(struct target *t);
/*
 * The number of cpus whose events are incomplete because the cpu went online or offline. *ret_first
 * is the lowest.
 */
size_t target_missed(const struct target *t, int *ret_first);
/*
 * After the recording: reports the cpus that went online or offline, whose events are incomplete.
 */
void target_say_changes(const struct target *t, const struct say *say);
/* Calls `add` with each thread of the machine, until it fails. */
int target_each_thread(int (*add)(void *ctx, int32_t pid, int32_t tid), void *ctx);
void target_done(struct target *t);

#endif
