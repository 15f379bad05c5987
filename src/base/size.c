/* SPDX-License-Identifier: MIT */
#include "base/size.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool size_digits(const char *text, uint64_t *ret, const char **ret_rest)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	*ret_rest = end;
	return *text >= '0' && *text <= '9' && !errno;
}

int size_unit_shift(const char *unit)
{
	static const char units[] = "BKMG";
	const char *at = *unit && !unit[1] ? strchr(units, *unit & ~0x20) : NULL;

	return at && *at ? 10 * (int)(at - units) : -1;
}

bool size_parse(const char *text, uint64_t *ret_bytes)
{
	const char *unit;
	uint64_t nr;
	int shift;

	if (!size_digits(text, &nr, &unit) || (shift = size_unit_shift(unit)) < 0 ||
	    nr > UINT64_MAX >> shift)
		return false;
	*ret_bytes = nr << shift;
	return true;
}
