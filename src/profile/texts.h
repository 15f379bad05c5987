/* SPDX-License-Identifier: MIT */
/* Texts of a profile live as long as it does, and after the session. */
#ifndef SONDE_PROFILE_TEXTS_H
#define SONDE_PROFILE_TEXTS_H

#include "profile/types.h"
#include "model/event.h"

/* The profile's own copy of a text. NULL: no memory. */
const char *texts_intern(struct profile *p, const char *text);
/* The profile's own id of a text of the event's session. */
int texts_of_session(struct profile *p, const struct event *ev, uint32_t id, uint32_t *ret);

#endif
