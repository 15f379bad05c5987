/* SPDX-License-Identifier: MIT */
/* Starts `sonde record -o - --serve` with more rights than this process has. */
#ifndef SONDE_LIVE_STARTER_H
#define SONDE_LIVE_STARTER_H

#include <signal.h>
#include <sys/types.h>

struct starter {
	const char *sonde;    /* path of the program, started through sudo or pkexec */
	int broker_fd;        /* in place of it: a socket to one who starts it; 0 if none */
	const sigset_t *mask; /* for the new process */
};

/*
 * fds: its descriptors 0, 1 and 2; each is 3 or higher, and stays the caller's. *ret_pid is the
 * child, 0 if the broker has started it.
 */
int starter_start(const struct starter *how, const int fds[3], pid_t *ret_pid);
/* "sudo", "pkexec", or "the recorder" for a broker: for messages. */
const char *starter_name(const struct starter *how);

#endif
