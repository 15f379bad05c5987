/* SPDX-License-Identifier: MIT */
/* Names of types that follow a type of each kind, in both byte orders. */
#include <errno.h>
#include <string.h>

#include "formats/btf/btf.h"
#include "unittest.h"

enum { HEADER_BYTES = 24, KINDS = 20, MEMBERS = 3 };

/*
 * Bytes that each kind, by its number, adds to the 12 bytes of a type: fixed, and for each member.
 */
static const struct {
	uint32_t fixed, each;
} sizes[KINDS] = {
	[1] = { 4, 0 },  [3] = { 12, 0 }, [4] = { 0, 12 },  [5] = { 0, 12 }, [6] = { 0, 8 },
	[13] = { 0, 8 }, [14] = { 4, 0 }, [15] = { 0, 12 }, [17] = { 4, 0 }, [19] = { 0, 12 }
};

struct made {
	uint8_t bytes[2048];
	size_t len;
	bool swap;
};

static void put(struct made *m, uint32_t v)
{
	v = m->swap ? __builtin_bswap32(v) : v;
	memcpy(m->bytes + m->len, &v, 4);
	m->len += 4;
}

/* A type of each kind except 0. Its name is a letter: 'a' for kind 1. */
static struct made make(bool swap)
{
	struct made m = { .swap = swap, .len = HEADER_BYTES };
	size_t types;

	for (uint32_t kind = 1; kind < KINDS; kind++) {
		put(&m, 2 * kind - 1);
		put(&m, kind << 24 | MEMBERS);
		put(&m, 0);
		for (uint32_t n = sizes[kind].fixed + MEMBERS * sizes[kind].each; n; n -= 4)
			put(&m, 0xffffffff);
	}
	types = m.len - HEADER_BYTES;
	for (int kind = 1; kind < KINDS; kind++) {
		m.bytes[m.len++] = '\0';
		m.bytes[m.len++] = (uint8_t)('a' + kind - 1);
	}
	m.bytes[m.len++] = '\0';
	m.len = 4;
	put(&m, HEADER_BYTES);
	put(&m, 0);
	put(&m, (uint32_t)types);
	put(&m, (uint32_t)types);
	put(&m, 2 * KINDS - 1);
	m.len = HEADER_BYTES + types + 2 * KINDS - 1;
	return m;
}

TEST(names_of_types)
{
	for (int swap = 0; swap < 2; swap++) {
		const struct made m = make(swap);
		struct bytes b = bytes_init(m.bytes, m.len, 0, "made", swap);
		const char *name;

		for (uint32_t kind = 1; kind < KINDS; kind++) {
			assert_int_equal(btf_type_name(b, kind, &name), 0);
			assert_int_equal(strlen(name), 1);
			assert_int_equal(*name, 'a' + (int)kind - 1);
		}
		assert_int_equal(btf_type_name(b, 0, &name), 0);
		assert_string_equal(name, "");
		assert_int_equal(btf_type_name(b, KINDS, &name), -EBADMSG);
	}
}

TEST(damaged)
{
	const struct made m = make(false);
	const char *name;

	for (size_t len = 0; len < m.len; len++)
		assert_int_equal(
			btf_type_name(bytes_init(m.bytes, len, 0, "made", false), KINDS - 1, &name),
			-EBADMSG);
}
