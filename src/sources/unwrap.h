/* SPDX-License-Identifier: MIT */
/*
 * A recording inside a packed file (perf.data.gz, .xz, .zst) or behind a packed pipe, unpacked as
 * it is read:
 *
 *	file or stream --packed--> codec --> stream          to read from front to back (pipe mode)
 *	                                 '-> temporary file  to read at any offset (file mode)
 *
 * Unpacking ends at the first damage, which is reported as a defect. The bytes before it are used.
 */
#ifndef SONDE_SOURCES_UNWRAP_H
#define SONDE_SOURCES_UNWRAP_H

#include "model/defects.h"
#include "sources/codecs.h"
#include "sources/source.h"
#include "sources/stream.h"
#include "sources/unpacked.h"

/*
 * *ret is the unpacked stream. The packed bytes are read from `from`, a pipe, or from fd, a regular
 * file, if from is NULL. Takes ownership of from and fd, even on failure. limit: the limit of the
 * unpacked size; its packed_bytes is the size of fd's file, 0 for a pipe. opts: the input's
 * options, which give its path and callbacks; the objects that they refer to are borrowed.
 */
int unwrap_open(struct stream **ret, const struct codec_ops *codec, struct stream *from, int fd,
		const struct unpacked *limit, const struct source_options *opts);

#endif
