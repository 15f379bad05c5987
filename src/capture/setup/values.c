/* SPDX-License-Identifier: MIT */
#include "capture/setup/values.h"

#include <unistd.h>

#include "base/err.h"
#include "base/size.h"

int capture_value_number(const char *option, const char *text, uint64_t min, uint64_t max,
			 uint64_t *ret)
{
	const char *rest;

	if (!size_digits(text, ret, &rest) || *rest)
		return err_set(-EBADR, "%s needs a number, not '%s'", option, text);
	if (*ret < min && max >= UINT64_MAX - 1)
		return err_set(-EBADR, "%s %s: must be at least %llu", option, text,
			       (unsigned long long)min);
	if (*ret < min || *ret > max)
		return err_set(-EBADR, "%s %s: must be from %llu to %llu", option, text,
			       (unsigned long long)min, (unsigned long long)max);
	return 0;
}

int capture_value_size(const char *option, const char *text, uint64_t *ret_bytes)
{
	if (!size_parse(text, ret_bytes))
		return err_set(-EBADR, "%s needs a size such as 512K, 4M or 1G, not '%s'", option,
			       text);
	return 0;
}

int capture_value_pages(const char *option, const char *text, uint64_t *ret_pages)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	const char *rest;
	uint64_t nr;
	int shift = 0;

	if (!size_digits(text, &nr, &rest) || nr > UINT32_MAX ||
	    (*rest && (shift = size_unit_shift(rest)) < 0))
		return err_set(-EBADR,
			       "%s needs a number of pages, or a size such as 512K or 4M, not '%s'",
			       option, text);
	if (*rest)
		nr = ((nr << shift) + page_bytes - 1) / page_bytes;
	*ret_pages = nr ? nr : 1;
	return 0;
}
