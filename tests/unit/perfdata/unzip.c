/* SPDX-License-Identifier: MIT */
/* Compressed records are unpacked to the plain records in them, wherever the recorder has cut. */
#include "unittest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/err.h"
#include "formats/perfdata/layout.h"
#include "sources/perfdata/unzip.h"

enum { SAMPLE = 9, MMAP = 1, RECORDS = 5000 };

struct image {
	uint8_t bytes[1 << 20];
	size_t len;
};

static struct image recorded, plain;

static void put_record(struct image *im, uint32_t type, const void *body, size_t len)
{
	struct perfdata_record_header h = { .type = type, .size = (uint16_t)(sizeof(h) + len) };

	memcpy(im->bytes + im->len, &h, sizeof(h));
	memcpy(im->bytes + im->len + sizeof(h), body, len);
	im->len += sizeof(h) + len;
}

/* The i-th plain record. Its length and its bytes depend on i. */
static void put_sample(struct image *im, unsigned i)
{
	uint8_t body[256];

	memset(body, (int)i, sizeof(body));
	put_record(im, SAMPLE, body, 8 + i % 31 * 8);
}

static void compress(ZSTD_CStream *z, ZSTD_EndDirective how, uint32_t type, const uint8_t *p,
		     size_t len)
{
	uint8_t packed[60000];
	uint64_t size;
	ZSTD_inBuffer in = { p, len, 0 };
	ZSTD_outBuffer out = { packed + 8, sizeof(packed) - 8, 0 };

	assert_int_equal(ZSTD_compressStream2(z, &out, &in, how), 0);
	assert_int_equal(in.pos, len);
	size = out.pos;
	memcpy(packed, &size, sizeof(size));
	if (type == RECORD_COMPRESSED2) /* padded: a size word has the size without padding */
		put_record(&recorded, type, packed, 8 + ((size_t)size + 7) / 8 * 8);
	else
		put_record(&recorded, type, packed + 8, size);
}

/*
 * Samples cut into pieces of `step` bytes. Each piece is compressed and followed by a plain record.
 */
static void make(uint32_t type, size_t step)
{
	ZSTD_CStream *z = ZSTD_createCStream();
	struct image *samples = calloc(1, sizeof(*samples));
	size_t done = 0;

	assert_non_null(samples);
	recorded.len = plain.len = 0;
	put_record(&recorded, MMAP, "12345678", 8);
	put_record(&plain, MMAP, "12345678", 8);
	for (unsigned i = 0; i < RECORDS; i++)
		put_sample(samples, i);
	for (size_t at = 0; at < samples->len; at += step) {
		size_t n = samples->len - at < step ? samples->len - at : step;

		compress(z, ZSTD_e_flush, type, samples->bytes + at, n);
		/* Records that are complete here are before the plain record. */
		while (done < at + n) {
			struct perfdata_record_header h;

			memcpy(&h, samples->bytes + done, sizeof(h));
			if (done + h.size > at + n)
				break;
			memcpy(plain.bytes + plain.len, samples->bytes + done, h.size);
			plain.len += h.size;
			done += h.size;
		}
		put_record(&recorded, RECORD_FINISHED_ROUND, "", 0);
		put_record(&plain, RECORD_FINISHED_ROUND, "", 0);
	}
	ZSTD_freeCStream(z);
	free(samples);
}

enum { FRAMES = 5, UNITS = 4, UNIT_RECORDS = 50, FRAME_RECORDS = UNITS * UNIT_RECORDS };

/* The offsets of each frame's first record in `recorded`, and of its contents in `plain`. */
static size_t frame_at[FRAMES + 1], frame_plain_at[FRAMES + 1];

/*
 * Makes frames with checksums, each of complete records. If `is_open`, the last frame has no end.
 */
