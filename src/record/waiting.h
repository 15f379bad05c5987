/* SPDX-License-Identifier: MIT */
/*
 * What the recording's main loop sleeps on: a stop, the workload's end, commands, BPF programs
 * loaded, buffers that fill, recorded tasks that end, and who asks for a new file.
 *
 *	TRY(waiting_init(&w, r));
 *	waiting_sleep(&w, r);      // until one of them has something, or it is time to look
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
	size_t targets_end;  /* behind the descriptors of recorded tasks or rings */
	size_t nr_connected; /* recorded tasks or rings that have not hung up */
};

int waiting_init(struct waiting *w, struct sonde_recorder *r);
void waiting_sleep(struct waiting *w, struct sonde_recorder *r);
/* Whether the last sleep has brought a command. */
bool waiting_has_command(const struct waiting *w);
void waiting_done(struct waiting *w);

#endif
