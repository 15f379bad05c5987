/* SPDX-License-Identifier: MIT */
/*
 * Calls getppid() at a rate:
 *
 *	paced CALLS_A_SECOND SECONDS
 *
 * It sleeps a millisecond between two bursts, and prints the number of calls at the end.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	const double rate = argc > 1 ? atof(argv[1]) : 1000, seconds = argc > 2 ? atof(argv[2]) : 1;
	const struct timespec nap = { .tv_nsec = 1000000 };
	const uint64_t begin = now_ns(), total = (uint64_t)(rate * seconds);
	uint64_t done = 0;

	while (done < total) {
		uint64_t due = (uint64_t)((double)(now_ns() - begin) / 1e9 * rate);

		for (due = due < total ? due : total; done < due; done++)
			syscall(SYS_getppid);
		nanosleep(&nap, NULL);
	}
	printf("%llu\n", (unsigned long long)done);
	return 0;
}
