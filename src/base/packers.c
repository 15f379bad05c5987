/* SPDX-License-Identifier: MIT */
#define PACKERS_LOADER
#include "base/packers.h"

#include <pthread.h>

#include "base/err.h"
#include "base/late.h"

struct packers packers;

static pthread_once_t zlib_once = PTHREAD_ONCE_INIT, lzma_once = PTHREAD_ONCE_INIT;
static bool zlib_is_loaded, lzma_is_loaded;

#define PACKERS_ROW(name) LATE_FUNCTION(packers, name),

static void packers_load_zlib(void)
{
	static const struct late_function all[] = { PACKERS_ZLIB(PACKERS_ROW) };

	zlib_is_loaded = late_load(LATE_ZLIB, all, sizeof(all) / sizeof(*all));
}

static void packers_load_lzma(void)
{
	static const struct late_function all[] = { PACKERS_LZMA(PACKERS_ROW) };

	lzma_is_loaded = late_load(LATE_LZMA, all, sizeof(all) / sizeof(*all));
}

int packers_need_zlib(void)
{
	pthread_once(&zlib_once, packers_load_zlib);
	return zlib_is_loaded ? 0
			      : err_set(-ENOTSUP, "data packed by gzip needs libz.so.1: install "
						  "zlib1g (Debian's name)");
}

int packers_need_lzma(void)
{
	pthread_once(&lzma_once, packers_load_lzma);
	return lzma_is_loaded ? 0
			      : err_set(-ENOTSUP, "data packed by xz needs liblzma.so.5: install "
						  "liblzma5 (Debian's name)");
}
