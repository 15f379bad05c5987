/* SPDX-License-Identifier: MIT */
/* Whom a recording is about: cpus, and the tasks on them. */
#ifndef SONDE_RECORD_TARGET_H
#define SONDE_RECORD_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "capture/cpus.h"
#include "capture/say.h"
#include "record/options.h"

struct target {
	bool system_wide;    /* everything on the cpus: tids is one -1 */
	bool by_pid;         /* given processes: the recording ends when they are all gone */
	bool enable_on_exec; /* the workload alone: its tid is still to be added */
	struct capture_cpus cpus;
	VEC(int32_t) tids;
};

/* Reads the settings and what of the machine they ask for; -EBADR: they are wrong, -ESRCH: there is no such process. */
int target_find(struct target *ret, const struct record_options *opts, bool has_command,
		const struct say *say);
void target_done(struct target *t);

#endif
