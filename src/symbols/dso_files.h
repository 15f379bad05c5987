/* SPDX-License-Identifier: MIT */
/*
 * The files that may contain the code or the symbols of a dso, in the order in which perf tries
 * them.
 */
#ifndef SONDE_SYMBOLS_DSO_FILES_H
#define SONDE_SYMBOLS_DSO_FILES_H

#include "base/build_id.h"
#include "base/outbuf.h"
#include "formats/elf/file.h"

struct dso_place {
	const char *name; /* as recorded */
	struct build_id build_id;
	const char *symfs; /* "" means / */
	const char *cache; /* the build-id cache */
};

/* In order, from a file next to the program to the program itself. */
enum dso_file {
	DSO_FILE_DEBUGLINK,        /* DIR/NAME, with the NAME in the program's .gnu_debuglink */
	DSO_FILE_DEBUGLINK_HIDDEN, /* DIR/.debug/NAME */
	DSO_FILE_DEBUGLINK_SYSTEM, /* /usr/lib/debug/DIR/NAME */
	/* CACHE/.build-id/XX/REST/elf, or the file that .build-id/XX/REST links to */
	DSO_FILE_CACHE,
	DSO_FILE_CACHE_DEBUG,    /* CACHE/.build-id/XX/REST/debug */
	DSO_FILE_DEBUG_SUFFIX,   /* /usr/lib/debug/PATH.debug */
	DSO_FILE_DEBUG_SAME,     /* /usr/lib/debug/PATH */
	DSO_FILE_DEBUG_BUILD_ID, /* /usr/lib/debug/.build-id/XX/REST.debug */
	DSO_FILE_PATH,           /* the path itself */
	DSO_FILE_HIDDEN,         /* DIR/.debug/NAME of the path */
	NR_DSO_FILES
};

/*
 * True if the path is derived from the recorded one, false if it is derived from the build id,
 * below folders of the user and the system.
 */
bool dso_file_is_followed(enum dso_file which);
/*
 * Appends the path, with a NUL. False if there is no such path. `debuglink`: the name in the
 * program, or NULL.
 */
bool dso_file_path(const struct dso_place *p, enum dso_file which, const char *debuglink,
		   struct outbuf *out);
/* The build-id cache: buildid_dir if not NULL, SYMFS/.debug, ~/.debug. */
void symbols_cache_dir(const char *buildid_dir, const char *symfs, char *ret, size_t size);
/* The name in .gnu_debuglink, malloc'd; NULL if none. */
char *dso_file_debuglink(const struct elf_file *f);

#endif
