/* SPDX-License-Identifier: MIT */
#include "unittest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/build_id.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/outbuf.h"
#include "base/size.h"
#include "base/strpool.h"
#include "base/vec.h"
#include "base/write_all.h"

TEST(bytes_are_bounded)
{
	static const uint8_t data[] = { 1, 2, 3, 4, 'a', 'b' };
	struct bytes b = bytes_init(data, sizeof(data), 0x1000, "x.data", false), sub;
	const char *s;
	uint32_t v;
	uint64_t q;

	assert_int_equal(bytes_u32(&b, "v", &v), 0);
	assert_int_equal(v, 0x04030201);
	assert_int_equal(bytes_u64(&b, "q", &q), -EBADMSG);
	assert_non_null(strstr(err_text(), "0x1004 of x.data"));
	assert_non_null(strstr(err_text(), "field q needs 8 bytes, 2 are left"));
	assert_int_equal(bytes_cstr(&b, "s", &s), -EBADMSG);
	assert_int_equal(bytes_sub(&b, "sub", 3, &sub), -EBADMSG);
	assert_int_equal(bytes_sub(&b, "sub", 2, &sub), 0);
	assert_int_equal(bytes_left(&b), 0);
	assert_int_equal(bytes_file_off(&sub), 0x1004);
}

