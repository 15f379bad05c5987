/* SPDX-License-Identifier: MIT */
/* The letters after an event or a group: u k h G H I p P S D e W b. */
#ifndef SONDE_CAPTURE_MODIFIERS_H
#define SONDE_CAPTURE_MODIFIERS_H

#include "capture/events.h"

/*
 * Applies the modifiers of one event. text: as the user wrote it, for messages. -EBADR on a
 * mistake.
 */
int event_modifiers_apply(struct capture_event *e, const char *text, const char *modifiers);
/* Adds the modifiers of the event's group to the event's own. */
int event_modifiers_add(struct capture_event *e, const char *text, const char *modifiers,
			bool is_leader);

#endif
