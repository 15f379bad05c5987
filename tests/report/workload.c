/* SPDX-License-Identifier: MIT */
/*
 * The program that recordings of tests/report are made of. Each word is a step that does a known
 * thing: `workload spin sleep fork` spins in two functions, sleeps three times, forks two children.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink;

static inline __attribute__((always_inline)) void mix(uint64_t by)
{
	for (uint64_t i = 0; i < by; i++)
		sink += i ^ (sink >> 3);
}

NOINLINE void leaf(uint64_t by)
{
	mix(by);
	sink++;
}

NOINLINE void by_leaf(uint64_t by)
{
	leaf(by);
	mix(by / 4);
	sink++;
}

/* Calls itself, so that a chain holds one function several times. */
NOINLINE void recurse(int depth, uint64_t by)
{
	if (depth)
		recurse(depth - 1, by);
	leaf(by);
	sink++;
}

NOINLINE int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Three quarters of the time in leaf(), a quarter in by_leaf(), and some in the C library. */
NOINLINE void spin(void)
{
	static uint32_t numbers[4096];

	for (int i = 0; i < 48; i++) {
		leaf(300000);
		by_leaf(200000);
		recurse(5, 20000);
		for (size_t k = 0; k < 4096; k++)
			numbers[k] = (uint32_t)(k * 2654435761u);
		qsort(numbers, 4096, sizeof(numbers[0]), compare);
	}
}

NOINLINE void sleep_thrice(void)
{
	for (int i = 1; i <= 3; i++)
		nanosleep(&(struct timespec){ .tv_nsec = i * 1000000L }, NULL);
}

NOINLINE void touch(void)
{
	size_t pages = 64, size = pages * 4096;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	for (size_t i = 0; i < pages; i++)
		p[i * 4096] = 1;
	munmap(p, size);
}

/* Forks two children. The second renames itself. */
NOINLINE void fork_twice(void)
{
	for (int i = 0; i < 2; i++) {
		pid_t child = fork();

		if (child < 0)
			exit(1);
		if (!child) {
			if (i)
				prctl(PR_SET_NAME, "second child");
			for (int k = 0; k < 6; k++)
				recurse(2, 200000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

static void *in_thread(void *name)
{
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < 6; i++)
		by_leaf(300000);
	return NULL;
}

NOINLINE void run_threads(void)
{
	pthread_t threads[2];
	char *names[] = { "alpha", "beta" };

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, in_thread, names[i]))
			exit(1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* Runs a loop of machine code in anonymous memory, described by /tmp/perf-PID.map. */
NOINLINE void jit(void)
{
#ifdef __x86_64__
	/* mov %edi,%eax; 1: dec %eax; jnz 1b; ret */
	static const unsigned char loop[] = { 0x89, 0xf8, 0xff, 0xc8, 0x75, 0xfc, 0xc3 };
	unsigned char *code =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	if (code == MAP_FAILED)
		exit(1);
	for (int i = 0; i < 3; i++)
		memcpy(code + 64 * i, loop, sizeof(loop));
	if (mprotect(code, 4096, PROT_READ | PROT_EXEC))
		exit(1);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		exit(1);
	/* the third loop has no name */
	fprintf(map, "%lx 40 first_loop\n%lx 40 second loop, in words\n", (unsigned long)code,
		(unsigned long)code + 64);
	fclose(map);
	for (int i = 0; i < 12; i++)
		for (int k = 0; k < 3; k++)
			((void (*)(int))(uintptr_t)(code + 64 * k))(1000000 * (3 - k));
#endif
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} steps[] = {
		{ "spin", spin },       { "sleep", sleep_thrice },  { "touch", touch },
		{ "fork", fork_twice }, { "threads", run_threads }, { "jit", jit },
	};

	for (int i = 1; i < argc; i++)
		for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++)
			if (!strcmp(argv[i], steps[k].name))
				steps[k].run();
	return 0;
}
