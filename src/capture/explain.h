/* SPDX-License-Identifier: MIT */
/* What a refusal of the kernel means for the user: cause, current settings, remedy. Limits that we may raise ourselves. */
#ifndef SONDE_CAPTURE_EXPLAIN_H
#define SONDE_CAPTURE_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/events.h"

/* They return -error. `wanted_fds`: how many descriptors the whole recording needs. */
int explain_open(const struct capture_event *e, int cpu, int32_t tid, size_t wanted_fds, int error);
/* The kernel takes the event, but not as a member of that group: -EINVAL. */
int explain_member(const struct capture_event *leader, const struct capture_event *e);
int explain_map(size_t data_pages, size_t nr_cpus, int error);

/* Raises this process's RLIMIT_NOFILE: to the hard limit, with rights to the system's. False when that changed nothing. */
bool raise_file_limit(void);
/* "name" with the modifier u, lent from the list; NULL: no memory. */
const char *event_name_user(struct capture_events *events, const char *name);

#endif
