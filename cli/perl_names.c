/* SPDX-License-Identifier: MIT */
#include "perl_names.h"

#include <ctype.h>

bool perl_names_valid(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}
