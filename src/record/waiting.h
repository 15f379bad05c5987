/* SPDX-License-Identifier: MIT */
/*
 * The recording's main loop sleeps until one of these events: a stop, the workload's end, a
 * command, a BPF program loaded, a buffer that fills, the end of a recorded task, or a request for
 * a new file.
 *
 *	TRY(waiting_init(&w, r));
 *	waiting_sleep(&w, r);      // until one of them happens, or the time-out is over
 *	waiting_done(&w);
 */
#ifndef SONDE_RECORD_WAITING_H
#define SONDE_RECORD_WAITING_H

#include <stdbool.h>
#include <stddef.h>

struct pollfd;
struct sonde_recorder;

struct waiting {
	struct pollfd *fds;
	size_t n;
	size_t targets_end;  /* index after the descriptors of recorded tasks or rings */
	size_t nr_connected; /* number of recorded tasks or rings that have not hung up */
};

int waiting_init(struct waiting *w, struct sonde_recorder *r);
void waiting_sleep(struct waiting *w, struct sonde_recorder *r);
/* True if the last sleep ended with a command. */
bool waiting_has_command(const struct waiting *w);
void waiting_done(struct waiting *w);

#endif
