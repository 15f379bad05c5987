/* SPDX-License-Identifier: MIT */
/* Whom a recording is about: cpus, and the tasks on them. */
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
	bool system_wide; /* everything on the cpus: tids is one -1 */
	bool by_pid;     /* given processes or threads: the recording ends when they are all gone */
	bool workload;   /* the command alone: its tid is still to be added */
	bool per_thread; /* a buffer for each of tids, wherever it runs: cpus is one -1 */
	bool no_inherit; /* what the tasks start is not recorded */
	bool chosen_cpus; /* cpus are not all that are online */
	struct capture_cpus cpus;
	/* while it ran: other cpus seen online, and these found to have been offline */
	struct capture_cpus came, went;
	struct cpu_watch watch;
	VEC(int32_t) tids;
};

/*
 * Reads the settings and what of the machine they ask for; -EBADR: they are wrong, -ESRCH: there is no such process,
 * -ENODEV: no such cpu. Of settings that exclude each other one wins, aloud.
 */
int target_find(struct target *ret, const struct capture_options *opts, bool has_command,
		const struct say *say);
/* From now on cpus whose events the kernel takes off are noticed. */
void target_watch(struct target *t);
/* While it records: compares the cpus that are online with those that are recorded. */
void target_look(struct target *t);
/* The same, at the end of a file; and asks which cpus were away between two looks. */
void target_look_back(struct target *t);
/* How many cpus miss events because they came or went; *ret_first: the lowest of them. */
size_t target_missed(const struct target *t, int *ret_first);
/*
 * After the recording: reports the cpus that came or went while it ran, since their events are not
 * all in it.
 */
void target_say_changes(const struct target *t, const struct say *say);
void target_done(struct target *t);

#endif
