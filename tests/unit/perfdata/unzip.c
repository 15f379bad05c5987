/* SPDX-License-Identifier: MIT */
/* Compressed records become the plain ones that they hold, wherever the recorder cut. */
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

/* The i-th record inside: of a length and with bytes of its own. */
static void put_sample(struct image *im, unsigned i)
{
	uint8_t body[256];

	memset(body, (int)i, sizeof(body));
	put_record(im, SAMPLE, body, 8 + i % 31 * 8);
}

static void compress(ZSTD_CStream *z, uint32_t type, const uint8_t *p, size_t len)
{
	uint8_t packed[60000];
	uint64_t size;
	ZSTD_inBuffer in = { p, len, 0 };
	ZSTD_outBuffer out = { packed + 8, sizeof(packed) - 8, 0 };

	assert_int_equal(ZSTD_compressStream2(z, &out, &in, ZSTD_e_flush), 0);
	assert_int_equal(in.pos, len);
	size = out.pos;
	memcpy(packed, &size, sizeof(size));
	if (type == RECORD_COMPRESSED2) /* padded: its size word tells */
		put_record(&recorded, type, packed, 8 + ((size_t)size + 7) / 8 * 8);
	else
		put_record(&recorded, type, packed + 8, size);
}

/* Samples cut into pieces of `step` bytes, each compressed, a plain record behind each. */
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

		compress(z, type, samples->bytes + at, n);
		/* What is whole by now comes before the plain record. */
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

static struct defects defects;

/* Everything that comes out, as one image; NULL if it is more than the limit allows. */
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
	assert_int_equal(unzip_open(&u, &(struct unzip_options){ .fd = fd,
								 .begin = 0,
								 .end = recorded.len,
								 .path = "x.data",
								 .unpacked = &limit,
								 .defects = &defects }),
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

static void compare(void)
{
	const struct image *got = unpacked();

	assert_int_equal(got->len, plain.len);
	assert_memory_equal(got->bytes, plain.bytes, plain.len);
	assert_int_equal(defects.count[DEFECT_BAD_RECORD], 0);
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

/* A compressed record of few bytes that holds more than is unpacked at once. */
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

/* Without a limit of the user's it follows the packed bytes. */
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
