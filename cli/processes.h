/* SPDX-License-Identifier: MIT */
/* Processes that others started for us: a wrapper's recorder and its command. */
#ifndef SONDE_CLI_PROCESSES_H
#define SONDE_CLI_PROCESSES_H

#include <stddef.h>
#include <sys/types.h>

struct processes {
	pid_t *v; /* the root first, parents before their children */
	size_t nr;
};

/* root and all below it, as they are now. Without memory: fewer. */
void processes_below(pid_t root, struct processes *ret);
void processes_signal(const struct processes *p, int signo);
/* Waits until none of them is there, at most so long; they must be children of ours by then. How many are left. */
size_t processes_wait(struct processes *p, int timeout_ms);
void processes_done(struct processes *p);

#endif
