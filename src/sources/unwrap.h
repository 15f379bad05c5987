/* SPDX-License-Identifier: MIT */
/*
 * A recording inside a packed file (perf.data.gz, .xz, .zst) or behind a packed pipe, unpacked as
 * it is read:
 *
 *	file or stream --packed--> codec --> stream          to read from front to back (pipe mode)
 *	                                 '-> temporary file  to read at any offset (file mode)
 *
 * Unpacking ends at the first damage, which is reported as a defect; the bytes before it stay.
 */
#ifndef SONDE_SOURCES_UNWRAP_H
#define SONDE_SOURCES_UNWRAP_H

#include "model/defects.h"
#include "sources/codecs.h"
#include "sources/source.h"
#include "sources/stream.h"
#include "sources/unpacked.h"

/*
 * *ret is the unpacked stream. from: a pipe's bytes, taken over whatever becomes of it; NULL: fd, a
 * regular file's, taken over, too. limit: how much it may unpack to; packed_bytes is the size of
 * fd's file, 0 for a pipe. The input's options say its path and who is called; what they name is
 * borrowed.
 */
int unwrap_open(struct stream **ret, const struct codec_ops *codec, struct stream *from, int fd,
		const struct unpacked *limit, const struct source_options *opts);

#endif
