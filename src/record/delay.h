/* SPDX-License-Identifier: MIT */
/*
 * -D: when events are on, in milliseconds from the start of the recording. "500": from 500 ms on.
 * "10-20,30-40": in these ranges; the recording ends with the last one. "-1": once a command
 * enables them.
 */
#ifndef SONDE_RECORD_DELAY_H
#define SONDE_RECORD_DELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct delay {
	bool is_given;          /* events are switched during the recording; false for "0" */
	bool begins_off;        /* events are off when the recording starts */
	bool until_enabled;     /* only a command (--control) turns them on */
	bool ends;              /* the recording ends with the last step */
	VEC(uint64_t) steps_ms; /* times that alternately switch on and off, beginning with on */
	size_t next;
	uint64_t start_ms;
};

enum delay_step { DELAY_NOTHING, DELAY_ON, DELAY_OFF, DELAY_END };

/* text: NULL if not given. -EBADR on a mistake. */
int delay_parse(struct delay *ret, const char *text);
void delay_start(struct delay *d);
/* Returns the next step that is due. */
enum delay_step delay_due(struct delay *d);
/* The time to sleep until the next step, at most max_ms. */
int delay_sleep_ms(const struct delay *d, int max_ms);
void delay_done(struct delay *d);

#endif
