/* SPDX-License-Identifier: MIT */
#include "sources/perfdata/unzip.h"

#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "formats/perfdata/layout.h"
#include "sources/perfdata/perfdata.h"

enum {
	HEADER_BYTES = 8,
	RECORD_MAX_BYTES = UINT16_MAX,
#ifdef SMALL_BUFFERS /* for fuzzing */
	RAW_BYTES = 68 * 1024,
	WORK_BYTES = 72 * 1024,
#else
	RAW_BYTES = 256 * 1024,
	/* Holds the beginning of a record and the bytes that are unpacked after it. */
	WORK_BYTES = 256 * 1024,
#endif
	WINDOW_LOG_MAX = 27, /* zstd's own limit for its highest usual level */
	DESCRIPTOR_AT = 4,   /* in a frame, after the magic number */
	DESCRIPTOR_CHECKSUM = 1 << 2
};

/* The stream from offset `made` on is the input from `recorded` on. If packed, all of it is
 * unpacked from the record there. */
struct unzip_place {
	uint64_t made, recorded;
	bool packed;
};

struct unzip {
	struct unzip_options opts;
	VEC(struct unzip_place) places; /* ascending */
	uint64_t made;                  /* offset in the stream of the next byte to make */
	struct stream stream;
	ZSTD_DStream *zstd;
	struct {
		uint64_t begin; /* offset of its first compressed record */
		bool is_open;   /* its end is still to come */
		bool has_checksum;
		bool is_broken; /* nothing more is read until a new one begins */
	} frame;

	/* Recorded bytes; raw[raw_at..raw_len) are not processed yet. */
	uint8_t *raw;
	size_t raw_at, raw_len;
	uint64_t read_to;    /* input offset of raw[raw_len] */
	uint64_t plain_left; /* bytes of a plain record, and of data after it, to pass on unchanged
			      */
	bool ended;

	bool has_more;        /* zstd holds unpacked bytes that did not fit */
	ZSTD_inBuffer packed; /* rest of the current compressed record; points into raw */
	uint64_t packed_at;   /* the record's offset in the file */

	/* Unpacked bytes: work[at..ready) are complete records, [ready..filled) the beginning of
	 * one. */
	uint8_t *work;
	size_t at, ready, filled;
};

/* Provides at least n bytes in raw[raw_at..). Returns 1, 0 if the input ends before, <0 on failure.
 */
static int unzip_need(struct unzip *u, size_t n)
{
	while (u->raw_len - u->raw_at < n && !u->ended) {
		size_t room;
		int64_t got;

		if (u->raw_at) {
			memmove(u->raw, u->raw + u->raw_at, u->raw_len - u->raw_at);
			u->raw_len -= u->raw_at;
			u->raw_at = 0;
		}
		room = RAW_BYTES - u->raw_len;
		if (room > u->opts.end - u->read_to)
			room = (size_t)(u->opts.end - u->read_to);
		if (u->opts.from) {
			got = stream_read(u->opts.from, u->read_to, u->raw + u->raw_len, room);
			if (got > 0)
				stream_let_go(u->opts.from, u->read_to + (uint64_t)got);
		} else {
			do
				got = pread(u->opts.fd, u->raw + u->raw_len, room,
					    (off_t)u->read_to);
			while (got < 0 && errno == EINTR);
			if (got < 0)
				return err_errno(errno, "cannot read %s", u->opts.path);
		}
		if (got < 0)
			return (int)got;
		u->ended = !got;
		u->raw_len += (size_t)got;
		u->read_to += (uint64_t)got;
	}
	return u->raw_len - u->raw_at >= n;
}

static const char no_end[] = "its end with the checksum is missing";

/* Drops zstd's state, and the beginning of a record whose end is lost. */
static void unzip_forget_frame(struct unzip *u)
{
	ZSTD_DCtx_reset(u->zstd, ZSTD_reset_session_only);
	u->frame.is_open = u->frame.is_broken = false;
	u->filled = u->ready;
}

static bool unzip_begins_frame(const ZSTD_inBuffer *in)
{
	static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

	return in->size >= sizeof(magic) && !memcmp(in->src, magic, sizeof(magic));
}

static void unzip_report_broken(struct unzip *u, const char *why)
{
	u->frame.is_broken = true;
	defects_add(u->opts.defects, DEFECT_BAD_RECORD, 1,
		    "compressed data from 0x%llx to 0x%llx%s: %s",
		    (unsigned long long)u->frame.begin,
		    (unsigned long long)(u->read_to - (u->raw_len - u->raw_at)),
		    u->opts.behind_offset ? u->opts.behind_offset : "", why);
}

