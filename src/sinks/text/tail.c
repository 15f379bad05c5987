/* SPDX-License-Identifier: MIT */
/* The columns behind the payload, in their order. */
#include "sinks/text/bpf_output.h"
#include "sinks/text/data_src.h"
#include "sinks/text/line.h"
#include "sinks/text/machine_words.h"

#include <linux/perf_event.h>

#define BRANCHES     (TEXT_BRSTACK | TEXT_BRSTACKSYM | TEXT_BRSTACKOFF)
#define MEMORY       (TEXT_ADDR | TEXT_DATA_SRC | TEXT_WEIGHT | TEXT_INS_LAT | TEXT_RETIRE_LAT)
#define PAGES        (TEXT_PHYS_ADDR | TEXT_DATA_PAGE_SIZE | TEXT_CODE_PAGE_SIZE)
#define NAME_COLUMNS ((uint32_t)TEXT_NAMES)

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

/* "    AX:0x0 " for each, behind the kind of process that they are of. */
static void put_registers(const struct text_sink *s, uint64_t abi, uint64_t mask,
			  const uint64_t *values, struct outbuf *out)
{
	char room[16];

	if (!abi)
		return;
	outbuf_fmt(out, " ABI:%llu ", (unsigned long long)abi);
	for (; mask; mask &= mask - 1) {
		const char *name =
			register_name(s->compat, s->arch, (unsigned)__builtin_ctzll(mask), room);

		outbuf_fmt(out, "%5s:0x%llx ", name, (unsigned long long)*values++);
	}
}

/* The memory access: where, from where, how long it took. */
static void put_memory(struct text_sink *s, const struct event *ev, const struct line *line)
{
	const struct sonde_sample *sample = &s->sample;
	struct outbuf *out = &s->writer.out;
	uint64_t fields = line->fields, weight = sample->weight;

	if (fields & TEXT_ADDR)
		text_address_put(
			&s->frames, ev, sample->addr, text_address_mode(ev, sample->addr),
			line->addr_has_names ? fields & NAME_COLUMNS & ~(uint32_t)TEXT_SRCLINE : 0,
			out);
	if (fields & TEXT_DATA_SRC)
		text_data_src_put(s->compat, sample->data_src, &s->data_src_width, out);
	if (fields & TEXT_WEIGHT)
		outbuf_u64_width(out, line->weight_struct ? (uint32_t)weight : weight, 16, ' ');
	if (!line->weight_struct)
		weight = 0;
	if (fields & TEXT_INS_LAT)
		outbuf_u64_width(out, weight >> 32 & 0xffff, 16, ' ');
	if (fields & TEXT_RETIRE_LAT)
		outbuf_u64_width(out, weight >> 48, 16, ' ');
}

static void put_ip(struct text_sink *s, const struct event *ev, const struct line *line)
{
	struct outbuf *out = &s->writer.out;
	uint32_t names = (uint32_t)line->fields & NAME_COLUMNS;

	if (line->has_chain) {
		outbuf_char(out, '\n');
		text_callchain_put(&s->frames, ev, names, out);
	} else {
		outbuf_char(out, ' ');
		text_address_put(&s->frames, ev, s->sample.ip, ev->pub.cpumode, names, out);
	}
}

static void put_pages(const struct sonde_sample *sample, uint64_t fields, struct outbuf *out)
{
	if (fields & TEXT_PHYS_ADDR)
		outbuf_hex_width(out, sample->phys_addr, 16, ' ');
	if (fields & TEXT_DATA_PAGE_SIZE)
		put_page_size(out, sample->data_page_size);
	if (fields & TEXT_CODE_PAGE_SIZE)
		put_page_size(out, sample->code_page_size);
}

void text_tail_put(struct text_sink *s, const struct event *ev, const struct line *line)
{
	const struct sonde_sample *sample = &s->sample;
	struct outbuf *out = &s->writer.out;
	uint64_t fields = line->fields;

	if (fields & MEMORY)
		put_memory(s, ev, line);
	if (fields & TEXT_IP)
		put_ip(s, ev, line);
	if (fields & TEXT_IREGS)
		put_registers(s, sample->intr_regs_abi, sample->intr_regs_mask, sample->intr_regs,
			      out);
	if (fields & TEXT_UREGS)
		put_registers(s, sample->user_regs_abi, sample->user_regs_mask, sample->user_regs,
			      out);
	if (fields & BRANCHES)
		text_branches_put(&s->branches, ev, sample, fields, out);
	if (fields & TEXT_BPF_OUTPUT && line->is_bpf_output)
		text_bpf_output_put(ev->pub.bytes, ev->pub.bytes_len, out);
	if (fields & (TEXT_INSN | TEXT_INSNLEN))
		text_insn_put(ev, sample->ip, ev->pub.cpumode, fields & TEXT_INSNLEN,
			      fields & TEXT_INSN, out);
	if (fields & (TEXT_BRSTACKINSN | TEXT_BRSTACKINSNLEN))
		text_brstackinsn_put(&s->code, ev, sample, fields, out);
	if (fields & PAGES)
		put_pages(sample, fields, out);
}
