/* SPDX-License-Identifier: MIT */
/* What the running kernel takes, found by asking it. */
#ifndef SONDE_CAPTURE_PROBE_H
#define SONDE_CAPTURE_PROBE_H

#include <linux/perf_event.h>
#include <stdint.h>

/* 0: an event with this attr can be opened there; else the errno. */
int capture_open_errno(const struct perf_event_attr *attr, int32_t tid, int cpu);

/*
 * 0: an event with this attr can be opened for the calling thread, in user space; else the errno. Size and exclude bits are
 * set here.
 */
int capture_probe(const struct perf_event_attr *attr);

/*
 * An event was refused: the one thing asked for without which it can be opened, in words with its option ("the times of
 * clock 1 (-k)"); NULL when it is none of them or not one alone.
 */
const char *capture_culprit(const struct perf_event_attr *refused, int32_t tid, int cpu);

#endif
