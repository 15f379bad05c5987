/* SPDX-License-Identifier: MIT */
/*
 * Makes a known number of page faults and of switches:
 *
 *	known PAGES SLEEPS
 *
 * It prints "ready", reads a line, touches PAGES new pages once each, and sleeps SLEEPS times. Then
 * it prints how often it was switched out since the line, and reads until the end of its input. Its
 * own memory is locked, so that nothing else makes a page fault.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static long switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_nvcsw + u.ru_nivcsw;
}

int main(int argc, char **argv)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const long pages = argc > 1 ? atol(argv[1]) : 0, sleeps = argc > 2 ? atol(argv[2]) : 0;
	const struct timespec short_time = { .tv_nsec = 100000 };
	char text[64];
	volatile char *memory;
	long before = switches();
	int len;

	if (mlockall(MCL_CURRENT) < 0)
		return 1;
	memory = mmap(NULL, (size_t)(pages + 1) * page, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	madvise((void *)memory, (size_t)(pages + 1) * page, MADV_NOHUGEPAGE);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6 || read(STDIN_FILENO, text, 1) != 1)
		return 1;
	before = switches();
	for (long i = 0; i < pages; i++)
		memory[i * (long)page] = 1;
	for (long i = 0; i < sleeps; i++)
		nanosleep(&short_time, NULL);
	len = snprintf(text, sizeof(text), "%ld\n", switches() - before);
	if (write(STDOUT_FILENO, text, (size_t)len) != len)
		return 1;
	while (read(STDIN_FILENO, text, sizeof(text)) > 0)
		continue;
	return 0;
}
