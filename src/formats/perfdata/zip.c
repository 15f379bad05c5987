/* SPDX-License-Identifier: MIT */
#include "formats/perfdata/zip.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/err.h"
#include "formats/perfdata/layout.h"

enum {
	HEADER_BYTES = sizeof(struct perfdata_record_header),
	LENGTH_BYTES = 8, /* of COMPRESSED2 */
	/* A block of so much fits into a record even when zstd cannot make it smaller. */
	SAFE_BYTES = 63 << 10,
	RECORD_MAX_BYTES = UINT16_MAX,
	PADDED_MAX_BYTES = UINT16_MAX & ~7,
	BLOCK_HEADER_BYTES = 3,
};

struct zip {
	ZSTD_CCtx *zstd;
	bool padded;
	bool is_wary;     /* what comes is hardly compressible: units are halved */
	bool has_frame;   /* a frame was begun in what was handed out */
	bool owes_an_end; /* of that frame: the next block begins a new one */
};

/* Where the next byte of a unit comes from. */
struct place {
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
	/* What it will need it takes now, not in the middle of a recording. */
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

/* Makes one block of the next `len` bytes. */
static int pack(struct zip *z, struct place *from, size_t len, uint8_t *to, size_t room,
		size_t *ret_len)
{
	ZSTD_outBuffer out = { .dst = to, .size = room };
	size_t r;

	do {
		const size_t left = from->piece->iov_len - from->at;
		const size_t n = left < len ? left : len;
		ZSTD_inBuffer in = { (const char *)from->piece->iov_base + from->at, n, 0 };

		len -= n;
		do
			r = ZSTD_compressStream2(z->zstd, &out, &in,
						 len ? ZSTD_e_continue : ZSTD_e_flush);
		while (!ZSTD_isError(r) && (in.pos < in.size || (!len && r)) && out.pos < out.size);
		if (ZSTD_isError(r) || in.pos < in.size || (!len && r))
			return err_set(-EIO, "cannot compress: %s",
				       ZSTD_isError(r) ? ZSTD_getErrorName(r) : "no room");
		from->at += n;
		if (from->at == from->piece->iov_len)
			*from = (struct place){ from->piece + 1, 0 };
	} while (len);
	*ret_len = out.pos;
	return 0;
}

size_t zip_wants(const struct zip *z)
{
	return z->is_wary ? SAFE_BYTES : ZIP_UNIT_BYTES;
}

/* The last block of a frame: empty and raw. */
static size_t put_end(uint8_t *to)
{
	memcpy(to, (const uint8_t[]){ 1, 0, 0 }, BLOCK_HEADER_BYTES);
	return BLOCK_HEADER_BYTES;
}

/* Header in front of, padding behind `len` bytes. Returns the whole. */
static size_t put_record(const struct zip *z, uint8_t *to, size_t len)
{
	const size_t head = HEADER_BYTES + (z->padded ? LENGTH_BYTES : 0);
	const size_t pad = z->padded ? -len & 7 : 0;
	const struct perfdata_record_header h = { .type = z->padded ? RECORD_COMPRESSED2
								    : RECORD_COMPRESSED,
						  .size = (uint16_t)(head + len + pad) };
	const uint64_t length = len;

	memcpy(to, &h, sizeof(h));
	if (z->padded)
		memcpy(to + HEADER_BYTES, &length, sizeof(length));
	memset(to + head + len, 0, pad);
	return head + len + pad;
}

int zip_unit(struct zip *z, const struct iovec *pieces, int nr_pieces, uint8_t *to, size_t *ret_len)
{
	const size_t head = HEADER_BYTES + (z->padded ? LENGTH_BYTES : 0);
	const size_t max = (z->padded ? PADDED_MAX_BYTES : RECORD_MAX_BYTES) - head;
	struct place from = { pieces, 0 };
	size_t left = 0, made = 0;

	for (int i = 0; i < nr_pieces; i++)
		left += pieces[i].iov_len;
	while (left) {
		const struct place before = from;
		const size_t n = z->is_wary && left > SAFE_BYTES ? SAFE_BYTES : left;
		size_t len = 0, block = 0;

		if (z->owes_an_end)
			len = put_end(to + made + head);
		TRY(pack(z, &from, n, to + made + head + len, ZIP_ROOM_BYTES - made - head - len,
			 &block));
		len += block;
		if (len > max) {
			if (n <= SAFE_BYTES)
				return err_set(-EIO, "cannot compress: %zu bytes became %zu", n,
					       len);
			/*
			 * zstd goes on from a block that nobody will see: it must forget all it knows, and readers with
			 * it, which they do at the beginning of a frame.
			 */
			ZSTD_CCtx_reset(z->zstd, ZSTD_reset_session_only);
			z->owes_an_end = z->has_frame;
			z->is_wary = true;
			from = before;
			continue;
		}
		z->has_frame = true;
		z->owes_an_end = false;
		z->is_wary = len > n / 3;
		made += put_record(z, to + made, len);
		left -= n;
	}
	*ret_len = made;
	return 0;
}
