/* SPDX-License-Identifier: MIT */
/* Explains a refusal of the kernel to the user: cause, current settings, remedy. */
#ifndef SONDE_CAPTURE_EXPLAIN_H
#define SONDE_CAPTURE_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "capture/events.h"

/* Both return -error. `wanted_fds`: the number of descriptors that the recording needs in all. */
int explain_open(const struct capture_event *e, int cpu, int32_t tid, size_t wanted_fds, int error);
/* The kernel accepts the event, but not as a member of that group: -EINVAL. */
int explain_member(const struct capture_event *leader, const struct capture_event *e);
int explain_map(size_t data_pages, size_t nr_cpus, int error);

#endif
