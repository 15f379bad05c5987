/* SPDX-License-Identifier: MIT */
/*
 * --control: a channel for commands to the running recorder, and a channel for its answers.
 *
 *	enable [EVENT]     ack
 *	evlist -v          ack, after the list was printed (struct say)
 *	enable nosuch      failed: there is no event 'nosuch'
 *
 * Each line has one answer: "ack" after the command was carried out. A line ends with a line feed,
 * a zero byte, or the end of the data available in the channel. The owner runs the commands.
 */
#ifndef SONDE_CAPTURE_CONTROL_H
#define SONDE_CAPTURE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/say.h"

struct control {
	char *fifo, *ack_fifo; /* paths to open; NULL if the caller passed descriptors */
	bool is_given;
	int fd, ack_fd; /* -1 if there is none or it is closed */
	char text[4096];
	size_t len;       /* length of the line that is not complete yet */
	bool is_too_long; /* the beginning of the line was dropped */
};

/* text: NULL if not given. -EBADR on a mistake. */
int control_parse(struct control *ret, const char *text);
int control_open(struct control *c);
void control_close(struct control *c);

/* Runs the commands. */
struct control_obeys {
	const struct say *say;
	/* Returns NULL if the command was carried out, otherwise the reason why not. */
	const char *(*obey)(void *ctx, const char *command, const char *argument);
	void *ctx;
};

/* Called after poll() reported input or a hang-up on the channel. */
int control_serve(struct control *c, const struct control_obeys *o);

#endif
