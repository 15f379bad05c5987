/* SPDX-License-Identifier: MIT */
/*
 * A workload with many switches: PAIRS pairs of processes, each passing one byte to and fro through
 * two pipes.
 *
 *	bench-pingpong PAIRS LOOPS        every pair makes LOOPS round trips
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void pass_on(int from, int to, long loops, int begin)
{
	char byte = 'x';

	for (long i = 0; i < loops; i++) {
		if (begin && write(to, &byte, 1) != 1)
			_exit(1);
		if (read(from, &byte, 1) != 1)
			_exit(1);
		if (!begin && write(to, &byte, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	long pairs = argc > 2 ? atol(argv[1]) : 0, loops = argc > 2 ? atol(argv[2]) : 0;
	int status, failed = 0;

	if (pairs < 1 || pairs > 1000 || loops < 1) {
		fprintf(stderr, "usage: bench-pingpong PAIRS LOOPS\n");
		return 2;
	}
	for (long i = 0; i < pairs; i++) {
		int there[2], back[2];

		if (pipe(there) < 0 || pipe(back) < 0) {
			perror("pipe");
			return 1;
		}
		for (int begin = 0; begin < 2; begin++) {
			pid_t pid = fork();

			if (pid < 0) {
				perror("fork");
				return 1;
			}
			if (!pid)
				pass_on(begin ? back[0] : there[0], begin ? there[1] : back[1],
					loops, begin);
		}
		close(there[0]);
		close(there[1]);
		close(back[0]);
		close(back[1]);
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