/* Finds the complete records at the beginning of the unpacked bytes. */
static void unzip_find_whole(struct unzip *u)
{
	while (u->filled - u->ready >= HEADER_BYTES) {
		uint16_t size = get_u16(u->work + u->ready + 6, u->opts.swap);

		/* Nothing after it in this frame can be read; the next frame begins with a record.
		 */
		if (size < HEADER_BYTES && u->frame.is_open && u->frame.has_checksum) {
			unzip_report_broken(u, "a record that is smaller than its header");
			u->filled = u->ready;
			return;
		}
		/* Bytes that are not a record are passed on; cut() reports them. */
		if (size < HEADER_BYTES)
			size = (uint16_t)(u->filled - u->ready < UINT16_MAX ? u->filled - u->ready
									    : UINT16_MAX);
		if (u->filled - u->ready < size)
			return;
		u->ready += size;
	}
}

static void unzip_skip_packed(struct unzip *u)
{
	u->packed.pos = u->packed.size;
	u->has_more = false;
}

static void unzip_note_frame(struct unzip *u)
{
	const ZSTD_inBuffer in = { (const uint8_t *)u->packed.src + u->packed.pos,
				   u->packed.size - u->packed.pos, 0 };

	u->frame.begin = u->packed_at;
	u->frame.has_checksum = unzip_begins_frame(&in) && in.size > DESCRIPTOR_AT &&
				((const uint8_t *)in.src)[DESCRIPTOR_AT] & DESCRIPTOR_CHECKSUM;
}

/* Counts unpacked bytes. Their limit depends on the packed bytes, which for a pipe are those read
 * so far. */
static int unzip_count_unpacked(struct unzip *u, size_t bytes)
{
	const struct stream *from = u->opts.from;

	if (from)
		u->opts.unpacked->packed_bytes =
			from->packed_bytes ? *from->packed_bytes : u->read_to;
	return unpacked_add(u->opts.unpacked, bytes, u->opts.path);
}

/* Unpacks some of the current compressed record. */
static int unzip_unpack(struct unzip *u)
{
	ZSTD_outBuffer out;
	const size_t before = u->packed.pos;
	size_t r;

	if (u->at) {
		memmove(u->work, u->work + u->at, u->filled - u->at);
		u->filled -= u->at;
		u->ready -= u->at;
		u->at = 0;
	}
	if (!u->frame.is_open && before < u->packed.size)
		unzip_note_frame(u);
	out = (ZSTD_outBuffer){ .dst = u->work, .size = WORK_BYTES, .pos = u->filled };
	r = ZSTD_decompressStream(u->zstd, &out, &u->packed);
	if (ZSTD_isError(r)) {
		unzip_report_broken(u, ZSTD_getErrorName(r));
		unzip_skip_packed(u);
		return 0;
	}
	TRY(unzip_count_unpacked(u, out.pos - u->filled));
	u->frame.is_open = r && (u->frame.is_open || u->packed.pos > before);
	u->has_more = out.pos == out.size;
	u->filled = out.pos;
	unzip_find_whole(u);
	if (u->frame.is_broken)
		unzip_skip_packed(u);
	return 0;
}

static int unzip_keep_place(struct unzip *u, bool packed)
{
	if (!u->opts.keeps_places)
		return 0;
	return vec_push(&u->places, (struct unzip_place){
					    .made = u->made,
					    .recorded = u->read_to - (u->raw_len - u->raw_at),
					    .packed = packed,
				    });
}

uint64_t unzip_place(const struct unzip *u, uint64_t off)
{
	size_t low = 0, high = u->places.n;
	const struct unzip_place *p;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (u->places.v[middle].made <= off)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return off;
	p = &u->places.v[low - 1];
	return p->packed ? p->recorded : p->recorded + (off - p->made);
}

