/* SPDX-License-Identifier: MIT */
/* The input as a perf.data file: file mode, pipe mode kept in a file, packed. */
#include "asking.h"

enum { SMALLEST_HEADER = 72 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;

	if (!size || fuzz_file_put(&file, data, size) < 0)
		return 0;
	/*
	 * The keys depend on the header and the last byte only, so that they stay the same when
	 * other bytes change.
	 */
	fuzz_recording(file.path,
		       fuzz_choice(data, size < SMALLEST_HEADER ? size : SMALLEST_HEADER) +
			       data[size - 1]);
	return 0;
}