static void make_frames(bool is_open)
{
	ZSTD_CStream *z = ZSTD_createCStream();

	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	recorded.len = plain.len = 0;
	for (unsigned i = 0; i < FRAMES * UNITS; i++) {
		const size_t begin = plain.len;
		const bool ends = i % UNITS == UNITS - 1 && !(is_open && i == FRAMES * UNITS - 1);

		if (i % UNITS == 0) {
			frame_at[i / UNITS] = recorded.len;
			frame_plain_at[i / UNITS] = plain.len;
		}
		for (unsigned j = 0; j < UNIT_RECORDS; j++)
			put_sample(&plain, i * UNIT_RECORDS + j);
		compress(z, ends ? ZSTD_e_end : ZSTD_e_flush, RECORD_COMPRESSED,
			 plain.bytes + begin, plain.len - begin);
	}
	frame_at[FRAMES] = recorded.len;
	frame_plain_at[FRAMES] = plain.len;
	ZSTD_freeCStream(z);
}

static struct defects defects;
static bool is_complete;

/* All unpacked bytes as one image; NULL if the limit is exceeded. */
static struct image *unpacked_to(uint64_t max_bytes)
{
	struct unpacked limit = { .max_bytes = max_bytes, .packed_bytes = recorded.len };
	static struct image ret;
	char path[] = "/tmp/sonde-unzip-XXXXXX";
	struct unzip *u;
	int fd = mkstemp(path);
	int64_t n;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, recorded.bytes, recorded.len), recorded.len);
	defects = (struct defects){ 0 };
	assert_int_equal(unzip_open(&u,
				    &(struct unzip_options){
					    .fd = fd,
					    .begin = 0,
					    .end = recorded.len,
					    .path = "x.data",
					    .unpacked = &limit,
					    .is_complete = is_complete,
					    .defects = &defects,
				    }),
			 0);
	for (ret.len = 0;; ret.len += (size_t)n) {
		n = stream_read(unzip_stream(u), ret.len, ret.bytes + ret.len,
				sizeof(ret.bytes) - ret.len);
		if (n <= 0)
			break;
	}
	assert_int_equal(n, max_bytes && limit.bytes > max_bytes ? -EFBIG : 0);
	unzip_close(u);
	close(fd);
	return n < 0 ? NULL : &ret;
}

static struct image *unpacked(void)
{
	return unpacked_to(0);
}

static void compare_with(const struct image *got)
{
	assert_int_equal(got->len, plain.len);
	assert_memory_equal(got->bytes, plain.bytes, plain.len);
	assert_int_equal(defects.count[DEFECT_BAD_RECORD], 0);
}

static void compare(void)
{
	compare_with(unpacked());
}

TEST(records_cut_anywhere)
{
	static const size_t steps[] = { 1000, 1003, 4096, 30001 };

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		make(RECORD_COMPRESSED, steps[i]);
		compare();
		make(RECORD_COMPRESSED2, steps[i]);
		compare();
	}
}

/* A compressed record of few bytes that contains more than is unpacked at once. */
TEST(much_in_little)
{
	static const size_t steps[] = { 300000, 700001 };

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		make(RECORD_COMPRESSED, steps[i]);
		compare();
	}
}

TEST(what_compressed_records_may_unpack_to)
{
	uint64_t bytes;

	make(RECORD_COMPRESSED, 4096);
	bytes = plain.len - 16; /* without the plain MMAP and the rounds */
	for (size_t at = 0; at < recorded.len;
	     at += recorded.bytes[at + 6] | recorded.bytes[at + 7] << 8)
		bytes -= recorded.bytes[at] == RECORD_FINISHED_ROUND ? 8 : 0;
	assert_null(unpacked_to(4096));
	assert_non_null(strstr(err_text(), "x.data: "));
	assert_non_null(strstr(err_text(), "--max-unpacked"));
	assert_null(unpacked_to(bytes - 1));
	assert_non_null(unpacked_to(bytes));
}

