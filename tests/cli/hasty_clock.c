/* SPDX-License-Identifier: MIT */
/* Preloaded: each look at the clock that only goes on finds it 100 ms later, so that what is short is long. */
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
