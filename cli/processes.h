/* SPDX-License-Identifier: MIT */
/* Processes that our children started: a wrapper's recorder and its command. */
#ifndef SONDE_CLI_PROCESSES_H
#define SONDE_CLI_PROCESSES_H

#include <stddef.h>
#include <sys/types.h>

struct processes {
	pid_t *v; /* the root first, parents before their children */
	size_t nr;
};

/* Lists root and its current descendants. Lists fewer if there is no memory. */
void processes_below(pid_t root, struct processes *ret);
void processes_signal(const struct processes *p, int signo);
/*
 * Waits until all processes have ended, at most timeout_ms. They must be our children by then.
 * Returns the number of processes that remain.
 */
size_t processes_wait(struct processes *p, int timeout_ms);
void processes_done(struct processes *p);

#endif