TEST(bytes_swap)
{
	static const uint8_t data[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct bytes b = bytes_init(data, sizeof(data), 0, NULL, true);
	uint32_t h;
	uint64_t q;

	assert_int_equal(bytes_u32(&b, "h", &h), 0);
	assert_int_equal(h, 0x01020304);
	b.pos = b.start;
	assert_int_equal(bytes_u64(&b, "q", &q), 0);
	assert_true(q == 0x0102030405060708u);
}

TEST(errors_chain)
{
	assert_int_equal(err_set(-EINVAL, "first %d", 1), -EINVAL);
	assert_int_equal(err_add(-EINVAL, "second"), -EINVAL);
	assert_string_equal(err_text(), "first 1\nsecond");
	for (int i = 0; i < 1000; i++)
		err_add(-EINVAL, "a line that is added again and again");
	assert_true(strlen(err_text()) < 4096);
	err_clear();
	assert_string_equal(err_text(), "");
}

TEST(outbuf_numbers)
{
	struct outbuf o = { 0 };

	outbuf_u64(&o, UINT64_MAX);
	outbuf_char(&o, ' ');
	outbuf_i64(&o, INT64_MIN);
	outbuf_char(&o, ' ');
	outbuf_hex_width(&o, 0xbeef, 8, '0');
	outbuf_u64_width(&o, 7, 3, ' ');
	outbuf_i64_width(&o, -7, 4);
	outbuf_fmt(&o, "%s", "!");
	outbuf_char(&o, '\0');
	assert_string_equal(o.data, "18446744073709551615 -9223372036854775808 0000beef  7  -7!");
	outbuf_done(&o);
}

TEST(hash_keeps_the_last)
{
	struct hash64 h = { 0 };

	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(hash64_put(&h, i * 64, i), 0);
	for (uint64_t i = 0; i < 10000; i += 2)
		assert_int_equal(hash64_put(&h, i * 64, i + 1), 0);
	for (uint64_t i = 0; i < 10000; i++)
		assert_true(hash64_find(&h, i * 64) == (i | 1));
	assert_true(hash64_find(&h, 1) == HASH64_EMPTY);
	assert_int_equal(h.n, 10000);
	hash64_done(&h);
}

TEST(strings_are_interned)
{
	struct strpool p;
	uint32_t a, b, c;

	assert_int_equal(strpool_init(&p), 0);
	assert_int_equal(strpool_intern(&p, "bash", 4, &a), 0);
	assert_int_equal(strpool_intern(&p, "bashful", 7, &b), 0);
	assert_int_equal(strpool_intern(&p, "bash", 4, &c), 0);
	assert_int_equal(a, c);
	assert_int_not_equal(a, b);
	assert_string_equal(strpool_text(&p, b), "bashful");
	assert_string_equal(strpool_text(&p, 0), "");
	assert_string_equal(strpool_text(&p, 999), "");
	strpool_done(&p);
}

TEST(arena_pieces_do_not_overlap)
{
	struct arena a = { 0 };
	char *small = arena_alloc(&a, 10), *large = arena_alloc(&a, 1 << 20),
	     *next = arena_alloc(&a, 10);

	memset(large, 1, 1 << 20);
	memset(small, 2, 10);
	memset(next, 3, 10);
	assert_int_equal(large[0], 1);
	assert_int_equal(large[(1 << 20) - 1], 1);
	assert_int_equal(small[9], 2);
	assert_null(arena_array(&a, SIZE_MAX / 2, 4));
	arena_done(&a);
}

TEST(vec_grows)
{
	VEC(uint32_t) v = { 0 };

	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(vec_push(&v, i), 0);
	assert_int_equal(v.v[999], 999);
	vec_done(&v);
}

TEST(sizes_have_a_unit)
{
	static const struct {
		const char *text;
		uint64_t bytes; /* 0: refused */
	} cases[] = {
		{ "512B", 512 },
		{ "4k", 4096 },
		{ "1M", 1 << 20 },
		{ "3g", UINT64_C(3) << 30 },
		{ "4", 0 },
		{ "", 0 },
		{ "M", 0 },
		{ "1MB", 0 },
		{ "-1M", 0 },
		{ " 1M", 0 },
		{ "1.5G", 0 },
		{ "17179869184G", 0 },
		{ "99999999999999999999G", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t bytes = 0;

		assert_int_equal(size_parse(cases[i].text, &bytes), cases[i].bytes != 0);
		assert_int_equal(bytes, cases[i].bytes);
	}
}

TEST(build_ids_of_all_lengths)
{
	static const size_t lengths[] = { 1, 8, 16, 20, 21, BUILD_ID_MAX_BYTES };
	uint8_t bytes[BUILD_ID_MAX_BYTES + 1];
	char hex[BUILD_ID_HEX_CHARS], again[BUILD_ID_HEX_CHARS], path[BUILD_ID_PATH_CHARS];
	struct build_id id, parsed;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(0xa0 + i);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		id = build_id_of(bytes, lengths[i]);
		assert_true(build_id_is_known(&id));
		assert_int_equal(id.len, lengths[i]);
		assert_memory_equal(id.bytes, bytes, lengths[i]);
		for (size_t k = id.len; k < sizeof(id.bytes); k++)
			assert_int_equal(id.bytes[k], 0);
		assert_int_equal(strlen(build_id_hex(&id, hex)), 2 * lengths[i]);
		parsed = build_id_of_hex(hex);
		assert_true(build_id_equal(&id, &parsed));
		assert_string_equal(build_id_hex(&parsed, again), hex);
		assert_int_equal(strlen(build_id_path(&id, path)), 11 + 2 * lengths[i]);
	}
	id = build_id_of(bytes, 3);
	assert_string_equal(build_id_hex(&id, hex), "a0a1a2");
	assert_string_equal(build_id_path(&id, path), ".build-id/a0/a1a2");
	id = build_id_of(bytes, 0);
	assert_false(build_id_is_known(&id));
	assert_string_equal(build_id_hex(&id, hex), "");
	parsed = build_id_of_hex("");
	assert_true(build_id_equal(&id, &parsed));
	id = build_id_of(bytes, BUILD_ID_MAX_BYTES + 1);
	assert_false(build_id_is_known(&id));
}

TEST(build_ids_of_bad_hex)
{
	static const char *const bad[] = { "a",    "abc", "0x12",  "ag",       "ga", "12 4", " 12",
					   "12\n", "+1",  "12:34", "\xe1\xe2", "@`", "G1" };
	char longest[2 * BUILD_ID_MAX_BYTES + 3];
	struct build_id id, lower;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		id = build_id_of_hex(bad[i]);
		assert_false(build_id_is_known(&id));
	}
	memset(longest, 'f', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	id = build_id_of_hex(longest);
	assert_false(build_id_is_known(&id));
	longest[sizeof(longest) - 3] = '\0';
	id = build_id_of_hex(longest);
	assert_int_equal(id.len, BUILD_ID_MAX_BYTES);
	id = build_id_of_hex("ABCDEF09");
	lower = build_id_of_hex("abcdef09");
	assert_int_equal(id.len, 4);
	assert_true(build_id_equal(&id, &lower));
}

TEST(build_ids_are_equal)
{
	static const uint8_t bytes[20] = { 1, 2, 3, 4, 5, 6, 7, 8 }, other[20] = { 1, 2, 3 };
	const struct build_id unknown = { 0 }, id = build_id_of(bytes, 8),
			      padded = build_id_of(bytes, 20), longer = build_id_of(bytes, 7),
			      differs = build_id_of(other, 20);

	assert_true(build_id_equal(&id, &id));
	assert_true(build_id_equal(&unknown, &unknown));
	assert_false(build_id_equal(&id, &unknown));
	assert_false(build_id_equal(&id, &padded));
	assert_false(build_id_equal(&padded, &differs));
	/* the field of 20 bytes has 12 of padding */
	assert_true(build_id_is_recorded_as(&id, &id));
	assert_true(build_id_is_recorded_as(&id, &padded));
	assert_false(build_id_is_recorded_as(&longer, &padded));
	assert_false(build_id_is_recorded_as(&padded, &id));
	assert_false(build_id_is_recorded_as(&id, &differs));
	assert_false(build_id_is_recorded_as(&unknown, &padded));
	assert_false(build_id_is_recorded_as(&id, &unknown));
}

/* A pipe takes the bytes in parts, as its reader empties it. */
TEST(all_bytes_are_written)
{
	enum { MANY = 300000 };
	char *bytes = calloc(1, MANY), part[4096];
	int fds[2], full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t r;

	assert_non_null(bytes);
	assert_int_equal(pipe(fds), 0);
	if (!fork()) {
		close(fds[0]);
		_exit(write_all(fds[1], bytes, MANY) ? 1 : 0);
	}
	close(fds[1]);
	while ((r = read(fds[0], part, sizeof(part))) > 0)
		n += (size_t)r;
	assert_int_equal(n, MANY);
	assert_int_equal(write_all(fds[1], bytes, 1), -EBADF);
	assert_int_equal(write_all(full, bytes, 1), -ENOSPC);
	assert_int_equal(write_all(fds[1], bytes, 0), 0);
	close(fds[0]);
	close(full);
	free(bytes);
}