/* Handles the first record in raw[]. Returns 1, or 0 at the end. */
static int unzip_next_recorded(struct unzip *u)
{
	const uint8_t *rec;
	uint32_t type;
	uint16_t size;
	size_t begin = HEADER_BYTES, end;
	int r = unzip_need(u, HEADER_BYTES);

	if (r <= 0) {
		u->plain_left = u->raw_len - u->raw_at;
		return r < 0 ? r : u->plain_left > 0;
	}
	type = get_u32(u->raw + u->raw_at, u->opts.swap);
	size = get_u16(u->raw + u->raw_at + 6, u->opts.swap);
	r = unzip_need(u, size);
	rec = u->raw + u->raw_at;
	if (r < 0)
		return r;
	if (!r || size < HEADER_BYTES ||
	    (type != RECORD_COMPRESSED && type != RECORD_COMPRESSED2)) {
		u->plain_left = perfdata_record_bytes(rec, size, u->opts.swap);
		if (!r || size < HEADER_BYTES)
			u->plain_left = u->raw_len - u->raw_at;
		TRY(unzip_keep_place(u, false));
		return 1;
	}
	TRY(unzip_keep_place(u, true));
	u->opts.unpacked->records[type == RECORD_COMPRESSED2]++;
	end = size;
	if (type == RECORD_COMPRESSED2 && size >= HEADER_BYTES + 8) {
		uint64_t bytes = get_u64(rec + HEADER_BYTES, u->opts.swap);

		begin += 8;
		end = bytes < end - begin ? begin + (size_t)bytes : end;
	}
	u->packed = (ZSTD_inBuffer){ .src = rec + begin, .size = end - begin };
	u->packed_at = u->read_to - (u->raw_len - u->raw_at);
	if (unzip_begins_frame(&u->packed)) {
		/* Cannot be the header of a block: the block would have 390 KB, and none is so
		 * large. */
		if (u->frame.is_open && u->frame.has_checksum && !u->frame.is_broken)
			unzip_report_broken(u, no_end);
		if (u->frame.is_broken)
			unzip_forget_frame(u);
	}
	u->raw_at += size;
	if (u->frame.is_broken) {
		u->packed.size = 0;
		defects_add(u->opts.defects, DEFECT_COMPRESSED, 1, NULL);
	}
	return 1;
}

static void unzip_check_end(struct unzip *u)
{
	if (!u->opts.is_complete || !u->frame.is_open || !u->frame.has_checksum ||
	    u->frame.is_broken)
		return;
	unzip_report_broken(u, no_end);
}

static int64_t unzip_make(void *ctx, void *buf, size_t len)
{
	struct unzip *u = ctx;

	for (;;) {
		size_t n;
		int r;

		if (u->at < u->ready) {
			n = u->ready - u->at < len ? u->ready - u->at : len;
			memcpy(buf, u->work + u->at, n);
			u->at += n;
			u->made += n;
			return (int64_t)n;
		}
		if (u->packed.pos < u->packed.size || u->has_more) {
			TRY(unzip_unpack(u));
			continue;
		}
		if (u->plain_left) {
			TRY(unzip_need(u, 1));
			n = u->raw_len - u->raw_at;
			if (n > u->plain_left)
				n = (size_t)u->plain_left;
			if (n > len)
				n = len;
			memcpy(buf, u->raw + u->raw_at, n);
			u->raw_at += n;
			u->plain_left = n ? u->plain_left - n : 0;
			u->made += n;
			if (n)
				return (int64_t)n;
			continue;
		}
		r = unzip_next_recorded(u);
		if (r < 0)
			return r;
		if (!r) {
			unzip_check_end(u);
			/* An incomplete record is passed on; cut() reports it. */
			if (u->ready == u->filled)
				return 0;
			u->ready = u->filled;
		}
	}
}

int unzip_open(struct unzip **ret, const struct unzip_options *opts)
{
	struct unzip *u = calloc(1, sizeof(*u));

	if (!u)
		return err_nomem();
	u->opts = *opts;
	u->read_to = u->made = opts->begin;
	stream_init_made(&u->stream, unzip_make, u, opts->path, opts->begin);
	u->raw = malloc(RAW_BYTES);
	u->work = malloc(WORK_BYTES);
	u->zstd = ZSTD_createDStream();
	if (!u->raw || !u->work || !u->zstd) {
		unzip_close(u);
		return err_nomem();
	}
	ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	*ret = u;
	return 0;
}

struct stream *unzip_stream(struct unzip *u)
{
	return &u->stream;
}

void unzip_close(struct unzip *u)
{
	if (!u)
		return;
	stream_done(&u->stream);
	vec_done(&u->places);
	ZSTD_freeDStream(u->zstd);
	free(u->raw);
	free(u->work);
	free(u);
}