/* Without a limit by the user, the limit depends on the number of packed bytes. */
TEST(the_limit_by_default)
{
	struct unpacked small = { .packed_bytes = 100 }, large = { .packed_bytes = 1 << 30 },
			huge = { .packed_bytes = UINT64_MAX };

	assert_int_equal(unpacked_add(&small, UNPACKED_LEAST_BYTES, "x"), 0);
	assert_int_equal(unpacked_add(&small, 1, "x"), -EFBIG);
	assert_non_null(strstr(err_text(), "x: 100 packed bytes unpack to more than 1073741824,"));
	assert_int_equal(unpacked_add(&large, (uint64_t)UNPACKED_TIMES << 30, "x"), 0);
	assert_int_equal(unpacked_add(&large, 1, "x"), -EFBIG);
	assert_int_equal(unpacked_add(&huge, UINT64_MAX, "x"), 0);
}

TEST(damage_is_told_and_ends_nothing_else)
{
	const struct image *got;

	make(RECORD_COMPRESSED, 4096);
	recorded.bytes[24] ^= 0xff; /* the first byte that is compressed */
	got = unpacked();
	assert_int_equal(defects.count[DEFECT_BAD_RECORD], 1);
	assert_true(defects.count[DEFECT_COMPRESSED] > 0);
	assert_true(got->len < plain.len);
	assert_memory_equal(got->bytes, plain.bytes, 16);
}

TEST(every_length_of_a_file_that_was_cut_off)
{
	size_t len;

	make(RECORD_COMPRESSED, 4096);
	len = recorded.len;
	for (size_t cut = 0; cut < len; cut += 97) {
		recorded.len = cut;
		unpacked();
	}
}

/*
 * Checks that all frames before and after `frame` are unpacked, and of `frame` only some records.
 */
static void compare_around(const struct image *got, unsigned frame)
{
	const size_t before = frame_plain_at[frame], behind = plain.len - frame_plain_at[frame + 1];

	assert_int_equal(defects.count[DEFECT_BAD_RECORD], 1);
	assert_in_range(got->len, before + behind, plain.len);
	assert_memory_equal(got->bytes, plain.bytes, before);
	assert_memory_equal(got->bytes + got->len - behind, plain.bytes + plain.len - behind,
			    behind);
}

TEST(damage_ends_with_its_frame)
{
	const struct image *got;

	for (unsigned frame = 0; frame < FRAMES; frame++) {
		make_frames(false);
		is_complete = true;
		compare();
		for (size_t at = frame_at[frame]; at < frame_at[frame + 1];) {
			struct perfdata_record_header h;

			memcpy(&h, recorded.bytes + at, sizeof(h));
			for (size_t i = sizeof(h); i < h.size; i += 37) {
				recorded.bytes[at + i] ^= 1 << i % 8;
				got = unpacked();
				if (defects.count[DEFECT_BAD_RECORD])
					compare_around(got, frame);
				else /* a wrong size of the window, for instance, does no harm */
					compare_with(got);
				recorded.bytes[at + i] ^= 1 << i % 8;
			}
			at += h.size;
		}
	}
	is_complete = false;
}

/* A recorder that was killed or found the disk full writes no end. */
TEST(a_frame_without_end)
{
	make_frames(true);
	compare();
	is_complete = true;
	compare_around(unpacked(), FRAMES - 1);
	is_complete = false;
}

TEST(a_frame_begins_where_another_is_not_ended)
{
	const size_t gap = 2; /* frame whose last record is missing */
	struct perfdata_record_header h;
	size_t last = 0;

	make_frames(false);
	for (size_t at = frame_at[gap]; at < frame_at[gap + 1]; at += h.size) {
		memcpy(&h, recorded.bytes + at, sizeof(h));
		last = at;
	}
	memmove(recorded.bytes + last, recorded.bytes + frame_at[gap + 1],
		recorded.len - frame_at[gap + 1]);
	recorded.len -= frame_at[gap + 1] - last;
	compare_around(unpacked(), gap);
}
