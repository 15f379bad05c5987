/* SPDX-License-Identifier: MIT */
/*
 * Events on and off while a recording runs. What carries the records of state alone stays on: names
 * need them.
 */
#ifndef SONDE_RECORD_ENABLE_H
#define SONDE_RECORD_ENABLE_H

#include <stdbool.h>

struct sonde_recorder;

int recorder_switch(struct sonde_recorder *r, bool on);
/* -ENOENT: no event has this name. */
int recorder_switch_event(struct sonde_recorder *r, const char *name, bool on);

#endif
