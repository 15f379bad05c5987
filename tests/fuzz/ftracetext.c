/* SPDX-License-Identifier: MIT */
/*
 * ftrace's text: the input as a file. Descriptions of events are those of tests/data/tracefs.
 *
 *	u8 x 2: keys of the session | the text
 */
#include "asking.h"

enum { HEAD = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;

	fuzz_use_tracefs(FUZZ_TRACEFS);
	if (size >= HEAD && fuzz_file_put(&file, data + HEAD, size - HEAD) >= 0)
		fuzz_recording(file.path, data[0] | (uint32_t)data[1] << 8);
	return 0;
}
