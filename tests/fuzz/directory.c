/* SPDX-License-Identifier: MIT */
/*
 * A recording that is a directory: DIR/data and three more files, which each input overwrites.
 *
 *	u8 x 2: keys of the session | u8 number of files with bytes, 0 to 3 | u16 x 3: their sizes |
 *	their bytes | data
 */
#include <stdio.h>

#include "asking.h"
#include "folder.h"

enum { PARTS = 3, BEFORE = 3 + 2 * PARTS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *p = data + BEFORE, *end = data + size;

	if (size < BEFORE)
		return 0;
	for (int i = 0; i < PARTS; i++) {
		size_t len = data[3 + 2 * i] | (size_t)data[4 + 2 * i] << 8;
		char name[16];

		snprintf(name, sizeof(name), "data.%d", i);
		if (i >= data[2] % (PARTS + 1))
			len = 0;
		if (len > (size_t)(end - p))
			len = (size_t)(end - p);
		if (fuzz_folder_write(name, p, len) < 0)
			return 0;
		p += len;
	}
	if (fuzz_folder_write("data", p, (size_t)(end - p)) >= 0)
		fuzz_recording(fuzz_folder(), data[0] | (uint32_t)data[1] << 8);
	return 0;
}
