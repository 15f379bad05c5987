/* SPDX-License-Identifier: MIT */
/* The parts in front of the pages of a trace.dat. */
#include "unittest.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tracedat/buffers.h"
#include "formats/tracedat/head.h"
#include "formats/tracedat/layout.h"
#include "formats/tracedat/shift.h"

static const bool big_is_swapped = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

static struct bytes over(const void *p, size_t len)
{
	return bytes_init(p, len, 0, "made", big_is_swapped);
}

TEST(starts)
{
	static const char six[] = TRACEDAT_MAGIC "6\0\1\4\0\0\x10\0";
	static const char seven[] =
		TRACEDAT_MAGIC "7\0\1\x8\0\0\x10\0zstd\0001.5\0\0\0\0\0\0\0\1\2";
	static const char eight[] = TRACEDAT_MAGIC "8\0\1\x8\0\0\x10\0";
	struct tracedat_start start;
	struct bytes b = over(six, sizeof(six) - 1);

	assert_true(tracedat_head_find((const uint8_t *)six, sizeof(six)));
	assert_false(tracedat_head_find((const uint8_t *)six, 9));
	assert_int_equal(tracedat_start_read(&b, &start), 0);
	assert_int_equal(start.version, 6);
	assert_true(start.is_big && b.swap == big_is_swapped);
	assert_int_equal(start.long_bytes, 4);
	assert_int_equal(start.page_bytes, 4096);
	b = over(seven, sizeof(seven) - 1);
	assert_int_equal(tracedat_start_read(&b, &start), 0);
	assert_string_equal(start.compression, "zstd");
	assert_true(start.options_off == 0x102);
	for (size_t len = TRACEDAT_MAGIC_BYTES; len < sizeof(seven) - 1; len++) {
		b = over(seven, len);
		assert_int_equal(tracedat_start_read(&b, &start), -EBADMSG);
	}
	b = over(eight, sizeof(eight) - 1);
	assert_int_equal(tracedat_start_read(&b, &start), -EBADMSG);
}

TEST(options)
{
	static const char data[] = "\0\1\0\0\0\3"
				   "0x1"
				   "\0\0\0\0\0\x8\0\0\0\0\0\0\0\x9";
	struct tracedat_option o;
	uint64_t next;
	struct bytes b = over(data, sizeof(data) - 1);

	assert_int_equal(tracedat_option_next(&b, 7, &o, &next), 1);
	assert_int_equal(o.id, TRACEDAT_DATE);
	assert_int_equal(tracedat_number_of(&o.data), 1);
	assert_int_equal(tracedat_option_next(&b, 7, &o, &next), 0);
	assert_true(next == 9);
	b = over(data, 11);
	assert_int_equal(tracedat_option_next(&b, 6, &o, &next), 1);
	assert_int_equal(tracedat_option_next(&b, 6, &o, &next), 0);
	b = over(data, 8);
	assert_int_equal(tracedat_option_next(&b, 6, &o, &next), -EBADMSG);
}

TEST(numbers)
{
	static const struct {
		const char *text;
		int64_t value;
	} cases[] = {
		{ "12", 12 },
		{ "-7", -7 },
		{ "0x10", 16 },
		{ "-0x10", -16 },
		{ "", 0 },
		{ "x", 0 },
		{ "0xffffffffffffffff", -1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct bytes b = over(cases[i].text, strlen(cases[i].text));

		assert_true(tracedat_number_of(&b) == cases[i].value);
	}
}

TEST(buffers)
{
	static const char data[] = "\0\0\0\0\0\0\1\0x\0mono\0\0\0\x10\0\0\0\0\2"
				   "\0\0\0\1\0\0\0\0\0\0\2\0\0\0\0\0\0\0\x10\0"
				   "\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	struct tracedat_buffer buffer;
	struct bytes b;

	for (size_t len = 0; len <= sizeof(data) - 1; len++) {
		memset(&buffer, 0, sizeof(buffer));
		b = over(data, len);
		assert_int_equal(tracedat_buffer_read(&b, &buffer),
				 len < sizeof(data) - 1 ? -EBADMSG : 0);
		if (len < sizeof(data) - 1)
			vec_done(&buffer.cpus);
	}
	assert_string_equal(buffer.name, "x");
	assert_string_equal(buffer.clock, "mono");
	assert_int_equal(buffer.page_bytes, 4096);
	assert_int_equal(buffer.nr_cpus, 4);
	assert_int_equal(buffer.cpus.n, 1);
	assert_true(buffer.cpus.v[0].cpu == 1 && buffer.cpus.v[0].off == 512 &&
		    buffer.cpus.v[0].size == 4096);
	vec_done(&buffer.cpus);
}

static uint64_t shifted(const struct tracedat_moment *moments, uint32_t nr, bool interpolates,
			uint64_t time)
{
	const struct tracedat_shift shift = {
		.moments = (struct tracedat_moment *)moments,
		.nr = nr,
		.interpolates = interpolates,
	};

	return tracedat_shift_time(&shift, time);
}

TEST(times_of_guests)
{
	static const struct tracedat_moment m[] = { { 1000, -500, 1, 0 },
						    { 2000, -600, 1, 0 },
						    { 10000, -1000, 16, 4 } };

	assert_true(shifted(m, 0, false, 1500) == 1500);
	assert_true(shifted(m, 1, true, 1500) == 1000);
	assert_true(shifted(m, 3, false, 500) == 0);
	assert_true(shifted(m, 3, false, 2500) == 1900);
	assert_true(shifted(m, 3, false, 10500) == 9900);
	assert_true(shifted(m, 2, true, 500) == 50);
	assert_true(shifted(m, 2, true, 1500) == 951);
	assert_true(shifted(m, 2, true, 2500) == 1851);
	assert_true(shifted(m + 2, 1, false, 20000) == 19000);
}

TEST(a_guest_with_more_moments_than_bytes)
{
	static const char data[] = "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\2"
				   "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	struct tracedat_shifts shifts;
	struct arena a = { 0 };
	struct bytes b;

	for (size_t len = 0; len < sizeof(data); len++) {
		b = over(data, len);
		assert_int_equal(tracedat_shifts_read(&b, &a, &shifts), -EBADMSG);
	}
	arena_done(&a);
}

TEST(too_many_cpus)
{
	struct tracedat_buffer buffer = { 0 };
	struct bytes b = over("", 0);

	assert_int_equal(tracedat_cpus_read(&b, TRACEDAT_MOST_CPUS + 1, &buffer), -EBADMSG);
	assert_int_equal(buffer.cpus.n, 0);
}

static int count_format(void *ctx, const char *system, struct bytes text)
{
	assert_string_equal(system, "sys");
	assert_int_equal(bytes_left(&text), 2);
	++*(int *)ctx;
	return 0;
}

TEST(formats)
{
	static const char data[] = "\0\0\0\1sys\0\0\0\0\2\0\0\0\0\0\0\0\2ab\0\0\0\0\0\0\0\2cd";
	struct bytes b = over(data, sizeof(data) - 1);
	int n = 0;

	assert_int_equal(tracedat_event_formats_read(&b, count_format, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(bytes_left(&b), 0);
	for (size_t len = 0; len < sizeof(data) - 1; len++) {
		b = over(data, len);
		assert_int_equal(tracedat_event_formats_read(&b, NULL, NULL), -EBADMSG);
	}
}
