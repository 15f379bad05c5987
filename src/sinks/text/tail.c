/* SPDX-License-Identifier: MIT */
/* The columns behind the payload, in their order. */
#include "sinks/text/line.h"

static void put_page_size(struct outbuf *out, uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	int unit = 0;

	if (!bytes) {
		outbuf_put(out, " N/A", 4);
		return;
	}
	for (; bytes >= 1024 && !(bytes % 1024); unit++)
		bytes /= 1024;
	outbuf_char(out, ' ');
	outbuf_u64(out, bytes);
	outbuf_char(out, units[unit]);
}

void text_tail_put(struct text_sink *s, const struct event *ev, const struct line *line)
{
	const struct sonde_sample *sample = &s->sample;
	struct outbuf *out = &s->writer.out;
	uint64_t fields = line->fields;
	uint32_t names = (uint32_t)(fields & TEXT_NAMES);

	if (fields & TEXT_ADDR)
		text_address_put(&s->frames, ev, sample->addr, ev->pub.cpumode,
				 line->addr_has_names ? names : 0, out);
	if (fields & TEXT_WEIGHT)
		outbuf_u64_width(out, sample->weight, 16, ' ');
	if (fields & TEXT_IP && line->has_chain) {
		outbuf_char(out, '\n');
		text_callchain_put(&s->frames, ev, names, out);
	} else if (fields & TEXT_IP) {
		outbuf_char(out, ' ');
		text_address_put(&s->frames, ev, sample->ip, ev->pub.cpumode, names, out);
	}
	if (fields & TEXT_PHYS_ADDR)
		outbuf_hex_width(out, sample->phys_addr, 16, ' ');
	if (fields & TEXT_DATA_PAGE_SIZE)
		put_page_size(out, sample->data_page_size);
	if (fields & TEXT_CODE_PAGE_SIZE)
		put_page_size(out, sample->code_page_size);
}
