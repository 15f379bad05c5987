/* SPDX-License-Identifier: MIT */
#include "base/build_id.h"

#include <string.h>

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

bool build_id_is_recorded_as(const struct build_id *id, const struct build_id *recorded)
{
	return id->len && id->len <= recorded->len &&
	       !memcmp(id->bytes, recorded->bytes, recorded->len);
}

struct build_id build_id_of(const void *bytes, size_t len)
{
	struct build_id id = { 0 };

	if (!len || len > sizeof(id.bytes))
		return id;
	memcpy(id.bytes, bytes, len);
	id.len = (uint8_t)len;
	return id;
}

static int build_id_digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 'a' ^ 'A';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct build_id build_id_of_hex(const char *hex)
{
	struct build_id id = { 0 };

	for (; *hex; hex += 2) {
		int high = build_id_digit_value(hex[0]), low = build_id_digit_value(hex[1]);

		if (high < 0 || low < 0 || id.len == sizeof(id.bytes))
			return (struct build_id){ 0 };
		id.bytes[id.len++] = (uint8_t)(high << 4 | low);
	}
	return id;
}

static char *build_id_put_hex(const uint8_t *bytes, size_t len, char *to)
{
	for (size_t i = 0; i < len; i++) {
		*to++ = "0123456789abcdef"[bytes[i] >> 4];
		*to++ = "0123456789abcdef"[bytes[i] & 15];
	}
	return to;
}

const char *build_id_hex(const struct build_id *id, char ret[BUILD_ID_HEX_CHARS])
{
	*build_id_put_hex(id->bytes, id->len, ret) = '\0';
	return ret;
}

const char *build_id_path(const struct build_id *id, char ret[BUILD_ID_PATH_CHARS])
{
	static const char dir[] = ".build-id/";
	const size_t first = id->len != 0;
	char *to = ret;

	memcpy(to, dir, sizeof(dir) - 1);
	to = build_id_put_hex(id->bytes, first, to + sizeof(dir) - 1);
	*to++ = '/';
	*build_id_put_hex(id->bytes + first, id->len - first, to) = '\0';
	return ret;
}
