/* SPDX-License-Identifier: MIT */
/* The command to record or count: it is forked first, waits until the events are open, and then
 * executes. */
#ifndef SONDE_CAPTURE_WORKLOAD_H
#define SONDE_CAPTURE_WORKLOAD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct workload {
	pid_t pid; /* 0 if there is none */
	/* readable when the process has ended; -1 if the kernel has no pidfds */
	int pidfd;
	int go_fd, error_fd; /* our ends of the pipes to it */
	bool running;        /* it was forked and not yet reaped */
	struct rusage usage; /* of the process and its waited-for children, once it was reaped */
};

/* Returns 0 if the command can be found and executed, otherwise 127 or 126 with a message. */
int workload_check(const char *const *command);
enum workload_flags {
	/* The recording is written to the standard output: the command's goes to standard error. */
	WORKLOAD_STDOUT_IS_TAKEN = 1,
	/*
	 * The caller is a program with settings of its own: SIGPIPE, which some languages ignore,
	 * ends the command all the same.
	 */
	WORKLOAD_OF_LIBRARY = 2
};
/*
 * The child waits for a byte from a pipe. It ends by itself if the recorder dies before
 * workload_start(). flags: enum workload_flags.
 */
int workload_fork(struct workload *w, const char *const *command, unsigned flags);
/*
 * Lets the child execute the command. On failure returns a negative errno with a message, and sets
 * *ret_status to 126 or 127.
 */
int workload_start(struct workload *w, const char *name, int *ret_status);
/*
 * True if the command has ended; *ret_status is then its exit code, or 128 + signal. Does not
 * block.
 */
bool workload_ended(struct workload *w, int *ret_status);
/* Sends SIGTERM and does not wait. */
void workload_terminate(struct workload *w);
void workload_close(struct workload *w);

#endif
