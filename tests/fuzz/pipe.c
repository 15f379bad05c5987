/* SPDX-License-Identifier: MIT */
/*
 * perf.data read from a pipe. The input is
 *
 *	u8 how | u8 x 2: keys of the session | records, as they follow the header of pipe mode
 *
 *	how	1 big endian    2 writes the recording, 4 cuts it, 8 reads its counts; else reads
 *	        its events (a pipe is read once)
 *
 * The target writes the header. The complete input fits into the pipe before the reader begins, so
 * that no other thread is needed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "asking.h"
#include "formats/perfdata/layout.h"

enum { PIPE_BYTES = 65536 };

/* Fills a pipe and closes its writing end. Returns its reading end. */
static int filled_pipe(const uint8_t *data, size_t size, bool big_endian)
{
	uint64_t header[2] = { PERFDATA_MAGIC, PERFDATA_PIPE_HEADER_BYTES };
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	if (big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)) {
		header[0] = __builtin_bswap64(header[0]);
		header[1] = __builtin_bswap64(header[1]);
	}
	if (write(fds[1], header, sizeof(header)) != sizeof(header) ||
	    (size && write(fds[1], data, size) != (ssize_t)size)) {
		close(fds[0]);
		fds[0] = -1;
	}
	close(fds[1]);
	return fds[0];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t choice;
	char path[32];
	int fd;

	if (size < 3 || size > PIPE_BYTES - PERFDATA_PIPE_HEADER_BYTES)
		return 0;
	choice = data[1] | (uint32_t)data[2] << 8;
	fd = filled_pipe(data + 3, size - 3, data[0] & 1);
	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (data[0] & 4)
		fuzz_cut(path, choice);
	else if (data[0] & 8)
		fuzz_counts(path, choice);
	else if (data[0] & 2)
		fuzz_write(path, choice);
	else
		fuzz_read(path, choice);
	close(fd);
	return 0;
}
