/* SPDX-License-Identifier: MIT */
/* What events there are to record: see sonde_list_events(). */
#ifndef SONDE_CAPTURE_LIST_H
#define SONDE_CAPTURE_LIST_H

#include <stdint.h>

#include <sonde/sonde.h>

/* sources: NULL for sysfs; kinds: 0 all. */
int capture_list(const char *sources, uint32_t kinds,
		 void (*event)(void *ctx, const struct sonde_listed_event *event), void *ctx);

#endif
