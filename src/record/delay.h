/* SPDX-License-Identifier: MIT */
/*
 * When events are on, counted from the start of the recording (-D): "500" from then on,
 * "10-20,30-40" in these ranges of milliseconds, with whose last one the recording ends, "-1" not
 * until a command enables them.
 */
#ifndef SONDE_RECORD_DELAY_H
#define SONDE_RECORD_DELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct delay {
	bool is_given;          /* events are switched while it runs; not with "0" */
	bool begins_off;        /* events are off when the recording starts */
	bool until_enabled;     /* only a command (--control) turns them on */
	bool ends;              /* the recording ends with the last step */
	VEC(uint64_t) steps_ms; /* in turns on and off, the first of them on */
	size_t next;
	uint64_t start_ms;
};

enum delay_step { DELAY_NOTHING, DELAY_ON, DELAY_OFF, DELAY_END };

/* text: NULL when not given; -EBADR. */
int delay_parse(struct delay *ret, const char *text);
void delay_start(struct delay *d);
/* The next step whose time has come. */
enum delay_step delay_due(struct delay *d);
/* How long to sleep until the next one, at most max_ms. */
int delay_sleep_ms(const struct delay *d, int max_ms);
void delay_done(struct delay *d);

#endif
