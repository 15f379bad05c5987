/* SPDX-License-Identifier: MIT */
#define ELFUTILS_LOADER
#include "symbols/elfutils.h"

#include <pthread.h>

#include "base/err.h"
#include "base/late.h"

struct elfutils elfutils;

static pthread_once_t elfutils_once = PTHREAD_ONCE_INIT;
static bool elfutils_is_loaded;

#define ELFUTILS_ROW(name) LATE_FUNCTION(elfutils, name),

/* libdw needs libelf, whose functions are found through it. */
static void elfutils_find(void)
{
	static const struct late_function all[] = { ELFUTILS_FUNCTIONS(ELFUTILS_ROW) };

	elfutils_is_loaded = late_load(LATE_LIBDW, all, sizeof(all) / sizeof(*all));
}

bool elfutils_are_there(void)
{
	pthread_once(&elfutils_once, elfutils_find);
	return elfutils_is_loaded;
}

int elfutils_load(void)
{
	return elfutils_are_there()
		       ? 0
		       : err_set(-ENOTSUP, "debug information needs " LATE_LIBDW ": install "
					   "libdw1 (Debian's name)");
}
