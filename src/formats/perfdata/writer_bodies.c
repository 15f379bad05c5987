/* SPDX-License-Identifier: MIT */
/* Builds feature bodies from values. Facts: docs/formats/perf-data.md. */

#include <string.h>

#include "formats/perfdata/writer.h"

enum { STRING_ALIGN = 64 };

void perfdata_put_u32(struct outbuf *o, uint32_t v)
{
	outbuf_put(o, &v, sizeof(v));
}

void perfdata_put_u64(struct outbuf *o, uint64_t v)
{
	outbuf_put(o, &v, sizeof(v));
}

static size_t bodies_string_bytes(const char *s)
{
	return (strlen(s) + STRING_ALIGN) / STRING_ALIGN * STRING_ALIGN;
}

static void writer_put_padded(struct outbuf *o, const char *s)
{
	outbuf_str(o, s);
	outbuf_pad(o, '\0', bodies_string_bytes(s) - strlen(s));
}

void perfdata_put_string(struct outbuf *o, const char *s)
{
	perfdata_put_u32(o, (uint32_t)bodies_string_bytes(s));
	writer_put_padded(o, s);
}

void perfdata_put_event_desc(struct outbuf *o, const struct perfdata_writer_event *events,
			     size_t nr_events)
{
	perfdata_put_u32(o, (uint32_t)nr_events);
	perfdata_put_u32(o, PERFDATA_WRITER_ATTR_SIZE);
	for (size_t i = 0; i < nr_events; i++) {
		outbuf_put(o, events[i].attr, PERFDATA_WRITER_ATTR_SIZE);
		perfdata_put_u32(o, (uint32_t)events[i].nr_ids);
		perfdata_put_string(o, events[i].name);
		outbuf_put(o, events[i].ids, events[i].nr_ids * sizeof(uint64_t));
	}
}

/* record header | s32 pid (-1: host) | id[20] | u8 id size, pad[3] | name, padded */
void perfdata_put_build_id(struct outbuf *o, const struct perfdata_writer_build_id *b)
{
	uint8_t id[PERFDATA_BUILD_ID_BYTES + 4] = { 0 };
	struct perfdata_record_header h = {
		.misc = b->cpumode | PERFDATA_MISC_BUILD_ID_SIZE,
		.size = (uint16_t)(sizeof(h) + 4 + sizeof(id) + bodies_string_bytes(b->name)),
	};

	memcpy(id, b->id.bytes, PERFDATA_BUILD_ID_BYTES);
	id[PERFDATA_BUILD_ID_BYTES] =
		b->id.len < PERFDATA_BUILD_ID_BYTES ? b->id.len : PERFDATA_BUILD_ID_BYTES;
	outbuf_put(o, &h, sizeof(h));
	perfdata_put_u32(o, UINT32_MAX);
	outbuf_put(o, id, sizeof(id));
	writer_put_padded(o, b->name);
}

static void bodies_put_sized(struct outbuf *o, const char *text, size_t len)
{
	perfdata_put_u64(o, len);
	if (len)
		outbuf_put(o, text, len);
}

static uint32_t writer_count_systems(const struct perfdata_writer_tracing *t)
{
	uint32_t n = 0;

	for (size_t i = 0; i < t->nr_formats; i++)
		n += i == 0 || strcmp(t->formats[i].system, t->formats[i - 1].system) != 0;
	return n;
}

void perfdata_put_tracing(struct outbuf *o, const struct perfdata_writer_tracing *t)
{
	static const char magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

	outbuf_put(o, magic, sizeof(magic));
	outbuf_put(o, "0.6", 4);
	outbuf_char(o, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	outbuf_char(o, sizeof(long));
	perfdata_put_u32(o, t->page_size);
	outbuf_put(o, "header_page", 12);
	bodies_put_sized(o, t->header_page, t->header_page_len);
	outbuf_put(o, "header_event", 13);
	bodies_put_sized(o, t->header_event, t->header_event_len);
	/* no formats of the system ftrace, because nobody records its events through perf */
	perfdata_put_u32(o, 0);
	perfdata_put_u32(o, writer_count_systems(t));
	for (size_t i = 0; i < t->nr_formats;) {
		size_t end = i;

		while (end < t->nr_formats && !strcmp(t->formats[end].system, t->formats[i].system))
			end++;
		outbuf_put(o, t->formats[i].system, strlen(t->formats[i].system) + 1);
		perfdata_put_u32(o, (uint32_t)(end - i));
		for (; i < end; i++)
			bodies_put_sized(o, t->formats[i].text, t->formats[i].len);
	}
	perfdata_put_u32(o, (uint32_t)t->kallsyms_len);
	if (t->kallsyms_len)
		outbuf_put(o, t->kallsyms, t->kallsyms_len);
	perfdata_put_u32(o, (uint32_t)t->printk_formats_len);
	if (t->printk_formats_len)
		outbuf_put(o, t->printk_formats, t->printk_formats_len);
	bodies_put_sized(o, t->saved_cmdlines, t->saved_cmdlines_len);
}
