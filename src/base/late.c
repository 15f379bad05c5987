/* SPDX-License-Identifier: MIT */
#include "base/late.h"

#include <dlfcn.h>

bool late_load(const char *soname, const struct late_function *all, size_t n)
{
	void *library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);

	for (size_t i = 0; library && i < n; i++) {
		*all[i].function = dlsym(library, all[i].name);
		if (!*all[i].function)
			return false;
	}
	return library;
}
