/* SPDX-License-Identifier: MIT */
#include "sources/unpacked.h"

#include "base/err.h"
#include "base/saturate.h"

static uint64_t unpacked_limit_of(const struct unpacked *u)
{
	uint64_t by_size = u->packed_bytes < UINT64_MAX / UNPACKED_TIMES
				   ? u->packed_bytes * UNPACKED_TIMES
				   : UINT64_MAX;

	if (u->max_bytes)
		return u->max_bytes;
	return by_size > UNPACKED_LEAST_BYTES ? by_size : UNPACKED_LEAST_BYTES;
}

int unpacked_add(struct unpacked *u, uint64_t bytes, const char *path)
{
	const uint64_t limit = unpacked_limit_of(u);

	u->bytes += bytes;
	if (u->bytes <= limit)
		return 0;
	if (u->max_bytes)
		return err_set(
			-EFBIG, "%s: %llu packed bytes unpack to more than %llu (--max-unpacked)",
			path, (unsigned long long)u->packed_bytes, (unsigned long long)limit);
	return err_set(-EFBIG,
		       "%s: %llu packed bytes unpack to more than %llu, which no recording of "
		       "that size does: if it is not forged, --max-unpacked SIZE (as 4G) allows "
		       "more",
		       path, (unsigned long long)u->packed_bytes, (unsigned long long)limit);
}
