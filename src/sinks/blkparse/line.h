/* SPDX-License-Identifier: MIT */
/*
 * A line as blkparse 1.2.0 prints it by default: device, cpu, sequence, time since the first event,
 * pid, action, RWBS, and a tail that depends on the action. The caller provides all values.
 *
 *	const struct blkparse_action *a = blkparse_action_find("issue");
 *	if (a && blkparse_line_put(out, &(struct blkparse_line){ .action = a, ... })) ...
 */
#ifndef SONDE_SINKS_BLKPARSE_LINE_H
#define SONDE_SINKS_BLKPARSE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"

/* The part after the RWBS letters. */
enum blkparse_tail {
	BLKPARSE_NONE,    /* blkparse prints no such line */
	BLKPARSE_REQUEST, /* sector + blocks [comm] */
	BLKPARSE_COMMAND, /* bytes (pdu) [comm] */
	BLKPARSE_SIZE,    /* bytes [comm] */
	BLKPARSE_RESULT,  /* sector + blocks [error] */
	BLKPARSE_REPLY,   /* (pdu) [error] */
	BLKPARSE_ERROR,   /* [error] */
	BLKPARSE_COMM,    /* [comm] */
	BLKPARSE_COUNT,   /* [comm] count */
	BLKPARSE_SPLIT,   /* sector / count [comm] */
	BLKPARSE_REMAP,   /* sector + blocks <- (major,minor) sector */
	BLKPARSE_MESSAGE  /* text */
};

struct blkparse_action {
	const char *name, *letters; /* "unplug_timer", "UT" */
	/* tail for a file system's request; tail for a packet command */
	enum blkparse_tail fs, pc;
};

struct blkparse_line {
	const struct blkparse_action *action;
	int64_t since_ns; /* time since the first event; negative for a message in front of it */
	uint32_t major, minor, cpu, sequence, pid;
	bool is_pc;
	uint16_t error;
	uint32_t bytes, nr_sector;
	uint64_t sector;
	uint64_t count; /* UNPLUG: requests; SPLIT: the second part's sector; printed modulo 2^32 */
	uint32_t old_major, old_minor;
	uint64_t old_sector;
	const char *rwbs;   /* NUL-terminated */
	const char *comm;   /* NULL if no record contains the process's name */
	const uint8_t *pdu; /* the command's bytes, or the message's text */
	uint32_t pdu_len;
};

/* NULL if blkparse has no line for events of that name. */
const struct blkparse_action *blkparse_action_find(const char *name);
/* Appends the line with its end; false if blkparse prints none. */
bool blkparse_line_put(struct outbuf *out, const struct blkparse_line *line);

#endif
