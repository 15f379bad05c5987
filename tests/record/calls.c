/* SPDX-License-Identifier: MIT */
/*
 * Makes a known number of getppid() calls, and prints how many:
 *
 *	calls [-w] [-t THREADS] [-n CALLS] [-f FORKS] [-c CALLS]
 *
 * Each thread makes -n calls. Then -f children, forked one after another, make -c calls each. With
 * -w it prints "ready" when all threads run, and begins after it has read a line from standard
 * input. The program calls getppid() nowhere else, so a recording of syscalls:sys_enter_getppid has
 * that many events or reports the rest as lost.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS_MAX = 512 };

static pthread_barrier_t go;
static long per_thread;

static void make_calls(long n)
{
	while (n-- > 0)
		syscall(SYS_getppid);
}

static void *work(void *unused)
{
	pthread_barrier_wait(&go);
	make_calls(per_thread);
	return NULL;
}

static int fail(const char *what)
{
	perror(what);
	return 1;
}

/* One after another: a child has ended before the next begins. */
static int fork_children(long nr, long calls)
{
	while (nr-- > 0) {
		pid_t child = fork();

		if (child == 0) {
			make_calls(calls);
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) < 0)
			return fail("fork");
	}
	return 0;
}

int main(int argc, char **argv)
{
	long threads = 1, forks = 0, per_child = 1;
	pthread_t ids[THREADS_MAX];
	int wait_for_go = 0, opt;

	while ((opt = getopt(argc, argv, "wt:n:f:c:")) != -1) {
		switch (opt) {
		case 'w':
			wait_for_go = 1;
			break;
		case 't':
			threads = atol(optarg);
			break;
		case 'n':
			per_thread = atol(optarg);
			break;
		case 'f':
			forks = atol(optarg);
			break;
		case 'c':
			per_child = atol(optarg);
			break;
		default:
			return 2;
		}
	}
	if (threads < 1 || threads > THREADS_MAX)
		return 2;
	pthread_barrier_init(&go, NULL, (unsigned)threads);
	/* The first thread is this one. */
	for (long i = 1; i < threads; i++)
		if (pthread_create(&ids[i], NULL, work, NULL))
			return fail("pthread_create");
	if (wait_for_go) {
		puts("ready");
		fflush(stdout);
		while (getchar() != '\n')
			if (feof(stdin))
				return 1;
	}
	work(NULL);
	for (long i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
	if (fork_children(forks, per_child))
		return 1;
	printf("%ld\n", threads * per_thread + forks * per_child);
	return 0;
}
