/* SPDX-License-Identifier: MIT */
/* Finds which right is missing when the kernel refuses an event, by asking it for less. */
#ifndef SONDE_CAPTURE_RIGHTS_H
#define SONDE_CAPTURE_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/events.h"

/* True if the rights suffice to record user space alone with this event, on this task and cpu. */
bool rights_user_space(const struct perf_event_attr *attr, int32_t tid, int cpu);
enum { RIGHTS_REMEDY_MAX = 4200 };
/*
 * How to record with more rights: a capability for this program, or sudo if it is an interpreter,
 * whose scripts must not get rights. Returns a text, which may be in buf.
 */
const char *rights_remedy(char *buf, size_t size);
/*
 * After EPERM, EACCES or ENOSYS: explains which right is missing and how to get it, the smallest
 * right first. Returns -error.
 */
int rights_explain(const struct capture_event *e, int32_t tid, int cpu, int error);

/*
 * For a failure of tracefs_open() with `error`, for events of this system. If rights are the cause,
 * and the events could not be opened either, the message names both. Returns error.
 */
int rights_explain_tracefs(const char *system, int error);

#endif
