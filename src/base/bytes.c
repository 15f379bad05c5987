/* SPDX-License-Identifier: MIT */
#include "base/bytes.h"

int bytes_fail(const struct bytes *b, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_setv(code, fmt, ap);
	va_end(ap);
	return err_add(code, "at 0x%llx of %s (%s)", (unsigned long long)bytes_file_off(b),
		       b->file ? b->file : "the input", b->what ? b->what : "data");
}

static int bytes_too_short(struct bytes *b, const char *field, uint64_t need)
{
	bytes_fail(b, -EBADMSG, "field %s needs %llu bytes, %zu are left", field,
		   (unsigned long long)need, bytes_left(b));
	return -EBADMSG; /* A constant, so that the compiler sees that callers return. */
}

int bytes_take(struct bytes *b, const char *field, uint64_t n, const uint8_t **ret)
{
	if (n > bytes_left(b))
		return bytes_too_short(b, field, n);
	*ret = b->pos;
	b->pos += n;
	return 0;
}

int bytes_skip(struct bytes *b, const char *field, uint64_t n)
{
	const uint8_t *unused;

	return bytes_take(b, field, n, &unused);
}

int bytes_u8(struct bytes *b, const char *field, uint8_t *ret)
{
	const uint8_t *p;

	TRY(bytes_take(b, field, 1, &p));
	*ret = *p;
	return 0;
}

int bytes_u32(struct bytes *b, const char *field, uint32_t *ret)
{
	const uint8_t *p;

	TRY(bytes_take(b, field, 4, &p));
	*ret = get_u32(p, b->swap);
	return 0;
}

int bytes_u64(struct bytes *b, const char *field, uint64_t *ret)
{
	const uint8_t *p;

	TRY(bytes_take(b, field, 8, &p));
	*ret = get_u64(p, b->swap);
	return 0;
}

int bytes_cstr(struct bytes *b, const char *field, const char **ret)
{
	const uint8_t *nul = bytes_left(b) ? memchr(b->pos, 0, bytes_left(b)) : NULL;

	if (!nul)
		return bytes_fail(b, -EBADMSG,
				  "field %s: the string is not ended; %zu bytes are left", field,
				  bytes_left(b));
	*ret = (const char *)b->pos;
	b->pos = nul + 1;
	return 0;
}

int bytes_sub(struct bytes *b, const char *field, uint64_t n, struct bytes *ret)
{
	struct bytes sub = *b;
	const uint8_t *p;

	sub.file_off = bytes_file_off(b);
	TRY(bytes_take(b, field, n, &p));
	sub.start = sub.pos = p;
	sub.end = p + n;
	*ret = sub;
	return 0;
}
