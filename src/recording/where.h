/* SPDX-License-Identifier: MIT */
/* Judges events of recordings by a program of filters/where. */
#ifndef SONDE_RECORDING_WHERE_H
#define SONDE_RECORDING_WHERE_H

#include <stdbool.h>

#include "filters/where/where.h"
#include "model/event.h"

/* True if the expression is true for the event. The program is that of the event's schema. */
bool recording_where_pass(const struct where_program *p, const struct event *ev);

#endif
