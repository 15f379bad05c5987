/* SPDX-License-Identifier: MIT */
/* Pages of the kernel's ring buffer: every kind of record, both byte orders, every length. */
#include "unittest.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tracedat/page.h"

enum { PAGE = 256 };

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:240;\tsigned:0;\n";

struct made {
	struct ring_layout layout;
	uint8_t bytes[PAGE];
	uint32_t len;
};

static int read_layout(const char *text, struct ring_layout *ret)
{
	return ring_layout_read(bytes_init(text, strlen(text), 0, "made", false), ret);
}

static void put_u32(struct made *m, uint32_t v)
{
	v = m->layout.swap ? __builtin_bswap32(v) : v;
	memcpy(m->bytes + m->len, &v, sizeof(v));
	m->len += 4;
}

static void put_u64(struct made *m, uint64_t at, uint64_t v)
{
	v = m->layout.swap ? __builtin_bswap64(v) : v;
	memcpy(m->bytes + at, &v, sizeof(v));
}

static void put_head(struct made *m, unsigned type, uint32_t delta)
{
	put_u32(m, m->layout.is_big ? type << 27 | delta : delta << 5 | type);
}

static struct made begin(bool is_big)
{
	struct made m = { .len = 16 };

	assert_int_equal(read_layout(header_page, &m.layout), 0);
	m.layout.is_big = is_big;
	m.layout.swap = is_big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	put_u64(&m, 0, 1000);
	return m;
}

static struct ring_page finish(struct made *m, uint64_t flags)
{
	struct ring_page page;

	put_u64(m, 8, flags | (m->len - 16));
	assert_true(ring_page_read(&m->layout, m->bytes, PAGE, &page));
	assert_int_equal(page.end, m->len);
	return page;
}

/* All times of a page, or -1 at damage. */
static int64_t take(const struct made *m, const struct ring_page *page, uint64_t *times,
		    unsigned max)
{
	uint32_t at = m->layout.data_off;
	uint64_t time = page->time;
	struct ring_record rec;
	int64_t n = 0;
	int r;

	while ((r = ring_next(&m->layout, m->bytes, page->end, &at, &time, &rec)) > 0) {
		assert_true(n < (int64_t)max);
		assert_true(rec.len >= rec.head && rec.at + rec.len <= page->end);
		assert_int_equal(rec.head, ring_head_bytes(m->bytes + rec.at, m->layout.swap,
							   m->layout.is_big));
		times[n++] = rec.time;
	}
	return r < 0 ? -1 : n;
}

TEST(every_kind_of_record)
{
	for (int is_big = 0; is_big < 2; is_big++) {
		struct made m = begin(is_big);
		struct ring_page page;
		uint64_t times[8];

		put_head(&m, 1, 5); /* one word of data */
		put_u32(&m, 7);
		put_head(&m, 30, 3); /* a time extend: 2 << 27 + 3 */
		put_u32(&m, 2);
		put_head(&m, 0, 0); /* a long record of 8 bytes */
		put_u32(&m, 12);
		put_u32(&m, 1);
		put_u32(&m, 2);
		put_head(&m, 29, 10); /* padding whose time counts */
		put_u32(&m, 8);
		put_u32(&m, 0);
		put_head(&m, 1, 1);
		put_u32(&m, 0);
		put_head(&m, 31, 9); /* an absolute time: 4 << 27 + 9 */
		put_u32(&m, 4);
		put_head(&m, 1, 2);
		put_u32(&m, 0);
		put_head(&m, 29, 0); /* the rest is empty */
		put_u32(&m, 0xffffffff);
		page = finish(&m, 0);
		assert_int_equal(take(&m, &page, times, 8), 4);
		assert_true(times[0] == 1005);
		assert_true(times[1] == 1005 + (2u << 27) + 3);
		assert_true(times[2] == times[1] + 11);
		assert_true(times[3] == (4u << 27) + 9 + 2);
	}
}

