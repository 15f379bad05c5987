/* SPDX-License-Identifier: MIT */
/* Groups of event types. The types of a group share a table. */
#ifndef SONDE_PROFILE_GROUPS_H
#define SONDE_PROFILE_GROUPS_H

#include "model/event.h"
#include "profile/types.h"

/* Notes the groups of an event's session. */
int groups_note(struct profile *p, const struct event *ev);
/* Makes the tables of the event types that were met, with their members. */
int groups_make_tables(struct profile *p);

#endif
