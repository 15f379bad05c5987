/* SPDX-License-Identifier: MIT */
/*
 * A library to preload: each call of clock_gettime(CLOCK_MONOTONIC) returns a time 100 ms after
 * that of the call before, so that a short program seems to run long.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *ret);

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static atomic_long looks;
	int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");

	if (clock != CLOCK_MONOTONIC)
		return real(clock, ret);
	const long n = atomic_fetch_add(&looks, 1);

	*ret = (struct timespec){ .tv_sec = 1000 + n / 10, .tv_nsec = n % 10 * 100000000 };
	return 0;
}