TEST(high_bits_of_an_absolute_time_are_of_the_page)
{
	struct made m = begin(false);
	struct ring_page page;
	uint64_t times[1];

	put_u64(&m, 0, UINT64_C(3) << 59);
	put_head(&m, 31, 1);
	put_u32(&m, 0);
	put_head(&m, 1, 0);
	put_u32(&m, 0);
	page = finish(&m, 0);
	assert_int_equal(take(&m, &page, times, 1), 1);
	assert_true(times[0] == (UINT64_C(3) << 59 | 1));
}

TEST(losses)
{
	struct made m = begin(true);
	struct ring_page page;

	put_head(&m, 1, 0);
	put_u32(&m, 0);
	put_u64(&m, m.len, 24361);
	page = finish(&m, 0xffffffffc0000000); /* as the kernel's long shows it */
	assert_true(page.has_lost && page.lost == 24361);
	page = finish(&m, 0x80000000);
	assert_true(page.has_lost && !page.lost);
	page = finish(&m, 0);
	assert_false(page.has_lost);
}

/* A record that is cut off anywhere is damage, not an event. */
TEST(every_length)
{
	for (unsigned type = 0; type < 32; type++) {
		struct made m = begin(false);
		uint64_t times[8];

		put_head(&m, type, 1);
		put_u32(&m, type == 0 || type == 29 ? 60 : 1);
		m.len = 16 + 4 + 28 * 4;
		for (uint32_t len = 4; len < 4 + 28 * 4; len++) {
			struct ring_page page = { .end = 16 + len };
			const uint32_t bytes = type == 0 || type == 29 ? 64
					       : type < 29             ? 4 + 4 * type
								       : 8;
			const int64_t n = take(&m, &page, times, 8);

			if (len < bytes)
				assert_int_equal(n, -1);
			else if (len == bytes)
				assert_int_equal(n, type < 29);
		}
	}
}

TEST(a_commit_beyond_the_page)
{
	struct made m = begin(false);
	struct ring_page page;

	put_u64(&m, 8, PAGE - 16);
	assert_true(ring_page_read(&m.layout, m.bytes, PAGE, &page));
	put_u64(&m, 8, PAGE - 15);
	assert_false(ring_page_read(&m.layout, m.bytes, PAGE, &page));
}

TEST(a_page_that_was_cut_off)
{
	struct made m = begin(false);
	struct ring_page page;

	put_head(&m, 1, 0);
	put_u32(&m, 0);
	put_u64(&m, m.len, 7);
	finish(&m, 0xc0000000);
	assert_true(ring_page_read(&m.layout, m.bytes, 32, &page));
	assert_true(page.end == 24 && page.lost == 7);
	assert_true(ring_page_read(&m.layout, m.bytes, 31, &page));
	assert_true(page.end == 24 && page.has_lost && !page.lost);
	assert_true(ring_page_read(&m.layout, m.bytes, 20, &page));
	assert_true(page.end == 20);
}

TEST(layouts)
{
	static const char *const wrong[] = {
		"",
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\n",
		/* no size; a size of 2; data in front of commit; a huge page */
		"\tfield: u64 timestamp;\toffset:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\n"
		"\tfield: char data;\toffset:16;\tsize:240;\n",
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\n\tfield: local_t commit;\toffset:8;"
		"\tsize:2;\n\tfield: char data;\toffset:16;\tsize:240;\n",
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\n\tfield: local_t commit;\toffset:8;"
		"\tsize:8;\n\tfield: char data;\toffset:12;\tsize:240;\n",
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\n\tfield: local_t commit;\toffset:8;"
		"\tsize:8;\n\tfield: char data;\toffset:16;\tsize:99999999999;\n",
	};
	struct ring_layout l = { 0 };

	assert_int_equal(read_layout(header_page, &l), 0);
	assert_int_equal(l.page_bytes, 256);
	assert_int_equal(l.commit_bytes, 8);
	assert_int_equal(l.data_off, 16);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(read_layout(wrong[i], &l), -EBADMSG);
}
