/* SPDX-License-Identifier: MIT */
/*
 * Copies of events that own their bytes and hold the mappings of their time, so that questions
 * about them have the same answers later. The caller keeps the session alive.
 */
#ifndef SONDE_RECORDING_KEEP_H
#define SONDE_RECORDING_KEEP_H

#include "model/event.h"

/* Copies an event, or a copy of one. NULL if there is no memory. */
struct event *recording_keep(const struct event *ev);
void recording_keep_done(struct event *ev); /* NULL is fine */

#endif
