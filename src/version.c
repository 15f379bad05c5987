/* SPDX-License-Identifier: MIT */
#include <zstd.h>
#ifdef HAVE_LZMA
#include <lzma.h>
#endif

#include "base/err.h"
#include "base/near.h"
#include "sonde/sonde.h"

const char *sonde_version(void)
{
	return SONDE_VERSION;
}

const char *sonde_features(void)
{
	return "zstd=" ZSTD_VERSION_STRING
#ifdef HAVE_LZMA
	       " lzma=" LZMA_VERSION_STRING
#endif
#ifdef HAVE_LIBIBERTY
	       " demangle=libiberty"
#endif
		;
}

const char *sonde_error_text(void)
{
	return err_text();
}

uint32_t sonde_name_distance(const char *a, const char *b)
{
	return near_distance(a, b);
}
