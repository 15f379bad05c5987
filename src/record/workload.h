/* SPDX-License-Identifier: MIT */
/* The command to record: forked first, stopped until the events are open, then executed. */
#ifndef SONDE_RECORD_WORKLOAD_H
#define SONDE_RECORD_WORKLOAD_H

#include <stdbool.h>
#include <sys/types.h>

struct workload {
	pid_t pid;           /* 0: none, or it is gone */
	int pidfd;           /* readable when it has ended; -1 where the kernel has no pidfds */
	int go_fd, error_fd; /* our ends of the pipes to it */
	bool running;        /* it was let go and has not been waited for */
};

/* Whether the command can be found and executed: 0, else 127 or 126 and a message. */
int workload_check(const char *const *command);
/*
 * The child waits in a pipe; it ends by itself when we die before workload_start. stdout_is_taken:
 * by the recording; the command's own output goes to the standard error then.
 */
int workload_fork(struct workload *w, const char *const *command, bool stdout_is_taken);
/*
 * Lets it execute the command. <0 with a message, and *ret_status 126 or 127, when it could not be.
 */
int workload_start(struct workload *w, const char *name, int *ret_status);
/* Whether it has ended; its status (exit code, or 128 + signal) then. Never waits. */
bool workload_ended(struct workload *w, int *ret_status);
/* SIGTERM, without waiting. */
void workload_terminate(struct workload *w);
void workload_close(struct workload *w);

#endif
