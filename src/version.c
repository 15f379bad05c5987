/* SPDX-License-Identifier: MIT */
#include <zstd.h>
#ifdef HAVE_LZMA
#include <lzma.h>
#endif

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_LIBDW
#include <elfutils/version.h>
#endif
#ifdef HAVE_CAPSTONE
#include <capstone/capstone.h>
#endif

#include "base/err.h"
#include "base/near.h"
#include "sinks/jsonl/json.h"
#include "sonde/sonde.h"

#define TEXT(x)    #x
#define TEXT_OF(x) TEXT(x)

const char *sonde_version(void)
{
	return SONDE_VERSION;
}

const char *sonde_features(void)
{
	return "zstd=" ZSTD_VERSION_STRING
#ifdef HAVE_LIBDW
	       " libdw=0." TEXT_OF(_ELFUTILS_VERSION)
#endif
#ifdef HAVE_CAPSTONE
		       " capstone=" TEXT_OF(CS_VERSION_MAJOR) "." TEXT_OF(
			       CS_VERSION_MINOR) "." TEXT_OF(CS_VERSION_EXTRA)
#endif
#ifdef HAVE_LZMA
			       " lzma=" LZMA_VERSION_STRING
#endif
#ifdef HAVE_ZLIB
			       " zlib=" ZLIB_VERSION
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
	NOT_NULL(a, UINT32_MAX);
	NOT_NULL(b, UINT32_MAX);
	return near_distance(a, b);
}

char *sonde_json_string(const char *text, size_t len)
{
	struct outbuf out = { 0 };

	NOT_NULL(text, NULL);
	json_string(&out, text, len);
	outbuf_char(&out, '\0');
	if (!out.failed)
		return out.data;
	outbuf_done(&out);
	return NULL;
}
