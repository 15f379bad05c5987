/* SPDX-License-Identifier: MIT */
/* Which one right is missing when the kernel refuses an event: found by asking it for less. */
#ifndef SONDE_CAPTURE_RIGHTS_H
#define SONDE_CAPTURE_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/events.h"

/* Whether user space alone of this event may be recorded there. */
bool rights_user_space(const struct perf_event_attr *attr, int32_t tid, int cpu);
/* After EPERM, EACCES or ENOSYS: what is missing and how to get it, the least first. Returns -error. */
int rights_explain(const struct capture_event *e, int32_t tid, int cpu, int error);

/*
 * tracefs_open() failed with error for events of this system. If that is a matter of rights, and
 * the events could not be opened either, the message names both. Returns error.
 */
int rights_explain_tracefs(const char *system, int error);

#endif
