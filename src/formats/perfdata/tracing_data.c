/* SPDX-License-Identifier: MIT */
#include "formats/perfdata/tracing_data.h"

static int tracing_expect_tag(struct bytes *b, const char *tag)
{
	const uint8_t *p = NULL;
	size_t n = strlen(tag) + 1;

	TRY(bytes_take(b, tag, n, &p));
	if (memcmp(p, tag, n))
		return bytes_fail(b, -EBADMSG, "\"%s\" was expected before this place", tag);
	return 0;
}

static int tracing_read_sized(struct bytes *b, const char *field, struct bytes *ret)
{
	uint64_t n = 0;

	TRY(bytes_u64(b, field, &n));
	return bytes_sub(b, field, n, ret);
}

/*
 * "field: local_t commit; offset:8; size:8; signed:1;": the kernel's long. 0 if there is no such
 * line.
 */
static uint8_t tracing_long_bytes_of(const struct bytes *page)
{
	static const char word[] = " commit;";
	const uint8_t *line = memmem(page->start, bytes_left(page), word, sizeof(word) - 1), *size;
	const char key[] = "size:";

	if (!line)
		return 0;
	size = memmem(line, (size_t)(page->end - line), key, sizeof(key) - 1);
	if (!size || size + sizeof(key) - 1 >= page->end)
		return 0;
	return (uint8_t)(size[sizeof(key) - 1] - '0');
}

static int tracing_data_read_formats(struct bytes *b, struct tracing_data *td, const char *system)
{
	uint32_t count = 0;

	TRY(bytes_u32(b, "format count", &count));
	while (count--) {
		struct bytes text;

		TRY(tracing_read_sized(b, "format", &text));
		TRY(td->format(td->ctx, system, text));
	}
	return 0;
}

/* Reads everything before the formats. */
static int tracing_data_read_head(struct bytes *b, struct tracing_data *td)
{
	static const uint8_t magic[10] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	const uint8_t *p = NULL;
	const char *version = NULL;
	struct bytes page, event;
	uint8_t big_endian = 0;

	TRY(bytes_take(b, "magic", sizeof(magic), &p));
	if (memcmp(p, magic, sizeof(magic)))
		return bytes_fail(b, -EBADMSG, "no tracing data: their magic is missing");
	TRY(bytes_cstr(b, "version", &version));
	TRY(bytes_u8(b, "byte order", &big_endian));
	td->big_endian = big_endian;
	b->swap = td->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	TRY(bytes_u8(b, "size of long", &td->long_bytes));
	TRY(bytes_u32(b, "page size", &td->page_bytes));
	TRY(tracing_expect_tag(b, "header_page"));
	TRY(tracing_read_sized(b, "header_page", &page));
	if (tracing_long_bytes_of(&page))
		td->long_bytes = tracing_long_bytes_of(&page);
	if (td->long_bytes != 4 && td->long_bytes != 8)
		return bytes_fail(b, -EBADMSG, "a long of %u bytes", td->long_bytes);
	TRY(tracing_expect_tag(b, "header_event"));
	return tracing_read_sized(b, "header_event", &event);
}

int tracing_data_abi(struct bytes b, bool *ret_big_endian, uint8_t *ret_long_bytes)
{
	struct tracing_data td = { 0 };

	TRY(tracing_data_read_head(&b, &td));
	*ret_big_endian = td.big_endian;
	*ret_long_bytes = td.long_bytes;
	return 0;
}

int tracing_data_read(struct bytes b, struct tracing_data *td)
{
	const char *system = NULL;
	uint32_t n = 0;

	TRY(tracing_data_read_head(&b, td));
	TRY(tracing_data_read_formats(&b, td, "ftrace"));
	TRY(bytes_u32(&b, "system count", &n));
	while (n--) {
		TRY(bytes_cstr(&b, "system name", &system));
		TRY(tracing_data_read_formats(&b, td, system));
	}
	TRY(bytes_u32(&b, "kallsyms size", &n));
	TRY(bytes_sub(&b, "kallsyms", n, &td->kallsyms));
	TRY(bytes_u32(&b, "printk size", &n));
	TRY(bytes_sub(&b, "printk formats", n, &td->printk));
	return 0; /* saved cmdlines follow; COMM records are more precise */
}
