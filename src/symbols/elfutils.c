/* SPDX-License-Identifier: MIT */
#define ELFUTILS_LOADER
#include "symbols/elfutils.h"

#include <dlfcn.h>
#include <pthread.h>

#include "base/err.h"

struct elfutils elfutils;

static pthread_once_t elfutils_once = PTHREAD_ONCE_INIT;
static bool elfutils_is_loaded;

/* dlsym() also looks into libelf, which libdw needs. */
static void elfutils_find(void)
{
	void *library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	static const struct {
		const char *name;
		void **function;
	} all[] = {
#define ELFUTILS_ROW(name) { #name, (void **)&elfutils.name },
		ELFUTILS_FUNCTIONS(ELFUTILS_ROW)
#undef ELFUTILS_ROW
	};

	for (size_t i = 0; library && i < sizeof(all) / sizeof(*all); i++) {
		*all[i].function = dlsym(library, all[i].name);
		if (!*all[i].function)
			return;
	}
	elfutils_is_loaded = library;
}

bool elfutils_are_there(void)
{
	pthread_once(&elfutils_once, elfutils_find);
	return elfutils_is_loaded;
}

int elfutils_load(void)
{
	return elfutils_are_there()
		       ? 0
		       : err_set(-ENOTSUP, "debug information needs libdw.so.1: install "
					   "libdw1 (Debian's name)");
}
