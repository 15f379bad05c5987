/* SPDX-License-Identifier: MIT */
/* Tries which attrs the running kernel accepts. */
#ifndef SONDE_CAPTURE_PROBE_H
#define SONDE_CAPTURE_PROBE_H

#include <linux/perf_event.h>
#include <stdint.h>

/* Returns 0 if an event with this attr can be opened there, otherwise the errno. */
int capture_open_errno(const struct perf_event_attr *attr, int32_t tid, int cpu);

/*
 * Returns 0 if an event with this attr can be opened for the calling thread, in user space;
 * otherwise the errno. Sets size and exclude bits itself.
 */
int capture_probe(const struct perf_event_attr *attr);

/*
 * For a refused event: the one attribute without which it can be opened, in words with its option
 * ("the times of clock 1 (-k)"). NULL if no single attribute is the cause.
 */
const char *capture_culprit(const struct perf_event_attr *refused, int32_t tid, int cpu);

#endif
