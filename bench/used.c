/* SPDX-License-Identifier: MIT */
/*
 * Runs a workload and writes its cost to a file, to be subtracted from that of the recorder that
 * started it:
 *
 *	bench-used FILE COMMAND [ARGS]     FILE gets the CPU time in microseconds, user and system,
 *	                                   with children
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long long micros(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000LL + u.ru_utime.tv_usec +
	       u.ru_stime.tv_usec;
}

int main(int argc, char **argv)
{
	int status = 0;
	FILE *f;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: bench-used FILE COMMAND [ARGS]\n");
		return 2;
	}
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	f = fopen(argv[1], "w");
	if (!f)
		return 1;
	fprintf(f, "%lld\n", micros(RUSAGE_SELF) + micros(RUSAGE_CHILDREN));
	return fclose(f) || status;
}
