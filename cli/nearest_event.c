/* SPDX-License-Identifier: MIT */
#include "nearest_event.h"

#include <stdio.h>

void nearest_event_offer(void *ctx, const struct sonde_listed_event *e)
{
	struct nearest_event *n = ctx;

	if (sonde_nearest_offer(&n->near, e->name) <= 0)
		return;
	snprintf(n->name, sizeof(n->name), "%s", e->name);
	n->near.closest = n->name;
	if (n->near.meant)
		n->near.meant = n->name;
}
