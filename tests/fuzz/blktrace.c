/* SPDX-License-Identifier: MIT */
/*
 * blktrace: the input as one stream (as blkparse -d writes it), or as the files of two cpus, which
 * each input overwrites.
 *
 *	u8 x 2: keys of the session | u8 how | records
 *
 *	how	0: one file. Else a folder: how/256 of the bytes are the file of the first cpu
 */
#include "asking.h"
#include "folder.h"

enum { HEAD = 3, WHOLE = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	uint32_t choice;
	size_t first;

	if (size < HEAD)
		return 0;
	choice = data[0] | (uint32_t)data[1] << 8;
	first = (size - HEAD) * data[2] / WHOLE;
	if (!data[2]) {
		if (fuzz_file_put(&file, data + HEAD, size - HEAD) >= 0)
			fuzz_recording(file.path, choice);
		return 0;
	}
	if (fuzz_folder_write("sda.blktrace.0", data + HEAD, first) >= 0 &&
	    fuzz_folder_write("sda.blktrace.1", data + HEAD + first, size - HEAD - first) >= 0)
		fuzz_recording(fuzz_folder(), choice);
	return 0;
}
