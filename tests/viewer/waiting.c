/* SPDX-License-Identifier: MIT */
/*
 * Sleeps, blocks and spins for known times. Prints its pid and its own measures in seconds: cpu
 * time, time around the sleeps, time around the blocking reads.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5 };
static const double sleep_s = 0.05, spin_s = 0.04, write_s = 0.04;
static int fds[2];

static double waiting_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void waiting_spin(void)
{
	const double end = waiting_now(CLOCK_THREAD_CPUTIME_ID) + spin_s;
	volatile long sum = 0;

	while (waiting_now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 10000; i++)
			sum += i;
}

/*
 * The C library has no frame pointers, so its direct caller is missing in the chain; a second
 * function calls it here. The empty statement prevents a tail call, which would drop the frame.
 */
__attribute__((noinline)) static void waiting_call_nap(double seconds)
{
	nanosleep(&(struct timespec){ .tv_nsec = (long)(seconds * 1e9) }, NULL);
	__asm__ volatile("");
}

__attribute__((noinline)) static void waiting_nap(double seconds)
{
	waiting_call_nap(seconds);
	__asm__ volatile("");
}

__attribute__((noinline)) static void waiting_call_read(void)
{
	char byte;

	(void)!read(fds[0], &byte, 1);
	__asm__ volatile("");
}

__attribute__((noinline)) static void waiting_block(void)
{
	waiting_call_read();
	__asm__ volatile("");
}

static void *waiting_writer(void *none)
{
	for (int i = 0; i < ROUNDS; i++) {
		waiting_nap(write_s);
		(void)!write(fds[1], "x", 1);
	}
	return none;
}

int main(void)
{
	double slept = 0, blocked = 0;
	pthread_t writer;

	for (int i = 0; i < ROUNDS; i++) {
		const double before = waiting_now(CLOCK_MONOTONIC);

		waiting_nap(sleep_s);
		slept += waiting_now(CLOCK_MONOTONIC) - before;
		waiting_spin();
	}
	if (pipe(fds) || pthread_create(&writer, NULL, waiting_writer, NULL))
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		const double before = waiting_now(CLOCK_MONOTONIC);

		waiting_block();
		blocked += waiting_now(CLOCK_MONOTONIC) - before;
	}
	pthread_join(writer, NULL);
	printf("%d %.6f %.6f %.6f\n", getpid(), waiting_now(CLOCK_THREAD_CPUTIME_ID), slept,
	       blocked);
	return 0;
}
