/* SPDX-License-Identifier: MIT */
/* Libraries that are loaded on first use, not at the start of the process. */
#ifndef SONDE_BASE_LATE_H
#define SONDE_BASE_LATE_H

#include <stdbool.h>
#include <stddef.h>

#define LATE_TEXT(x)    #x
#define LATE_TEXT_OF(x) LATE_TEXT(x)

/* Their sonames. libdw loads libelf. The last needs <capstone/capstone.h>. */
#define LATE_LIBDW    "libdw.so.1"
#define LATE_ZLIB     "libz.so.1"
#define LATE_LZMA     "liblzma.so.5"
#define LATE_CAPSTONE "libcapstone.so." LATE_TEXT_OF(CS_API_MAJOR)

struct late_function {
	const char *name;
	void **function; /* set to its address */
};

#define LATE_FUNCTION(of, name)            \
	{                                  \
#name, (void **)&(of).name \
	}

/*
 * Loads a library by its soname and finds its functions, also in the libraries that it needs. It is
 * never unloaded. False if it, or one of the functions, is not there.
 */
bool late_load(const char *soname, const struct late_function *all, size_t n);

#endif
