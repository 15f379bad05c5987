/* SPDX-License-Identifier: MIT */
/*
 * A CTF trace.
 *
 *	u8 x 2: keys of the session | the trace, as ctf_folder.h has it
 */
#include "asking.h"
#include "ctf_folder.h"

enum { BEFORE = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *dir = size > BEFORE ? fuzz_ctf_folder(data + BEFORE, size - BEFORE) : NULL;

	if (dir)
		fuzz_recording(dir, data[0] | (uint32_t)data[1] << 8);
	return 0;
}
