/* SPDX-License-Identifier: MIT */
/*
 * Compressed records. The target compresses the input itself, so that records change and not only
 * bytes of zstd:
 *
 *	u8 how | u8 x 2: keys of the session | u8 n | u16 len | len bytes of head | records
 *
 *	how	1	pipe mode; else file mode
 *		2	COMPRESSED2; else COMPRESSED
 *		4	a frame for each record; else one frame for all
 *		8	the records are bytes of zstd already
 *		0x10	the last 6 bytes damage the compressed data: u16 place, u8 xor, twice
 *		0xe0	size of the pieces that are compressed: 32 bytes to 4 KiB
 *	head	in pipe mode: the records before these
 *		in file mode: n entries of attrs of 144 bytes, and lists of ids
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "asking.h"
#include "formats/perfdata/layout.h"

enum how { HOW_PIPE = 1, HOW_NEW_FORM = 2, HOW_FRAMES = 4, HOW_READY = 8, HOW_DAMAGED = 0x10 };
enum { BEFORE = 6, ENTRY_BYTES = 144, DAMAGE_BYTES = 6, ROOM = 1 << 20, MOST_AT_ONCE = 60000 };

struct recording {
	uint8_t *bytes; /* ROOM of them */
	size_t len;
};

static void put(struct recording *r, const void *p, size_t len)
{
	if (r->len + len <= ROOM) {
		memcpy(r->bytes + r->len, p, len);
		r->len += len;
	}
}

static void put_record(struct recording *r, const void *packed, size_t len, uint8_t how)
{
	static const uint8_t zeros[8];
	const uint64_t bytes = len;
	struct perfdata_record_header h = { .type = RECORD_COMPRESSED };
	size_t pad = 0;

	if (how & HOW_NEW_FORM) {
		h.type = RECORD_COMPRESSED2;
		pad = -len % 8;
	}
	h.size = (uint16_t)(sizeof(h) + (how & HOW_NEW_FORM ? sizeof(bytes) : 0) + len + pad);
	put(r, &h, sizeof(h));
	if (how & HOW_NEW_FORM)
		put(r, &bytes, sizeof(bytes));
	put(r, packed, len);
	put(r, zeros, pad);
}

static void put_compressed(struct recording *r, const uint8_t *p, size_t size, uint8_t how)
{
	static ZSTD_CCtx *zstd;
	static uint8_t packed[MOST_AT_ONCE];
	const size_t piece = 32u << (how >> 5);

	if (!zstd && !(zstd = ZSTD_createCCtx()))
		abort();
	ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, 17);
	for (size_t n; size; p += n, size -= n) {
		ZSTD_inBuffer in = { .src = p, .size = size < piece ? size : piece };
		ZSTD_outBuffer out = { .dst = packed, .size = sizeof(packed) };

		ZSTD_compressStream2(zstd, &out, &in, how & HOW_FRAMES ? ZSTD_e_end : ZSTD_e_flush);
		put_record(r, packed, out.pos, how);
		n = in.size;
	}
}

static void put_data(struct recording *r, const uint8_t *p, size_t size, uint8_t how)
{
	const size_t begin = r->len;
	const uint8_t *damage = NULL;

	if (how & HOW_DAMAGED && size >= DAMAGE_BYTES) {
		size -= DAMAGE_BYTES;
		damage = p + size;
	}
	if (how & HOW_READY)
		put_record(r, p, size < MOST_AT_ONCE ? size : MOST_AT_ONCE, how);
	else
		put_compressed(r, p, size, how);
	for (int i = 0; damage && r->len > begin && i < DAMAGE_BYTES; i += 3)
		r->bytes[begin + (damage[i] | (size_t)damage[i + 1] << 8) % (r->len - begin)] ^=
			damage[i + 2];
}

/* Header and table of features are valid: another target tests wrong ones. */
static void put_file(struct recording *r, unsigned entries, const uint8_t *head, size_t head_len,
		     const uint8_t *p, size_t size, uint8_t how)
{
	const uint32_t compressed[5] = { 1, 1, 1, 4, 528384 };
	struct perfdata_header h = {
		.magic = PERFDATA_MAGIC,
		.size = sizeof(h),
		.attr_size = ENTRY_BYTES,
		.attrs = { sizeof(h), entries * ENTRY_BYTES },
		.features = { UINT64_C(1) << FEAT_COMPRESSED },
	};
	struct perfdata_section table;

	if (h.attrs.size > head_len)
		h.attrs.size = head_len - head_len % ENTRY_BYTES;
	put(r, &h, sizeof(h));
	put(r, head, head_len);
	h.data.offset = r->len;
	put_data(r, p, size, how);
	h.data.size = r->len - h.data.offset;
	table = (struct perfdata_section){ r->len + sizeof(table), sizeof(compressed) };
	put(r, &table, sizeof(table));
	put(r, compressed, sizeof(compressed));
	memcpy(r->bytes, &h, sizeof(h));
}

static void put_pipe(struct recording *r, const uint8_t *head, size_t head_len, const uint8_t *p,
		     size_t size, uint8_t how)
{
	const uint64_t h[2] = { PERFDATA_MAGIC, PERFDATA_PIPE_HEADER_BYTES };

	put(r, h, sizeof(h));
	put(r, head, head_len);
	put_data(r, p, size, how);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t room[ROOM];
	static struct fuzz_file file;
	struct recording r = { .bytes = room };
	const uint8_t *head = data + BEFORE, *records;
	size_t head_len, records_len;

	if (size < BEFORE)
		return 0;
	head_len = data[4] | (size_t)data[5] << 8;
	if (head_len > size - BEFORE)
		head_len = size - BEFORE;
	records = head + head_len;
	records_len = size - BEFORE - head_len;
	if (data[0] & HOW_PIPE)
		put_pipe(&r, head, head_len, records, records_len, data[0]);
	else
		put_file(&r, data[3], head, head_len, records, records_len, data[0]);
	if (fuzz_file_put(&file, r.bytes, r.len) >= 0)
		fuzz_recording(file.path, data[1] | (uint32_t)data[2] << 8);
	return 0;
}
