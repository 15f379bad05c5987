/* SPDX-License-Identifier: MIT */
/*
 * The event of this machine whose name is most like a mistyped one. Names of listed events are
 * borrowed only during the call, so it keeps a copy.
 *
 *	struct nearest_event n = { .near = { .size = sizeof(n.near), .wanted = typed } };
 *	sonde_list_events(NULL, nearest_event_offer, &n);
 *	if (n.near.meant)
 *		...
 */
#ifndef SONDE_CLI_NEAREST_EVENT_H
#define SONDE_CLI_NEAREST_EVENT_H

#include <sonde/sonde.h>

struct nearest_event {
	struct sonde_nearest near;
	char name[128];
};

/* For sonde_list_events(); ctx: struct nearest_event. */
void nearest_event_offer(void *ctx, const struct sonde_listed_event *e);

#endif
