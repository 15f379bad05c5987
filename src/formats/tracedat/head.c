/* SPDX-License-Identifier: MIT */
#include "formats/tracedat/head.h"

#include <stdlib.h>

#include "formats/tracedat/layout.h"

bool tracedat_head_find(const uint8_t *p, size_t len)
{
	return len >= TRACEDAT_MAGIC_BYTES && !memcmp(p, TRACEDAT_MAGIC, TRACEDAT_MAGIC_BYTES);
}

int tracedat_start_read(struct bytes *b, struct tracedat_start *ret)
{
	struct tracedat_start start = { 0 };
	const char *version = NULL;
	uint8_t order = 0;

	b->what = "start";
	TRY(bytes_skip(b, "magic", TRACEDAT_MAGIC_BYTES));
	TRY(bytes_cstr(b, "version", &version));
	if (!strcmp(version, "6"))
		start.version = TRACEDAT_VERSION_6;
	else if (!strcmp(version, "7"))
		start.version = TRACEDAT_VERSION_7;
	else
		return bytes_fail(b, -EBADMSG,
				  "version %.20s of trace.dat is unknown: versions 6 and 7 are "
				  "read (trace-cmd convert makes them)",
				  version);
	TRY(bytes_u8(b, "byte order", &order));
	if (order > 1)
		return bytes_fail(b, -EBADMSG, "the byte order is %u, neither 0 nor 1", order);
	start.is_big = order;
	b->swap = start.is_big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	TRY(bytes_u8(b, "size of long", &start.long_bytes));
	TRY(bytes_u32(b, "page size", &start.page_bytes));
	if (start.version == TRACEDAT_VERSION_7) {
		TRY(bytes_cstr(b, "compression", &start.compression));
		TRY(bytes_cstr(b, "version of the compression", &start.compression_version));
		TRY(bytes_u64(b, "offset of the options", &start.options_off));
	}
	*ret = start;
	return 0;
}

/* ---- sections -------------------------------------------------------------------------------- */

int tracedat_text_u32(struct bytes *b, const char *what, struct bytes *ret)
{
	uint32_t n = 0;

	b->what = what;
	TRY(bytes_u32(b, "size", &n));
	TRY(bytes_sub(b, "text", n, ret));
	ret->what = what;
	return 0;
}

int tracedat_text_u64(struct bytes *b, const char *what, struct bytes *ret)
{
	uint64_t n = 0;

	b->what = what;
	TRY(bytes_u64(b, "size", &n));
	TRY(bytes_sub(b, "text", n, ret));
	ret->what = what;
	return 0;
}

static int head_expect_name(struct bytes *b, const char *name)
{
	const char *found = NULL;

	TRY(bytes_cstr(b, "name of a header", &found));
	return strcmp(found, name) != 0
		       ? bytes_fail(b, -EBADMSG, "\"%s\" was expected before this place", name)
		       : 0;
}

int tracedat_header_info_read(struct bytes *b, struct bytes *ret_page)
{
	struct bytes event;

	b->what = "description of pages";
	TRY(head_expect_name(b, "header_page"));
	TRY(tracedat_text_u64(b, "description of pages", ret_page));
	TRY(head_expect_name(b, "header_event"));
	return tracedat_text_u64(b, "description of records", &event);
}

static int head_read_formats(struct bytes *b, const char *system, tracedat_format_fn *format,
			     void *ctx)
{
	uint32_t count = 0;

	TRY(bytes_u32(b, "number of formats", &count));
	while (count--) {
		struct bytes text;

		TRY(tracedat_text_u64(b, "event format", &text));
		if (format)
			TRY(format(ctx, system, text));
	}
	return 0;
}

int tracedat_ftrace_events_read(struct bytes *b, tracedat_format_fn *format, void *ctx)
{
	b->what = "ftrace's event formats";
	return head_read_formats(b, "ftrace", format, ctx);
}

int tracedat_event_formats_read(struct bytes *b, tracedat_format_fn *format, void *ctx)
{
	uint32_t systems = 0;

	b->what = "event formats";
	TRY(bytes_u32(b, "number of systems", &systems));
	while (systems--) {
		const char *system = NULL;

		b->what = "event formats";
		TRY(bytes_cstr(b, "name of a system", &system));
		TRY(head_read_formats(b, system, format, ctx));
	}
	return 0;
}

/* The bytes between two places of the same input. */
static struct bytes head_between(const struct bytes *from, const struct bytes *to)
{
	struct bytes part = *from;

	part.file_off = bytes_file_off(from);
	part.start = part.pos;
	part.end = to->pos;
	return part;
}

int tracedat_sections_read(struct bytes *b, struct tracedat_sections *ret)
{
	struct tracedat_sections sections = { 0 };
	struct bytes from;

	TRY(tracedat_header_info_read(b, &sections.header_page));
	from = *b;
	TRY(tracedat_ftrace_events_read(b, NULL, NULL));
	sections.ftrace_events = head_between(&from, b);
	from = *b;
	TRY(tracedat_event_formats_read(b, NULL, NULL));
	sections.event_formats = head_between(&from, b);
	TRY(tracedat_text_u32(b, "kallsyms", &sections.kallsyms));
	TRY(tracedat_text_u32(b, "printk formats", &sections.printk));
	TRY(tracedat_text_u64(b, "saved command lines", &sections.cmdlines));
	b->what = "number of cpus";
	TRY(bytes_u32(b, "number of cpus", &sections.nr_cpus));
	*ret = sections;
	return 0;
}

/* ---- sections and options -------------------------------------------------------------------- */

static int head_read_u16(struct bytes *b, const char *field, unsigned *ret)
{
	const uint8_t *p = NULL;

	TRY(bytes_take(b, field, 2, &p));
	*ret = get_u16(p, b->swap);
	return 0;
}

int tracedat_section_read(struct bytes *b, struct tracedat_section *ret)
{
	unsigned flags = 0;

	TRY(head_read_u16(b, "id of the section", &ret->id));
	TRY(head_read_u16(b, "flags of the section", &flags));
	TRY(bytes_skip(b, "description of the section", 4));
	TRY(bytes_u64(b, "size of the section", &ret->size));
	ret->is_compressed = flags & TRACEDAT_SECTION_COMPRESSED;
	return 0;
}

int tracedat_option_next(struct bytes *b, unsigned version, struct tracedat_option *ret,
			 uint64_t *ret_next)
{
	uint32_t size = 0;

	*ret_next = 0;
	b->what = "options";
	TRY(head_read_u16(b, "id of an option", &ret->id));
	if (ret->id == TRACEDAT_DONE && version == TRACEDAT_VERSION_6)
		return 0;
	TRY(bytes_u32(b, "size of an option", &size));
	TRY(bytes_sub(b, "data of an option", size, &ret->data));
	ret->data.what = "option";
	if (ret->id != TRACEDAT_DONE)
		return 1;
	if (size >= 8)
		TRY(bytes_u64(&ret->data, "offset of further options", ret_next));
	return 0;
}
