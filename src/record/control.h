/* SPDX-License-Identifier: MIT */
/*
 * --control: a channel of commands to the recorder while it runs, and one of answers.
 *
 *	enable [EVENT]     ack
 *	evlist -v          ack, when the list was printed (struct say)
 *	enable nosuch      failed: there is no event 'nosuch'
 *
 * Each line has one answer, "ack" when what it asks for has been done. A line ends with a line
 * feed, a zero byte, or where the channel holds nothing more. commands.h obeys them.
 */
#ifndef SONDE_RECORD_CONTROL_H
#define SONDE_RECORD_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

struct control {
	char *fifo, *ack_fifo; /* to be opened; NULL: descriptors of the caller's */
	bool is_given;
	int fd, ack_fd; /* -1: none, or closed */
	char text[4096];
	size_t len;       /* of a line that is not complete yet */
	bool is_too_long; /* the line's beginning is gone */
};

/* text: NULL when not given; -EBADR. */
int control_parse(struct control *ret, const char *text);
int control_open(struct control *c);
void control_close(struct control *c);

#endif
