/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
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
#include "base/json.h"
#include "base/late.h"
#include "base/near.h"
#include "sonde/sonde.h"

const char *sonde_version(void)
{
	return SONDE_VERSION;
}

const char *sonde_features(void)
{
	return "zstd=" ZSTD_VERSION_STRING
#ifdef HAVE_LIBDW
	       " libdw=0." LATE_TEXT_OF(_ELFUTILS_VERSION)
#endif
#ifdef HAVE_CAPSTONE
		       " capstone=" LATE_TEXT_OF(CS_VERSION_MAJOR) "." LATE_TEXT_OF(
			       CS_VERSION_MINOR) "." LATE_TEXT_OF(CS_VERSION_EXTRA)
#endif
#ifdef HAVE_LZMA
			       " lzma=" LZMA_VERSION_STRING
#endif
#ifdef HAVE_ZLIB
			       " zlib=" ZLIB_VERSION
#endif
#ifdef HAVE_LIBPFM
			       " libpfm=4"
#endif
#ifdef HAVE_LIBIBERTY
			       " demangle=libiberty"
#endif
		;
}

void sonde_load_libraries(void)
{
	static const char *const names[] = {
#ifdef HAVE_LIBDW
		LATE_LIBDW,
#endif
#ifdef HAVE_CAPSTONE
		LATE_CAPSTONE,
#endif
#ifdef HAVE_LZMA
		LATE_LZMA,
#endif
#ifdef HAVE_ZLIB
		LATE_ZLIB,
#endif
		NULL,
	};

	for (size_t i = 0; names[i]; i++)
		dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

const char *sonde_error_text(void)
{
	return err_text();
}

int sonde_nearest_offer(struct sonde_nearest *n, const char *candidate)
{
	uint32_t distance;

	NOT_NULL(n, -EINVAL);
	NOT_NULL(candidate, -EINVAL);
	if (n->size < sizeof(*n))
		return err_set(-EINVAL, "sonde_nearest.size is not set");
	NOT_NULL_NAMED(n->wanted, "n->wanted", -EINVAL);
	distance = near_apart(n->wanted, candidate);
	if (n->closest && distance >= n->distance)
		return 0;
	n->distance = distance;
	n->closest = candidate;
	n->meant = near_is_meant(n->wanted, candidate, distance) ? candidate : NULL;
	return 1;
}

char *sonde_json_string(const char *text, size_t len)
{
	struct outbuf out = { 0 };

	NOT_NULL(text, NULL);
	json_string(&(struct json){ .out = &out }, text, len);
	outbuf_char(&out, '\0');
	if (!out.failed)
		return out.data;
	outbuf_done(&out);
	return NULL;
}
