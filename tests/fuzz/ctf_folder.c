/* SPDX-License-Identifier: MIT */
#include "ctf_folder.h"

#include "folder.h"

enum { BEFORE = 3, WHOLE = 256 };

const char *fuzz_ctf_folder(const uint8_t *data, size_t size)
{
	const uint8_t *p = data + BEFORE;
	size_t metadata, first, left;

	if (size < BEFORE)
		return NULL;
	metadata = data[1] | (size_t)data[2] << 8;
	left = size - BEFORE;
	metadata = metadata < left ? metadata : left;
	left -= metadata;
	first = left * data[0] / WHOLE;
	return fuzz_folder_write("metadata", p, metadata) >= 0 &&
			       fuzz_folder_write("chan_0", p + metadata, first) >= 0 &&
			       fuzz_folder_write("chan_1", p + metadata + first, left - first) >= 0
		       ? fuzz_folder()
		       : NULL;
}
