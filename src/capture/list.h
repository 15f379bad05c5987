/* SPDX-License-Identifier: MIT */
/* The events that can be recorded: see sonde_list_events() and sonde_list_sources(). */
#ifndef SONDE_CAPTURE_LIST_H
#define SONDE_CAPTURE_LIST_H

#include <sonde/sonde.h>

/*
 * All kinds but SDT, which markers.h lists. sources: the directory of the event sources, NULL for
 * sysfs.
 */
int capture_list(const char *sources, const struct sonde_list_options *opts,
		 void (*event)(void *ctx, const struct sonde_listed_event *event), void *ctx);
/* In list_sources.c. root: as sources above. */
int capture_list_sources(const char *root,
			 void (*source)(void *ctx, const struct sonde_event_source *source),
			 void *ctx);

#endif
