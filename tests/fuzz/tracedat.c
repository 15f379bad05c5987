/* SPDX-License-Identifier: MIT */
/*
 * trace.dat: the input as a file. tests/gen/tracedat.py makes the first inputs, with small pages.
 *
 *	u8 x 2: keys of the session | the file
 */
#include "asking.h"

enum { HEAD = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;

	fuzz_use_tracefs(FUZZ_TRACEFS); /* for text of a latency tracer */
	if (size >= HEAD && fuzz_file_put(&file, data + HEAD, size - HEAD) >= 0)
		fuzz_recording(file.path, data[0] | (uint32_t)data[1] << 8);
	return 0;
}
