/* SPDX-License-Identifier: MIT */
#include "formats/perfdata/zip.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/err.h"
#include "formats/perfdata/layout.h"

enum {
	HEADER_BYTES = sizeof(struct perfdata_record_header),
	LENGTH_BYTES = 8, /* size of the length in COMPRESSED2 */
	/* A block of this size fits into a record even if zstd cannot compress it. */
	PIECE_BYTES = 63 << 10,
	RECORD_MAX_BYTES = UINT16_MAX,
	PADDED_MAX_BYTES = UINT16_MAX & ~7,
	/* A frame of this size ends with the next chunk. A new frame compresses worse at first. */
	FRAME_BYTES = 256 << 10,
};

_Static_assert(ZIP_CHUNK_BYTES % PIECE_BYTES == 0, "a chunk ends with a full piece");

struct zip {
	ZSTD_CCtx *zstd;
	bool padded;
	size_t frame_bytes; /* compressed bytes in the open frame; 0 if none is open */
};

/* The place of the next byte of a chunk. */
struct zip_place {
	const struct iovec *piece;
	size_t at;
};

int zip_new(struct zip **ret, int level, bool padded)
{
	struct zip *z = calloc(1, sizeof(*z));
	uint8_t scratch[64];
	ZSTD_outBuffer out = { .dst = scratch, .size = sizeof(scratch) };
	ZSTD_inBuffer nothing = { 0 };
	size_t r;

	if (!z || !(z->zstd = ZSTD_createCCtx())) {
		zip_free(z);
		return err_nomem();
	}
	z->padded = padded;
	ZSTD_CCtx_setParameter(z->zstd, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(z->zstd, ZSTD_c_checksumFlag, 1);
	/* Allocates all memory now, not in the middle of a recording. */
	r = ZSTD_compressStream2(z->zstd, &out, &nothing, ZSTD_e_flush);
	ZSTD_CCtx_reset(z->zstd, ZSTD_reset_session_only);
	if (ZSTD_isError(r)) {
		zip_free(z);
		return err_set(-ENOMEM, "-z %d: %s", level, ZSTD_getErrorName(r));
	}
	*ret = z;
	return 0;
}

void zip_free(struct zip *z)
{
	if (!z)
		return;
	ZSTD_freeCCtx(z->zstd);
	free(z);
}

/* Compresses the next `len` bytes to one block; `ends`: the last block of its frame. */
static int zip_pack(struct zip *z, struct zip_place *from, size_t len, bool ends, uint8_t *to,
		    size_t room, size_t *ret_len)
{
	ZSTD_outBuffer out = { .dst = to, .size = room };
	const ZSTD_EndDirective last = ends ? ZSTD_e_end : ZSTD_e_flush;
	size_t r;

	do {
		const size_t left = from->piece->iov_len - from->at;
		const size_t n = left < len ? left : len;
		ZSTD_inBuffer in = { (const char *)from->piece->iov_base + from->at, n, 0 };

		len -= n;
		do
			r = ZSTD_compressStream2(z->zstd, &out, &in, len ? ZSTD_e_continue : last);
		while (!ZSTD_isError(r) && (in.pos < in.size || (!len && r)) && out.pos < out.size);
		if (ZSTD_isError(r) || in.pos < in.size || (!len && r))
			return err_set(-EIO, "cannot compress: %s",
				       ZSTD_isError(r) ? ZSTD_getErrorName(r) : "no room");
		from->at += n;
		if (from->at == from->piece->iov_len)
			*from = (struct zip_place){ from->piece + 1, 0 };
	} while (len);
	*ret_len = out.pos;
	z->frame_bytes = ends ? 0 : z->frame_bytes + out.pos;
	return 0;
}

static size_t zip_head_bytes(const struct zip *z)
{
	return HEADER_BYTES + (z->padded ? LENGTH_BYTES : 0);
}

static size_t zip_record_bytes(const struct zip *z, size_t len)
{
	return zip_head_bytes(z) + (z->padded ? (len + 7) & ~(size_t)7 : len);
}

/* Writes a header before `len` bytes and padding after them. Returns the size of the record. */
static size_t zip_put_record(const struct zip *z, uint8_t *to, size_t len)
{
	const size_t head = zip_head_bytes(z), size = zip_record_bytes(z, len);
	const struct perfdata_record_header h = {
		.type = z->padded ? RECORD_COMPRESSED2 : RECORD_COMPRESSED,
		.size = (uint16_t)size,
	};
	const uint64_t length = len;

	memcpy(to, &h, sizeof(h));
	if (z->padded)
		memcpy(to + HEADER_BYTES, &length, sizeof(length));
	memset(to + head + len, 0, size - head - len);
	return size;
}

int zip_chunk(struct zip *z, const struct iovec *pieces, int nr_pieces, uint8_t *to,
	      size_t *ret_len)
{
	const size_t head = zip_head_bytes(z);
	const size_t max = (z->padded ? PADDED_MAX_BYTES : RECORD_MAX_BYTES) - head;
	struct zip_place from = { pieces, 0 };
	size_t left = 0, made = 0, len = 0; /* to[made..) holds the header and len bytes */

	for (int i = 0; i < nr_pieces; i++)
		left += pieces[i].iov_len;
	while (left) {
		const size_t n = left < PIECE_BYTES ? left : PIECE_BYTES;
		const size_t at = made + head + len;
		const bool ends = z->frame_bytes >= FRAME_BYTES && n == left;
		size_t block = 0;

		TRY(zip_pack(z, &from, n, ends, to + at, ZIP_ROOM_BYTES - at, &block));
		if (len && len + block > max) {
			memmove(to + made + zip_record_bytes(z, len) + head, to + at, block);
			made += zip_put_record(z, to + made, len);
			len = 0;
		}
		len += block;
		left -= n;
	}
	if (len)
		made += zip_put_record(z, to + made, len);
	*ret_len = made;
	return 0;
}

int zip_end(struct zip *z, uint8_t *to, size_t *ret_len, size_t *ret_plain_len)
{
	const struct perfdata_record_header last = {
		.type = RECORD_FINISHED_INIT,
		.size = sizeof(last),
	};
	const struct iovec piece = { (void *)&last, sizeof(last) };
	struct zip_place from = { &piece, 0 };
	const size_t head = zip_head_bytes(z);
	size_t len = 0;

	*ret_len = *ret_plain_len = 0;
	if (!z->frame_bytes)
		return 0;
	TRY(zip_pack(z, &from, sizeof(last), true, to + head, ZIP_ROOM_BYTES - head, &len));
	*ret_len = zip_put_record(z, to, len);
	*ret_plain_len = sizeof(last);
	return 0;
}
