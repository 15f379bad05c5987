/* SPDX-License-Identifier: MIT */
/* The events that can be recorded: see sonde_list_events(). */
#ifndef SONDE_CAPTURE_LIST_H
#define SONDE_CAPTURE_LIST_H

#include <stdint.h>

#include <sonde/sonde.h>

/* sources: NULL means sysfs. kinds: 0 means all. */
int capture_list(const char *sources, uint32_t kinds,
		 void (*event)(void *ctx, const struct sonde_listed_event *event), void *ctx);

#endif
