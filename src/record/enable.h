/* SPDX-License-Identifier: MIT */
/*
 * Switches events on and off while a recording runs. The event that carries only records of state
 * stays on, because names need these records.
 */
#ifndef SONDE_RECORD_ENABLE_H
#define SONDE_RECORD_ENABLE_H

#include <stdbool.h>

struct sonde_recorder;

int recorder_switch(struct sonde_recorder *r, bool on);
/* -ENOENT if no event has this name. */
int recorder_switch_event(struct sonde_recorder *r, const char *name, bool on);

#endif
