/* SPDX-License-Identifier: MIT */
/*
 * Markers in programs (SDT), as perf keeps them in its cache of files by build id. perf
 *buildid-cache
 * --add writes them when it stores a file:
 *
 *	~/.debug/.build-id/57/1d98...  -> ../../usr/bin/python3.11/571d98...
 *	~/.debug/.build-id/57/1d98.../probes:
 *		%sdt_python:line=line                     a marker, SYSTEM:NAME
 *		p:sdt_python/line /usr/bin/python3.11:... how a probe is made of it
 */
#ifndef SONDE_CAPTURE_RUNNING_MARKERS_H
#define SONDE_CAPTURE_RUNNING_MARKERS_H

#include "sonde/sonde.h"

/*
 * Calls visit for each marker of the files that still have the build id in the cache, sorted by
 * name and build id. dir: the cache; NULL for ~/.debug. Fails only if memory runs out.
 */
int markers_each(const char *dir, void (*visit)(void *ctx, const struct sonde_listed_event *event),
		 void *ctx);

#endif
