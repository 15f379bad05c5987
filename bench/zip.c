/* SPDX-License-Identifier: MIT */
/*
 * The bare cost of zstd for the data of a compressed recording:
 *
 *	bench-zip FILE LEVEL      prints: bytes unpacked, bytes as recorded, bytes as packed here,
 *	                          CPU time in microseconds
 *
 * Unpacks all compressed records of FILE into memory and compresses them again, 128 KiB at a time,
 * in one stream.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

enum { BLOCK_BYTES = 128 << 10, COMPRESSED = 81, COMPRESSED2 = 83 };

struct header {
	uint32_t type;
	uint16_t misc, size;
};

static long long micros(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static char *read_file(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "rb");
	char *bytes = NULL;
	long len;

	if (!f)
		return NULL;
	if (fseek(f, 0, SEEK_END) == 0 && (len = ftell(f)) > 104 && fseek(f, 0, SEEK_SET) == 0 &&
	    (bytes = malloc((size_t)len)) && fread(bytes, 1, (size_t)len, f) == (size_t)len)
		*ret_len = (size_t)len;
	fclose(f);
	return bytes;
}

/* Unpacks a piece of the stream and appends it to *plain. */
static int unpack(ZSTD_DStream *z, const char *packed, size_t len, char **plain, size_t *n,
		  size_t *room)
{
	ZSTD_inBuffer in = { packed, len, 0 };

	while (in.pos < in.size) {
		ZSTD_outBuffer out;

		if (*room - *n < BLOCK_BYTES) {
			char *more = realloc(*plain, *room = *room * 2 + BLOCK_BYTES);

			if (!more)
				return -1;
			*plain = more;
		}
		out = (ZSTD_outBuffer){ *plain + *n, *room - *n, 0 };
		if (ZSTD_isError(ZSTD_decompressStream(z, &out, &in)))
			return -1;
		*n += out.pos;
	}
	return 0;
}

static size_t pack(const char *plain, size_t len, int level, char *to, size_t room)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();
	size_t made = 0;

	ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, level);
	for (size_t at = 0; at < len; at += BLOCK_BYTES) {
		ZSTD_inBuffer in = { plain + at, len - at < BLOCK_BYTES ? len - at : BLOCK_BYTES,
				     0 };
		ZSTD_outBuffer out = { to, room, 0 };

		if (ZSTD_compressStream2(z, &out, &in, ZSTD_e_flush))
			return 0;
		made += out.pos;
	}
	ZSTD_freeCCtx(z);
	return made;
}

int main(int argc, char **argv)
{
	size_t len = 0, n = 0, room = 0, recorded = 0, packed;
	char *bytes, *plain = NULL, *to = malloc(BLOCK_BYTES * 2);
	ZSTD_DStream *z = ZSTD_createDStream();
	uint64_t at, end;
	struct header h;
	long long begin;

	if (argc != 3 || !to || !z || !(bytes = read_file(argv[1], &len)))
		return 2;
	memcpy(&at, bytes + 40, sizeof(at));
	memcpy(&end, bytes + 48, sizeof(end));
	for (end += at; at + sizeof(h) <= end && end <= len; at += h.size) {
		const char *data = bytes + at + sizeof(h);
		uint64_t size;

		memcpy(&h, bytes + at, sizeof(h));
		if (h.size < sizeof(h))
			return 1;
		if (h.type != COMPRESSED && h.type != COMPRESSED2)
			continue;
		size = h.size - sizeof(h);
		recorded += h.size;
		if (h.type == COMPRESSED2) {
			memcpy(&size, data, sizeof(size));
			data += sizeof(size);
		}
		if (unpack(z, data, (size_t)size, &plain, &n, &room) < 0)
			return 1;
	}
	begin = micros();
	packed = n ? pack(plain, n, atoi(argv[2]), to, BLOCK_BYTES * 2) : 0;
	printf("%zu %zu %zu %lld\n", n, recorded, packed, micros() - begin);
	return !packed;
}
