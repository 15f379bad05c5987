/* SPDX-License-Identifier: MIT */
/*
 * What a live session and a recorder in another process say to each other: frames of a kind and a
 * text. The recorder's are in its standard error, where lines of sudo may come before them.
 *
 *	0x01 KIND LENGTH(4 bytes, of this machine) TEXT
 *
 *	to the recorder                     from the recorder
 *	version  WIRE_VERSION               line    "LEVEL TEXT"
 *	settings lines key=value            opened  "CODE TEXT", CODE 0 or -errno
 *	                                    running events are recorded
 *	event    begins an event            done    "CODE SAMPLES LOST BYTES TEXT"
 *	names, filter, cgroup  of the event
 *	open     opens them
 *	run      begins to record
 *	stop     ends; a second one gives up writing. So does the end of the pipe, twice at once.
 */
#ifndef SONDE_LIVE_WIRE_H
#define SONDE_LIVE_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/outbuf.h"

#define WIRE_VERSION "1"

enum wire_kind {
	WIRE_FOREIGN = 0, /* a line that is no frame */
	WIRE_VERSION_IS = 'v',
	WIRE_SETTINGS = 's',
	WIRE_EVENT = 'e',
	WIRE_NAMES = 'n',
	WIRE_FILTER = 'f',
	WIRE_CGROUP = 'g',
	WIRE_OPEN = 'o',
	WIRE_RUN = 'r',
	WIRE_STOP = 'x',
	WIRE_LINE = 'l',
	WIRE_OPENED = 'O',
	WIRE_RUNNING = 'R',
	WIRE_DONE = 'd'
};

struct wire_frame {
	char kind;        /* enum wire_kind */
	const char *text; /* ended by a NUL; valid until the next call */
};

struct wire {
	int fd; /* borrowed */
	bool has_ended;
	struct outbuf in, text;
	size_t at;
};

/* Appends a frame. */
void wire_put(struct outbuf *to, char kind, const char *text);
/* Writes a frame. Signal handlers may call it. Returns 0 or -errno, without a cause. */
int wire_send(int fd, char kind, const char *text);
int wire_send_all(int fd, const void *bytes, size_t len);

/* Waits for bytes. Returns 1, or 0 at the end of the input. */
int wire_read(struct wire *w);
/* The next frame of the bytes that have come: 1, 0 if it is not complete, -EPROTO. */
int wire_take(struct wire *w, struct wire_frame *ret);
void wire_done(struct wire *w);

#endif
