/* SPDX-License-Identifier: MIT */
/* Texts of a profile. They live as long as the profile, even after the session is closed. */
#ifndef SONDE_PROFILE_TEXTS_H
#define SONDE_PROFILE_TEXTS_H

#include "profile/types.h"
#include "model/event.h"

/* The profile's own copy of a text. NULL if out of memory. */
const char *texts_intern(struct profile *p, const char *text);
/* Finds the profile's own id of a text in the event's session. */
int texts_of_session(struct profile *p, const struct event *ev, uint32_t id, uint32_t *ret);

#endif
